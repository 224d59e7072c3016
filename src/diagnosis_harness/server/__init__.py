"""The service's state: what a client of the HTTP interface sees of a run."""
