"""Runs as they are kept: what was asked, the row, the stores behind ports, and the care for all of it."""
