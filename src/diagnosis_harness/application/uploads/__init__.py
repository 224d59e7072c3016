"""Sources that callers send: stored for a time, for all processes, private to their sender."""
