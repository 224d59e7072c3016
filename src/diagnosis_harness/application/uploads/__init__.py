"""Sources that callers send: kept for a time, for all processes, private to who sent them."""
