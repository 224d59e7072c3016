"""Controls one run: whether and how long it may continue, on what budget, and how it ended."""
