"""How a released result reads: its document, its texts in both languages, and reading a saved file."""
