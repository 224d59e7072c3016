"""Decides what may be published."""
