"""Words a released result: its document, its texts in both languages, and the reader of saved files."""
