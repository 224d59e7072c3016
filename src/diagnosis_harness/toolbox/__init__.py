"""The concrete read-only tools, which run the statistics where the data is."""
