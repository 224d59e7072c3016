"""The words that signal names are made of, grouped by meaning.

General words only: a word used by a single product belongs into conventions.tsv with its name.
"""

from __future__ import annotations

import re

TROUBLE = re.compile(
    r"err|errs|errors?|errored|fail\w*|faults?|faulty|faulted|exceptions?|panics?|panicked|crash\w*|abort\w*"
    r"|reject\w*|drop|drops|dropped|discard\w*|lost|loss|losses|retry|retries|retried|retrans\w*|restart\w*"
    r"|kill|kills|killed|oom|ooms|deadlocks?|timeouts?|denied|denials?|refus\w*|invalid\w*|corrupt\w*"
    r"|overflow\w*|overrun\w*|underruns?|collisions?|conflicts?|unhealthy|unavailables?|unready"
    r"|unschedulable|unreachable|unauthorized|forbidden|down|downtime|broken|dead|deadletter|dlq|rollbacks?"
    r"|violat\w*|missed|missing|stuck|leak\w*|offline|degrad\w*|exceed\w*|overload\w*|overwritten"
    r"|zombies?|breach\w*|alarms?|declin\w*|cancel\w*|servfail|nxdomain|terminated|bounce[sd]?|malformed"
    r"|unassigned|underreplicated|mismatch\w*|outages?|disconnect\w*|shrinks?|spillover|poison\w*"
    r"|readonly|reached|elections?|saturated|slow|slower|slowlog|4xx|5xx|[45]\d\d"
)
"""Words for counted trouble. A name that ends in one of these counts trouble too (`pgmajfault`,
`readtimeouts`)."""
GIVEN_UP = re.compile(r"cancel\w*|499")
"""Words for requests whose caller gave up, because of the caller's deadline or a slow server."""
TROUBLE_ENDING = re.compile(r"\w{2,}(errors?|failures?|failed|faults?|exceptions?|timeouts?|dropped)")
STARVED = frozenset(["throttle", "throttled", "throttles", "throttling", "starving", "starved", "limited"])
MISSES = frozenset(["miss", "misses"])
EVICTED = frozenset(["evicted", "evictions", "eviction", "evict", "evicts"])

GOOD = frozenset(
    ["available", "availability", "success", "successes", "successful", "succeeded", "up", "uptime", "ready",
     "healthy", "alive", "online", "apdex", "leader", "quorum", "heartbeat", "heartbeats", "expiry",
     "reachable", "passing"]
)  # fmt: skip
DENIALS = frozenset(["not", "non", "no", "under", "without", "never"])
DENIED = GOOD | {"replicated"}
MEMBERS = frozenset(
    ["brokers", "nodes", "replicas", "servers", "hosts", "endpoints", "members", "instances", "consumers",
     "backends", "targets", "peers"]
)  # fmt: skip
"""Words for things that should be there: fewer is worse."""

INFO = frozenset(
    ["info", "timestamp", "created", "generation", "version", "owner", "owners", "build", "epoch"]
)
EVENTS = frozenset(["start", "boot", "birth", "modified"])

LATENCY = frozenset(
    ["latency", "latencies", "duration", "durations", "delay", "elapsed", "rtt", "rt", "responsetime", "ttfb",
     "runtime", "pause", "pauses"]
)  # fmt: skip
TIME_UNITS = frozenset(
    ["s", "ms", "us", "µs", "ns", "sec", "seconds", "milliseconds", "microseconds", "nanoseconds"]
)
WAITS = frozenset(
    ["lag", "behind", "backlog", "queue", "queued", "enqueued", "queues", "pending", "waiting", "wait",
     "waits", "waiters", "blocked", "inflight", "outstanding", "unacked", "unacknowledged", "undelivered",
     "stale", "staleness", "age", "backpressure", "stalled", "stalls"]
)  # fmt: skip

UNUSED = frozenset(["idle", "free", "freeable", "remaining", "unused", "spare", "headroom", "balance"])
FREE = UNUSED | {"available", "avail", "open", "left"}
CEILINGS = frozenset(["limit", "limits", "quota", "capacity", "ceiling", "threshold"])
UNIT_WORDS = frozenset(["bytes", "seconds", "ms", "count", "total", "percent", "ratio", "cores"])
LIMITS = CEILINGS | frozenset(
    ["hard", "spec", "desired", "configured",
     "provisioned", "config", "speed", "min", "setting", "settings", "interval", "max", "maximum"]
)  # fmt: skip
USE = frozenset(
    ["used", "usage", "util", "utilization", "utilisation", "consumption", "busy", "inuse", "allocated",
     "saturation", "pressure"]
)  # fmt: skip
SHARES = frozenset(["ratio", "rate", "percent", "percentage", "pct", "share", "hitrate"])

