"""Measures how well signal names are judged that are not in the table of conventions."""
