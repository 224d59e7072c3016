"""Runs of the command line, in one SQLite file of the person who asked."""
