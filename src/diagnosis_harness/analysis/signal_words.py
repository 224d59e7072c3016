"""Splits a signal's name, in any style of writing, into words and labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+\d*|\d+[a-z]*")
_LABELS = re.compile(r"\{(.*)\}\s*$", re.DOTALL)
_LABEL = re.compile(r'\s*([^=,{}"]+?)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^,{}]*))\s*(?:,|$)')
_PLURALS = re.compile(r"[A-Z]{2,}s(?![a-z])")

# Two-part words for one thing.
_JOINED = {
    ("response", "time"): "responsetime",
    ("un", "healthy"): "unhealthy",
    ("un", "available"): "unavailable",
    ("un", "ready"): "unready",
    ("un", "schedulable"): "unschedulable",
    ("time", "out"): "timeout",
    ("time", "outs"): "timeouts",
    ("up", "time"): "uptime",
    ("down", "time"): "downtime",
    ("in", "flight"): "inflight",
    ("in", "use"): "inuse",
    ("io", "wait"): "iowait",
    ("back", "pressured"): "backpressure",
    ("back", "pressure"): "backpressure",
    ("go", "routines"): "goroutines",
    ("dead", "lock"): "deadlock",
    ("dead", "locks"): "deadlocks",
    ("dead", "letter"): "deadletter",
    ("4", "xx"): "4xx",
    ("5", "xx"): "5xx",
    ("2", "xx"): "2xx",
    ("3", "xx"): "3xx",
    ("95", "th"): "p95",
    ("99", "th"): "p99",
}


@lru_cache(maxsize=100_000)
def words_of(name: str) -> tuple[str, ...]:
    """The lower-case words of a name: `PodClientLatencyP90(s)` gives pod, client, latency, p90, s."""
    name = _PLURALS.sub(lambda found: found[0].capitalize(), name)
    joined: list[str] = []
    for word in (part.lower() for part in _SPLIT.findall(name)):
        before = joined[-1] if joined else ""
        if before == "p" and word.isdigit():  # the capital splits P90
            joined[-1] = "p" + word
        elif (before, word) in _JOINED:
            joined[-1] = _JOINED[before, word]
        else:
            joined.append(word)
    return tuple(joined)


def divide_labels(signal: str) -> tuple[str, Mapping[str, str]]:
    """Name and labels of a signal: `requests{code=500}` gives `requests` and code 500."""
    found = _LABELS.search(signal)
    if found is None:
        return signal, {}
    labels = {
        key.strip(): quoted if quoted is not None and quoted != "" else plain
        for key, quoted, plain in _LABEL.findall(found[1])
    }
    return signal[: found.start()].strip(), labels
