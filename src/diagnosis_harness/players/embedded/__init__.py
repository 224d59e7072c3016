"""The embedded players, which see only records and need no network."""
