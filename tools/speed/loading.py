"""Loading an incident folder against a bare scan: the figures of `benchmarks/loading.py`."""

from __future__ import annotations

from tools.speed.figure import Figure

TOPIC = "Loading an incident folder"


def measure() -> list[Figure]:
    """Not there yet."""
    return [Figure(TOPIC, "loading against a bare min/max scan", None, "×", 2)]
