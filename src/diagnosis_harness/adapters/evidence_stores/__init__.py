"""Stores of canonical evidence records."""
