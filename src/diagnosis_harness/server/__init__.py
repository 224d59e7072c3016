"""The HTTP interface: authentication, routes, problems, and streams of events from the log."""
