"""Periodic tasks of a service process."""
