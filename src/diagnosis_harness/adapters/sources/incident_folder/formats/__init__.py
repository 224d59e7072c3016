"""Reads the files of common tools: a detector and a reader for each format, listed in `readers`.

A reader turns a format into rows with the columns that this package reads anyway, and decides nothing.
"""
