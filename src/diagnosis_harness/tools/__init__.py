"""The tool boundary: the only way in for evidence."""
