"""Alerts: notifications that wait, and the runs that come of them."""
