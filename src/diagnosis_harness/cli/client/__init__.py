"""Clients of stored runs: the local database, or a server's HTTP API."""
