"""Alerts: waiting notifications, and the runs that they start."""
