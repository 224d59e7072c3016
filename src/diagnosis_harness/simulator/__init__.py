"""Simulates a system with traffic and one fault or none, and records its telemetry."""
