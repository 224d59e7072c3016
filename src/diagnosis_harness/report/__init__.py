"""How a released result reads: its document, its words in both languages, and the way back from a file."""
