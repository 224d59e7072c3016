"""Callers: a name, a role, and the key that proves it."""
