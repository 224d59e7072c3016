"""The embedded players: they see records only, and need no network."""
