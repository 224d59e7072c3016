"""The record of what happened in a run."""
