"""A small broken world: a simulated system, its traffic, one fault or none, and the telemetry it leaves."""
