"""Stored runs: requests, rows, the ports of their stores, and recovery."""
