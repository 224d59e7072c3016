"""Runs of the command line, in one SQLite file for each user."""
