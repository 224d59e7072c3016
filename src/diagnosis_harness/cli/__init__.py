"""The terminal: reads the command line, shows a run while it lives, prints what it released."""
