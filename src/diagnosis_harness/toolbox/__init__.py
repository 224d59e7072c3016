"""The concrete read-only tools; the statistics live here, where the data is."""
