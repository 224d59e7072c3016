"""Owns the HTTP interface: who is let in, routes, problems, and streams of events from the log."""
