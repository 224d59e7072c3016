"""What the words of a name say, where no convention knows it: head nouns, and modifiers that turn them.

The first rule that fits decides:

0. a share that is named after what processors do is CPU, and idling harms by falling (`%user`, `%idle`);
1. times of events, versions and owners are INFO (`start_time`, `build_info`);
2. what is left of an error budget harms by falling;
3. how long something takes is harm by rising, whatever it was that took it (`error_latency`);
4. callers that gave up, as who was called counts them, are no failure of its own (`server_cancelled`);
5. what counts trouble is harm (`rejected`, `unhealthy`, `5xx`, `throttled`, `misses`), also where a good word
   is denied (`not_ready`, `under_replicated`);
6. a name that ends in limit, quota or capacity is a LIMIT, whatever it limits;
7. what waits or lags behind is harm by rising;
8. what is free, idle or remaining of a resource harms by falling; idle connections are no harm at all;
9. a limit, a maximum or a wanted number is a LIMIT, unless the name speaks of its use;
10. hits of a cache harm by falling where they are a share, and are traffic where they are counted;
11. a resource in use harms by rising, what is up or ready by falling, traffic by neither.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from diagnosis_harness.analysis import signal_vocabulary as said
from diagnosis_harness.analysis.meaning import SignalKind, SignalMeaning, SignalSide

_Found = tuple[SignalKind, int] | None


@dataclass(frozen=True, slots=True)
class _Name:
    """The words of a name in order and as a set, and the unit of its values."""

    words: tuple[str, ...]
    held: frozenset[str]
    unit: str

    @property
    def is_timed(self) -> bool:
        """Whether its values are times, by unit or by name."""
        return self.unit in said.TIME_UNITS or bool(self.held & (said.TIME_UNITS - {"s"}))

    @property
    def is_traffic(self) -> bool:
        """Whether any word speaks of traffic."""
        return any(said.TRAFFIC_WORDS.fullmatch(word) for word in self.words)


def judge_words(words: tuple[str, ...], unit: str | None, *, about_host: bool = False) -> SignalMeaning:
    """How a signal is judged by the words of its name and its unit.

    Args:
        about_host: the entity is the machine itself, so that its own work is meant.
    """
    words = _without_rate(said.divide_glued(words))
    held = frozenset(words)
    kind, harmful = _judge(_Name(words, held, (unit or "").lower()))
    return SignalMeaning(kind, _side(held, about_host=about_host), harmful)


def is_counter_name(words: tuple[str, ...]) -> bool:
    """Whether the name says that values only ever add up; the values must agree before it is believed."""
    return bool(said.COUNTERS & frozenset(words))


def is_host_name(words: tuple[str, ...]) -> bool:
    """Whether a name is that of a machine."""
    return bool(said.HOST & frozenset(words))


def _side(held: frozenset[str], *, about_host: bool) -> SignalSide:
    if held & said.OUTGOING:
        return SignalSide.OUTGOING
    if held & said.HOST and not about_host and not held & {"count", "number"}:  # a count of hosts is none's
        return SignalSide.HOST
    return SignalSide.OWN


def _judge(name: _Name) -> tuple[SignalKind, int]:
    for rule in _RULES:
        found = rule(name)
        if found is not None:
            return found
    return (SignalKind.TRAFFIC, 0) if name.is_traffic else (SignalKind.OTHER, 0)


def _processor_mode(name: _Name) -> _Found:
    """A share that is named after nothing but what processors do: `%user`, `idle_percent`, `sys_pct`."""
    told = name.held - said.UNIT_WORDS - said.SHARE_UNITS
    if not told or not told <= said.CPU_MODES or name.unit not in said.SHARE_UNITS:
        return None
    return SignalKind.CPU, -1 if "idle" in told else 1


def _info(name: _Name) -> _Found:
    held = name.held
    event = held & said.EVENTS and held & {"time", "timestamp"} and not held & said.LATENCY
    if held & said.INFO or event or name.words[-2:] == ("status", "code"):
        return SignalKind.INFO, 0
    return None


def _budget(name: _Name) -> _Found:
    left = "budget" in name.held and not name.held & (said.USE | {"burn", "burned", "consumed"})
    return (SignalKind.AVAILABILITY, -1) if left and name.held & {"error", "slo", "errors"} else None


def _latency(name: _Name) -> _Found:
    if name.held & said.LATENCY and name.held & {"count", "bucket"}:  # how many, not how long
        return SignalKind.TRAFFIC, 0
    timed = "time" in name.held and name.unit in said.TIME_UNITS and not name.held & said.CPU_NOUNS
    return (SignalKind.LATENCY, 1) if name.held & said.LATENCY or timed else None


def _abandonment(name: _Name) -> _Found:
    """What a server counts of callers that no longer wait; where it is slow itself, its latency says so."""
    counted = any(said.GIVEN_UP.fullmatch(word) for word in name.words)
    closed = "499" in name.held or name.held & said.INCOMING
    return (SignalKind.TRAFFIC, 0) if counted and closed and not name.held & said.OUTGOING else None


def _trouble(name: _Name) -> _Found:
    words, held = name.words, name.held
    if held & said.MISSES:
        return SignalKind.EFFICIENCY, 1
    if held & said.STARVED:
        return (SignalKind.CPU if held & {"cpu", "cfs"} else SignalKind.SATURATION), 1
    if held & said.EVICTED:
        return SignalKind.MEMORY, 1
    denied = any(first in said.DENIALS and second in said.DENIED for first, second in pairwise(words))
    counted = any(said.TROUBLE.fullmatch(word) or said.TROUBLE_ENDING.fullmatch(word) for word in words)
    if denied or counted or {"leader", "changes"} <= held:
        return SignalKind.ERRORS, 1
    return None


def _ceiling(name: _Name) -> _Found:
    """A name that ends in a limit is one, whatever it limits: `queue_capacity`, `backlog_quota_limit`."""
    last = next((word for word in reversed(name.words) if word not in said.UNIT_WORDS), "")
    return (SignalKind.LIMIT, 0) if last in said.CEILINGS else None


def _waiting(name: _Name) -> _Found:
    held = name.held
    ready = "ready" in held and held & {"messages", "queue", "summation"}  # ready to be taken
    if ready or (held & said.WAITS and not held & said.GOOD):
        return (SignalKind.POOL if held & {"connections", "connection", "pool"} else SignalKind.QUEUE), 1
    return None


def _time(name: _Name) -> _Found:
    """What has a unit of time, or speaks of time, and was none of the above."""
    held = name.held
    if not name.is_timed and "time" not in held:
        return None
    if held & {"offset", "skew", "drift"}:
        return SignalKind.ERRORS, 1
    if held & ({"uptime", "expiry", "interval"} | said.FREE):
        return None
    if held & said.CPU_NOUNS:
        return SignalKind.CPU, 1
    return (SignalKind.DISK if "io" in held else SignalKind.LATENCY), 1


def _free(name: _Name) -> _Found:
    held = name.held
    if not held & said.FREE:
        return None
    if "open" in held and "slots" not in held:  # files and connections that are open are in use
        return (SignalKind.ERRORS if "breaker" in held else _resource(held) or SignalKind.SATURATION), 1
    if held & said.POOL_NOUNS and "idle" in held:
        return SignalKind.POOL, 0
    kind = _resource(held)
    if kind is not None:
        return kind, -1
    return (SignalKind.SATURATION, -1) if held & said.UNUSED else None


def _limit(name: _Name) -> _Found:
    words, held = name.words, name.held
    if held & said.USE or held & said.GOOD:
        return None
    whole = "total" in held and (words[-1] == "total" or words[-2:] == ("total", "bytes"))
    if whole and held & (said.MEMORY_NOUNS | said.DISK_NOUNS) and not name.held & said.MOVED:
        return SignalKind.LIMIT, 0
    named = held & said.LIMITS
    if named == {"capacity"} and name.is_traffic and not held & {"bytes"}:  # capacity that traffic consumes
        return None
    return (SignalKind.LIMIT, 0) if named else None


def _cache(name: _Name) -> _Found:
    held = name.held
    if not held & {"hit", "hits", "hitrate", "cache"}:
        return None
    if held & said.SHARES or name.unit in {"ratio", "percent", "%"}:
        return SignalKind.EFFICIENCY, -1
    return (SignalKind.TRAFFIC, 0) if held & {"hit", "hits"} else None


def _use(name: _Name) -> _Found:
    held = name.held
    if held & said.POOL_NOUNS and held & said.PASSING:
        return SignalKind.TRAFFIC, 0
    if held & said.GOOD and not held & said.USE:
        return None
    if held & said.MEMBERS and not held & (said.POOL_NOUNS | said.USE):
        return None
    kind = _resource(held)
    if kind is SignalKind.DISK and (held & said.MOVED or "offset" in held) and not held & said.USE:
        return SignalKind.TRAFFIC, 0
    if kind is not None:
        return kind, 1
    return (SignalKind.SATURATION, 1) if held & (said.USE | {"active"}) else None


def _good(name: _Name) -> _Found:
    return (SignalKind.AVAILABILITY, -1) if name.held & (said.GOOD | said.MEMBERS) else None


def _resource(held: frozenset[str]) -> SignalKind | None:
    return next((kind for kind, nouns in _RESOURCE_NOUNS if held & nouns), None)


_RESOURCE_NOUNS = (
    (SignalKind.MEMORY, said.MEMORY_NOUNS),
    (SignalKind.CPU, said.CPU_NOUNS),
    (SignalKind.DISK, said.DISK_NOUNS),
    (SignalKind.POOL, said.POOL_NOUNS),
    (SignalKind.SATURATION, said.SHARED_NOUNS),
)
_RULES: tuple[Callable[[_Name], _Found], ...] = (
    _processor_mode, _info, _budget, _latency, _abandonment, _trouble, _ceiling, _waiting, _time, _free,
    _limit, _cache, _use, _good,
)  # fmt: skip


def _without_rate(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words without `per second` and the like, which say how it is counted and not what."""
    if "per" in words:
        place = words.index("per")
        return words[:place] + words[place + 2 :] or words
    return words
