"""Verifies a saved run offline, and rechecks it against its source."""