CPU_MODES = frozenset(
    ["user", "usr", "system", "sys", "kernel", "nice", "idle", "steal", "guest", "irq", "softirq", "soft",
     "privileged"]
)  # fmt: skip
"""Processor modes in sar, top, mpstat and vmstat; waiting for a disk counts as the disk's."""
SHARE_UNITS = frozenset(["percent", "pct", "%", "ratio"])
CPU_NOUNS = frozenset(["cpu", "processor", "load", "load1", "load5", "load15", "steal", "gpu"])
MEMORY_NOUNS = frozenset(
    ["memory", "mem", "heap", "rss", "swap", "swapped", "ram", "resident", "pagefile", "gc"]
)
DISK_NOUNS = frozenset(
    ["disk", "filesystem", "fs", "storage", "volume", "inode", "inodes", "tablespace", "iowait", "space",
     "datastore", "partition", "drive", "capacity"]
)  # fmt: skip
POOL_NOUNS = frozenset(["pool", "connections", "connection", "conns", "conn", "clients", "sessions", "slots"])
SHARED_NOUNS = frozenset(
    ["threads", "thread", "workers", "worker", "executor", "handles", "descriptors", "descriptor", "fds",
     "fd", "goroutines", "sockets", "socket", "locks", "lock", "children", "processes", "budget", "tokens",
     "credit", "credits", "breaker", "concurrency", "concurrent"]
)  # fmt: skip
"""Shared things that can run out, other than the kinds above."""
PASSING = frozenset(["opened", "accepted", "created", "closed", "new", "established"])
MOVED = frozenset(
    ["read", "reads", "write", "writes", "written", "receive", "received", "sent", "transmit", "transmitted"]
)
TRAFFIC_WORDS = re.compile(
    r"requests?|req|reqs|rq|rps|qps|tps|ops|iops|throughput|traffic|workload|calls?|hits?|bytes|packets?|recv"
    r"|received?|sent|send|transmit|transmitted|network|invocations?|sum|count|query|queries|msgs?|messages?"
    r"|records?|events?|commands?|operations?|responses?|spans?|flows?|commits?|reads?|writes?|written|octets"
    r"|bandwidth|processed|orders|transactions?|jobs|tasks?|offset|lookups?|probes?|rows|accepted|opened"
    r"|closed|puts?|gets?|pooled|segments?|syncs?|consumed|published|produced|logins"
)

OUTGOING = frozenset(["client", "source", "outbound", "egress", "upstream", "outgoing", "downstream"])
INCOMING = frozenset(["server", "destination", "inbound", "ingress"])
SIDE_WORDS = OUTGOING | INCOMING
"""Words that identify the end of a call at which a signal was measured."""
HOST = frozenset(["node", "host", "machine"])
COUNTERS = frozenset(["total", "counter", "count", "cumulative"])

_PARTS = frozenset(
    ["max", "min", "avg", "num", "number", "total", "time", "per", "sec", "blocks", "partitions", "cluster",
     "data", "cache", "table", "file", "handler", "percent", "rate", "ratio"]
)  # fmt: skip
"""Words without meaning of their own that occur in compound words."""
_KNOWN = (
    GOOD | MEMBERS | LATENCY | WAITS | FREE | USE | LIMITS | STARVED | MISSES | EVICTED | _PARTS
    | CPU_NOUNS | MEMORY_NOUNS | DISK_NOUNS | POOL_NOUNS | SHARED_NOUNS
)  # fmt: skip
_GLUED_LENGTH = 7  # shorter words are not compounds
_PART_LENGTH = 3  # shorter parts fit into anything


def divide_glued(words: tuple[str, ...]) -> tuple[str, ...]:
    """Split compound words whose parts are all known: `cpuutilization`, `freespace`."""
    return tuple(part for word in words for part in _parts_of(word))


def _parts_of(word: str) -> list[str]:
    """The fewest known words that make up a word; the word itself if there are none."""
    if len(word) < _GLUED_LENGTH or _is_known(word):
        return [word]
    best: dict[int, list[str]] = {0: []}
    for end in range(_PART_LENGTH, len(word) + 1):
        found = [
            [*best[start], word[start:end]]
            for start in range(end - _PART_LENGTH + 1)
            if start in best and _is_known(word[start:end])
        ]
        if found:
            best[end] = min(found, key=len)
    return best.get(len(word), [word])


def _is_known(word: str) -> bool:
    return word in _KNOWN or TROUBLE.fullmatch(word) is not None or TRAFFIC_WORDS.fullmatch(word) is not None
