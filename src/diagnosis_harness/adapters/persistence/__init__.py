"""Runs, their logs, evidence and keys in SQLite or PostgreSQL."""
