"""Adapters of foreign libraries and formats, one package each."""
