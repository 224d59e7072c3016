"""Runbooks in a folder: read, indexed on disk, and searched."""
