"""What kind of signal a name speaks of, and which way is harmful.

Judged from the words of the name and the unit alone, so that a signal never seen before is treated like its
kind.

| kind | words | harmful | says of its entity |
|---|---|---|---|
| LATENCY | latency, duration, response time, delay, wait, p90 with a time unit | up | symptom or cause |
| ERRORS | error, fail, exception, 5xx, timeout, drop, retransmit, restart | up | a symptom or a cause |
| AVAILABILITY | availability, success, uptime, ready | down | a symptom or a cause |
| CPU | cpu, throttle | up | a resource of its own |
| MEMORY | memory, heap, rss, swap, gc | up | a resource of its own |
| SATURATION | queue, pool, connections, threads, disk, utilisation, lag | up | a resource of its own |
| TRAFFIC | request, rps, throughput, workload, bytes, packets, calls | neither | load: a symptom |
| OTHER | anything else | neither | nothing until more is known |
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class SignalKind(StrEnum):
    """What a signal measures."""

    LATENCY = "latency"
    ERRORS = "errors"
    AVAILABILITY = "availability"
    CPU = "cpu"
    MEMORY = "memory"
    SATURATION = "saturation"
    TRAFFIC = "traffic"
    OTHER = "other"


class SignalSide(StrEnum):
    """Whose work a signal measures."""

    OWN = "own"  # the entity's own work, or unsaid
    OUTGOING = "outgoing"  # the calls that the entity makes: whoever answers them may be at fault
    BETWEEN = "between"  # what neither end of a call accounts for
    HOST = "host"  # the machine beneath, shared with neighbours


SYMPTOMS = frozenset({SignalKind.LATENCY, SignalKind.ERRORS, SignalKind.AVAILABILITY})
RESOURCES = frozenset({SignalKind.CPU, SignalKind.MEMORY, SignalKind.SATURATION})

# The first kind with a word that matches wins: `memory_request_bytes` is memory, `error_latency` is latency.
_WORDS: tuple[tuple[SignalKind, frozenset[str]], ...] = (
    (
        SignalKind.LATENCY,
        frozenset(
            ["latency", "latencies", "duration", "delay", "elapsed", "rtt", "wait", "responsetime", "ttfb"]
        ),
    ),
    (
        SignalKind.AVAILABILITY,
        frozenset(["availability", "available", "success", "successes", "uptime", "ready", "healthy"]),
    ),
    (
        SignalKind.ERRORS,
        frozenset(
            [
                "error",
                "errors",
                "err",
                "fail",
                "failed",
                "failure",
                "failures",
                "fault",
                "faults",
                "exception",
                "exceptions",
                "timeout",
                "timeouts",
                "5xx",
                "4xx",
                "dropped",
                "drops",
                "drop",
                "loss",
                "lost",
                "retransmit",
                "retransmits",
                "retransmissions",
                "restart",
                "restarts",
                "rejected",
            ]
        ),
    ),
    (SignalKind.MEMORY, frozenset(["memory", "mem", "heap", "rss", "swap", "gc", "oom"])),
    (SignalKind.CPU, frozenset(["cpu", "throttle", "throttled", "throttling"])),
    (
        SignalKind.SATURATION,
        frozenset(
            [
                "queue",
                "queued",
                "backlog",
                "pool",
                "connections",
                "threads",
                "utilisation",
                "utilization",
                "saturation",
                "disk",
                "inflight",
                "lag",
                "pending",
                "iowait",
            ]
        ),
    ),
    (
        SignalKind.TRAFFIC,
        frozenset(
            [
                "request",
                "requests",
                "rps",
                "qps",
                "tps",
                "ops",
                "throughput",
                "traffic",
                "workload",
                "load",
                "calls",
                "hits",
                "bytes",
                "packets",
                "receive",
                "received",
                "transmit",
                "transmitted",
                "network",
                "invocations",
                "sum",
                "count",
            ]
        ),
    ),
)
_TIME_UNITS = frozenset({"s", "ms", "us", "µs", "ns", "seconds", "milliseconds"})
_QUANTILE = re.compile(r"p\d{2,3}")
_OUTGOING = frozenset(["client", "source", "outbound", "egress", "upstream", "outgoing", "downstream"])
SIDE_WORDS = _OUTGOING | frozenset(["server", "destination", "inbound", "ingress"])
"""Words that say at which end of a call a signal was measured."""
_HOST = frozenset(["node", "host", "machine"])
_COUNTER = frozenset(["total", "counter", "count", "cumulative"])
_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+|[a-z]+\d*|\d+[a-z]*")


@dataclass(frozen=True, slots=True)
class SignalMeaning:
    """How a signal is judged.

    `harmful` is +1 where a rise does harm, -1 where a fall does, 0 where neither is harm by itself.
    """

    kind: SignalKind
    side: SignalSide
    harmful: int


def words_of(name: str) -> tuple[str, ...]:
    """The lower-case words of a name: `PodClientLatencyP90(s)` gives pod, client, latency, p90, s."""
    found = [part.lower() for part in _SPLIT.findall(name)]
    joined: list[str] = []
    for word in found:  # P90 is split by the capital: join a lone letter with the digits after it
        if joined and joined[-1] == "p" and word.isdigit():
            joined[-1] = "p" + word
        elif joined and joined[-1] == "response" and word == "time":
            joined[-1] = "responsetime"
        else:
            joined.append(word)
    return tuple(joined)


def meaning_of(signal: str, unit: str | None, *, entity: str = "") -> SignalMeaning:
    """How a signal is judged, by name and unit; a host's signal is its own where the entity is a host."""
    words = frozenset(words_of(signal))
    kind = _kind(words, unit)
    side = SignalSide.OWN
    if words & _OUTGOING:
        side = SignalSide.OUTGOING
    elif words & _HOST and not frozenset(words_of(entity)) & _HOST:
        side = SignalSide.HOST
    if side is SignalSide.HOST and kind in RESOURCES:
        return SignalMeaning(SignalKind.OTHER, side, 0)  # says little about one of many tenants
    if kind is SignalKind.AVAILABILITY:
        return SignalMeaning(kind, side, -1)
    return SignalMeaning(kind, side, 1 if kind in SYMPTOMS or kind in RESOURCES else 0)


def is_counter_name(signal: str) -> bool:
    """Whether the name says that values only ever add up; the values must agree before it is believed."""
    return bool(_COUNTER & frozenset(words_of(signal)))


def _kind(words: frozenset[str], unit: str | None) -> SignalKind:
    for kind, known in _WORDS:
        if words & known:
            counted = kind is SignalKind.LATENCY and words & {"count", "bucket"}  # how many, not how long
            return SignalKind.TRAFFIC if counted else kind
    timed = (unit or "").lower() in _TIME_UNITS
    if timed and ("time" in words or any(_QUANTILE.fullmatch(word) for word in words)):
        return SignalKind.LATENCY
    return SignalKind.OTHER
