"""Judges a signal by the words of its name, where no convention knows it: head nouns, and their modifiers.

The first matching rule decides:

0. a share named after processor modes is CPU; idling is harmful when it falls (`%user`, `%idle`);
1. times of events, versions and owners are INFO (`start_time`, `build_info`);
2. the remaining error budget is harmful when it falls;
3. a duration is harmful when it rises, whatever it measures (`error_latency`);
4. callers that gave up, as counted by the callee, are no failure of its own (`server_cancelled`);
5. counted trouble is harmful (`rejected`, `unhealthy`, `5xx`, `throttled`, `misses`), also as the negation
   of a good word (`not_ready`, `under_replicated`);
6. a name that ends in limit, quota or capacity is a LIMIT, whatever it limits;
7. waiting or lagging work is harmful when it rises;
8. the free, idle or remaining part of a resource is harmful when it falls; idle connections are harmless;
9. a limit, a maximum or a wanted number is a LIMIT, unless the name also refers to its use;
10. cache hits are harmful when they fall if they are a share, and traffic if they are counted;
11. a resource in use is harmful when it rises, what is up or ready when it falls, traffic in neither case.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from diagnosis_harness.analysis import signal_vocabulary as vocabulary
from diagnosis_harness.analysis.meaning import SignalKind, SignalMeaning, SignalSide

_Found = tuple[SignalKind, int] | None


@dataclass(frozen=True, slots=True)
class _Name:
    """The words of a name, in order and as a set, and the unit of its values."""

    words: tuple[str, ...]
    found: frozenset[str]
    unit: str

    @property
    def is_timed(self) -> bool:
        """Whether its values are durations or times, by unit or by name."""
        return self.unit in vocabulary.TIME_UNITS or bool(self.found & (vocabulary.TIME_UNITS - {"s"}))

    @property
    def is_traffic(self) -> bool:
        """Whether any word is about traffic."""
        return any(vocabulary.TRAFFIC_WORDS.fullmatch(word) for word in self.words)


def judge_words(words: tuple[str, ...], unit: str | None, *, about_host: bool = False) -> SignalMeaning:
    """How a signal is judged by the words of its name and its unit.

    Args:
        about_host: the entity is the machine itself, so that a host signal is its own.
    """
    words = _without_rate(vocabulary.divide_glued(words))
    found = frozenset(words)
    kind, harmful = _judge(_Name(words, found, (unit or "").lower()))
    return SignalMeaning(kind, _side(found, about_host=about_host), harmful)


def is_counter_name(words: tuple[str, ...]) -> bool:
    """Whether the name suggests that values only add up; the values must confirm it."""
    return bool(vocabulary.COUNTERS & frozenset(words))


def is_host_name(words: tuple[str, ...]) -> bool:
    """Whether a name is that of a machine."""
    return bool(vocabulary.HOST & frozenset(words))


def _side(found: frozenset[str], *, about_host: bool) -> SignalSide:
    if found & vocabulary.OUTGOING:
        return SignalSide.OUTGOING
    if found & vocabulary.HOST and not about_host and not found & {"count", "number"}:
        return SignalSide.HOST
    return SignalSide.OWN


def _judge(name: _Name) -> tuple[SignalKind, int]:
    for rule in _RULES:
        found = rule(name)
        if found is not None:
            return found
    return (SignalKind.TRAFFIC, 0) if name.is_traffic else (SignalKind.OTHER, 0)


def _processor_mode(name: _Name) -> _Found:
    """A share named after nothing but processor modes: `%user`, `idle_percent`, `sys_pct`."""
    words = name.found - vocabulary.UNIT_WORDS - vocabulary.SHARE_UNITS
    if not words or not words <= vocabulary.CPU_MODES or name.unit not in vocabulary.SHARE_UNITS:
        return None
    return SignalKind.CPU, -1 if "idle" in words else 1


def _info(name: _Name) -> _Found:
    found = name.found
    event = found & vocabulary.EVENTS and found & {"time", "timestamp"} and not found & vocabulary.LATENCY
    if found & vocabulary.INFO or event or name.words[-2:] == ("status", "code"):
        return SignalKind.INFO, 0
    return None


def _budget(name: _Name) -> _Found:
    left = "budget" in name.found and not name.found & (vocabulary.USE | {"burn", "burned", "consumed"})
    return (SignalKind.AVAILABILITY, -1) if left and name.found & {"error", "slo", "errors"} else None


def _latency(name: _Name) -> _Found:
    if name.found & vocabulary.LATENCY and name.found & {"count", "bucket"}:  # how many, not how long
        return SignalKind.TRAFFIC, 0
    timed = (
        "time" in name.found and name.unit in vocabulary.TIME_UNITS and not name.found & vocabulary.CPU_NOUNS
    )
    return (SignalKind.LATENCY, 1) if name.found & vocabulary.LATENCY or timed else None


def _abandonment(name: _Name) -> _Found:
    """Requests whose callers gave up, as counted by a server.

    If it is slow itself, its latency shows that.
    """
    counted = any(vocabulary.GIVEN_UP.fullmatch(word) for word in name.words)
    closed = "499" in name.found or name.found & vocabulary.INCOMING
    return (SignalKind.TRAFFIC, 0) if counted and closed and not name.found & vocabulary.OUTGOING else None


def _trouble(name: _Name) -> _Found:
    words, found = name.words, name.found
    if found & vocabulary.MISSES:
        return SignalKind.EFFICIENCY, 1
    if found & vocabulary.STARVED:
        return (SignalKind.CPU if found & {"cpu", "cfs"} else SignalKind.SATURATION), 1
    if found & vocabulary.EVICTED:
        return SignalKind.MEMORY, 1
    denied = any(
        first in vocabulary.DENIALS and second in vocabulary.DENIED for first, second in pairwise(words)
    )
    counted = any(
        vocabulary.TROUBLE.fullmatch(word) or vocabulary.TROUBLE_ENDING.fullmatch(word) for word in words
    )
    if denied or counted or {"leader", "changes"} <= found:
        return SignalKind.ERRORS, 1
    return None


def _ceiling(name: _Name) -> _Found:
    """A name that ends in a limit is one, whatever it limits: `queue_capacity`, `backlog_quota_limit`."""
    last = next((word for word in reversed(name.words) if word not in vocabulary.UNIT_WORDS), "")
    return (SignalKind.LIMIT, 0) if last in vocabulary.CEILINGS else None


def _waiting(name: _Name) -> _Found:
    found = name.found
    ready = "ready" in found and found & {"messages", "queue", "summation"}  # ready to be taken
    if ready or (found & vocabulary.WAITS and not found & vocabulary.GOOD):
        return (SignalKind.POOL if found & {"connections", "connection", "pool"} else SignalKind.QUEUE), 1
    return None


def _time(name: _Name) -> _Found:
    """Anything with a unit of time, or a word for time, that no earlier rule matched."""
    found = name.found
    if not name.is_timed and "time" not in found:
        return None
    if found & {"offset", "skew", "drift"}:
        return SignalKind.ERRORS, 1
    if found & ({"uptime", "expiry", "interval"} | vocabulary.FREE):
        return None
    if found & vocabulary.CPU_NOUNS:
        return SignalKind.CPU, 1
    return (SignalKind.DISK if "io" in found else SignalKind.LATENCY), 1


def _free(name: _Name) -> _Found:
    found = name.found
    if not found & vocabulary.FREE:
        return None
    if "open" in found and "slots" not in found:  # open files and connections are in use
        return (SignalKind.ERRORS if "breaker" in found else _resource(found) or SignalKind.SATURATION), 1
    if found & vocabulary.POOL_NOUNS and "idle" in found:
        return SignalKind.POOL, 0
    kind = _resource(found)
    if kind is not None:
        return kind, -1
    return (SignalKind.SATURATION, -1) if found & vocabulary.UNUSED else None


def _limit(name: _Name) -> _Found:
    words, found = name.words, name.found
    if found & vocabulary.USE or found & vocabulary.GOOD:
        return None
    whole = "total" in found and (words[-1] == "total" or words[-2:] == ("total", "bytes"))
    if (
        whole
        and found & (vocabulary.MEMORY_NOUNS | vocabulary.DISK_NOUNS)
        and not name.found & vocabulary.MOVED
    ):
        return SignalKind.LIMIT, 0
    named = found & vocabulary.LIMITS
    if named == {"capacity"} and name.is_traffic and not found & {"bytes"}:  # capacity that traffic consumes
        return None
    return (SignalKind.LIMIT, 0) if named else None


def _cache(name: _Name) -> _Found:
    found = name.found
    if not found & {"hit", "hits", "hitrate", "cache"}:
        return None
    if found & vocabulary.SHARES or name.unit in {"ratio", "percent", "%"}:
        return SignalKind.EFFICIENCY, -1
    return (SignalKind.TRAFFIC, 0) if found & {"hit", "hits"} else None


def _use(name: _Name) -> _Found:
    found = name.found
    if found & vocabulary.POOL_NOUNS and found & vocabulary.PASSING:
        return SignalKind.TRAFFIC, 0
    if found & vocabulary.GOOD and not found & vocabulary.USE:
        return None
    if found & vocabulary.MEMBERS and not found & (vocabulary.POOL_NOUNS | vocabulary.USE):
        return None
    kind = _resource(found)
    if (
        kind is SignalKind.DISK
        and (found & vocabulary.MOVED or "offset" in found)
        and not found & vocabulary.USE
    ):
        return SignalKind.TRAFFIC, 0
    if kind is not None:
        return kind, 1
    return (SignalKind.SATURATION, 1) if found & (vocabulary.USE | {"active"}) else None


def _good(name: _Name) -> _Found:
    return (SignalKind.AVAILABILITY, -1) if name.found & (vocabulary.GOOD | vocabulary.MEMBERS) else None


def _resource(found: frozenset[str]) -> SignalKind | None:
    return next((kind for kind, nouns in _RESOURCE_NOUNS if found & nouns), None)


_RESOURCE_NOUNS = (
    (SignalKind.MEMORY, vocabulary.MEMORY_NOUNS),
    (SignalKind.CPU, vocabulary.CPU_NOUNS),
    (SignalKind.DISK, vocabulary.DISK_NOUNS),
    (SignalKind.POOL, vocabulary.POOL_NOUNS),
    (SignalKind.SATURATION, vocabulary.SHARED_NOUNS),
)
_RULES: tuple[Callable[[_Name], _Found], ...] = (
    _processor_mode, _info, _budget, _latency, _abandonment, _trouble, _ceiling, _waiting, _time, _free,
    _limit, _cache, _use, _good,
)  # fmt: skip


def _without_rate(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words without `per second` and similar, which describe how something is counted, not what."""
    if "per" in words:
        place = words.index("per")
        return words[:place] + words[place + 2 :] or words
    return words
