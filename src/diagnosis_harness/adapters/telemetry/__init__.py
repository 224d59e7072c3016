"""Traces of runs for an OpenTelemetry backend."""
