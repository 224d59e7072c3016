"""The ground everything stands on: errors, clock, ids, canonical JSON, time windows."""
