"""The service's face: what a client of the HTTP interface sees of a run."""
