"""The sources of evidence."""
