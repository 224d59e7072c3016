"""Reads run documents: verifies them, rechecks them against their sources, and explains how a run ended."""
