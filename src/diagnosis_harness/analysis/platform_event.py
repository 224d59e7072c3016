"""A closed list of event kinds that platforms report, with the fault each shows and the event that ends it.

A platform runs the services: Kubernetes, or a managed database. Everything here is recognised by the
platform's own wording, so one table holds all patterns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class EventKind(StrEnum):
    """The kind of a report, as the platform names it."""

    OOM_KILLED = "OOMKilled"
    IMAGE_PULL = "ImagePullBackOff"
    BAD_CONFIG = "CreateContainerConfigError"
    CRASH_LOOP = "CrashLoopBackOff"
    UNSCHEDULABLE = "FailedScheduling"
    EVICTED = "Evicted"
    NODE_PRESSURE = "NodePressure"
    NODE_NOT_READY = "NodeNotReady"
    MOUNT_FAILED = "FailedMount"
    PROBE_FAILED = "Unhealthy"
    ROLLOUT_FAILED = "ProgressDeadlineExceeded"
    REPLICAS_MISSING = "ReplicasUnavailable"
    FAILOVER = "failover"
    STORAGE_FULL = "storage-full"
    STORAGE_LOW = "low-storage"
    CONNECTION_LIMIT = "max-connections"
    REPLICATION_LAG = "replication-lag"
    RESTARTED = "restart"
    PARAMETERS_CHANGED = "parameter-change"
    MAINTENANCE = "maintenance"


class EventStanding(StrEnum):
    """Whether a trouble still lasts at the end of the recording."""

    CURRENT = "current"
    OVER = "over"


class Severity(StrEnum):
    """What an event of a kind means while it lasts."""

    FAULT = "fault"  # something is broken there
    SYMPTOM = "symptom"  # something there does not work, for a reason that lies elsewhere
    NOTE = "note"  # something was done, usually harmless


@dataclass(frozen=True, slots=True)
class EventRule:
    """One kind of event.

    Attributes:
        reasons: the reasons that the platform writes, in lower case.
        message: matches its text; None if the reason alone is enough.
        state: matches the snapshot of an object while the event lasts; None for `message`.
        fault_kind: the kind of fault that it shows (wire value).
        lasts: whether it holds until something ends it; any other kind is over when it is not repeated.
        ended_by: matches the text of the event that ends it.
        held_by: the kind that keeps it current: the last termination of a container in a crash loop
            explains the loop.
    """

    fault_kind: str
    severity: Severity
    reasons: frozenset[str] = frozenset()
    message: re.Pattern[str] | None = None
    state: re.Pattern[str] | None = None
    lasts: bool = False
    ended_by: re.Pattern[str] | None = None
    held_by: EventKind | None = None


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_OOM = _pattern(r"oom[-_ ]?kill|out of memory|exit[ _]?code\W{0,3}137\b|ended with code 137\b")
"""137 is the kernel's kill signal; a probe that kills a container reports that itself (see
`_KILLED_BY_PROBE`)."""
_KILLED_BY_PROBE = _pattern(r"(?:liveness|startup) probe")
_PULL = _pattern(
    r"pulling image|(?:failed to pull|pull(?:ing)? of) image|err(?:or)?imagepull|imagepullbackoff"
)

CATALOGUE: Mapping[EventKind, EventRule] = MappingProxyType(
    {
        EventKind.OOM_KILLED: EventRule(
            "MEMORY",
            Severity.FAULT,
            reasons=frozenset({"oomkilled", "oomkilling", "systemoom"}),
            message=_OOM,
            held_by=EventKind.CRASH_LOOP,
        ),
        EventKind.IMAGE_PULL: EventRule(
            "CONFIGURATION",
            Severity.FAULT,
            reasons=frozenset({"imagepullbackoff", "errimagepull", "errimageneverpull", "invalidimagename"}),
            message=_PULL,
        ),
        EventKind.BAD_CONFIG: EventRule(
            "CONFIGURATION",
            Severity.FAULT,
            reasons=frozenset({"createcontainerconfigerror", "createcontainererror", "runcontainererror"}),
            message=_pattern(r"(?:create|run)container(?:config)?error|(?:secret|configmap) \S+ not found"),
        ),
        EventKind.CRASH_LOOP: EventRule(
            "CRASH",
            Severity.FAULT,
            reasons=frozenset({"crashloopbackoff"}),
            message=_pattern(r"crashloopbackoff|back-?off (?:\S+ )?restarting failed"),
        ),
        EventKind.UNSCHEDULABLE: EventRule(
            "SATURATION",
            Severity.FAULT,
            reasons=frozenset({"failedscheduling", "unschedulable"}),
            message=_pattern(r"unschedulable\b(?!=false)|\d+/\d+ nodes are available"),
        ),
        EventKind.EVICTED: EventRule(
            "SATURATION",
            Severity.FAULT,
            reasons=frozenset({"evicted"}),
            message=_pattern(r"\bwas evicted|reason[=: ]\W?evicted|^evicted\b|low on resource"),
        ),
        EventKind.NODE_PRESSURE: EventRule(
            "SATURATION",
            Severity.FAULT,
            reasons=frozenset(
                {
                    "nodehasdiskpressure",
                    "nodehasinsufficientmemory",
                    "nodehasinsufficientpid",
                    "evictionthresholdmet",
                    "freediskspacefailed",
                }
            ),
            state=_pattern(r"(?:memory|disk|pid)_?pressure[=: ]+true"),
            lasts=True,
            ended_by=_pattern(r"nodehas(?:no\w+pressure|sufficient\w+)"),
        ),
        EventKind.NODE_NOT_READY: EventRule(
            "NETWORK",
            Severity.FAULT,
            reasons=frozenset({"nodenotready", "nodestatusunknown"}),
            message=_pattern(r"status is now:? nodenotready"),
            state=_pattern(r"^node\b.*\bready[=: ]+(?:false|unknown)|^notready\b"),
            lasts=True,
            ended_by=_pattern(r"^nodeready\b|status is now:? nodeready"),
        ),
        EventKind.MOUNT_FAILED: EventRule(
            "CONFIGURATION",
            Severity.FAULT,
            reasons=frozenset({"failedmount", "failedattachvolume", "failedmapvolume"}),
            message=_pattern(r"mountvolume\.\w+ failed|unable to attach or mount"),
        ),
        EventKind.PROBE_FAILED: EventRule(
            "ERRORS",
            Severity.SYMPTOM,
            reasons=frozenset({"unhealthy", "probeerror"}),
            message=_pattern(r"(?:readiness|liveness|startup) probe (?:failed|errored)"),
        ),
        EventKind.ROLLOUT_FAILED: EventRule(
            "CONFIGURATION",
            Severity.SYMPTOM,
            reasons=frozenset({"progressdeadlineexceeded", "failedcreate", "replicafailure"}),
            message=_pattern(r"progressdeadlineexceeded|has timed out progressing"),
            lasts=True,
            ended_by=_pattern(r"has successfully progressed|newreplicasetavailable"),
        ),
        EventKind.REPLICAS_MISSING: EventRule(
            "CRASH",
            Severity.SYMPTOM,
            reasons=frozenset({"minimumreplicasunavailable"}),
            message=_pattern(r"minimumreplicasunavailable"),
            state=_pattern(r"\bunavailable[=: ]+[1-9]|minimumreplicasunavailable"),
        ),
        EventKind.FAILOVER: EventRule(
            "CRASH",
            Severity.FAULT,
            message=_pattern(r"fail-?over\b.*\b(?:initiated|started|in progress|triggered)|failing over"),
            lasts=True,
            ended_by=_pattern(r"fail-?over\b.*\bcomplete|finished a .*fail-?over|instance\b.*\bis available"),
        ),
        EventKind.STORAGE_FULL: EventRule(
            "SATURATION",
            Severity.FAULT,
            reasons=frozenset({"storage full", "storage-full"}),
            message=_pattern(
                r"ran out of (?:storage|disk)|no space left|insufficient (?:storage|disk)|storage[- ]full|"
                r"(?:disk|volume) is full"
            ),
            lasts=True,
            ended_by=_pattern(
                r"storage .*(?:increased|extended|scaled up)|applying modification to allocated"
            ),
        ),
        EventKind.STORAGE_LOW: EventRule(
            "SATURATION",
            Severity.SYMPTOM,
            reasons=frozenset({"low storage"}),
            message=_pattern(r"(?:storage|disk)(?: space)? is (?:\w+ )?low|low (?:storage|disk) space"),
            lasts=True,
            ended_by=_pattern(
                r"storage .*(?:increased|extended|scaled up)|applying modification to allocated"
            ),
        ),
        EventKind.CONNECTION_LIMIT: EventRule(
            "SATURATION",
            Severity.FAULT,
            message=_pattern(
                r"max_connections|too many (?:clients|connections)|remaining connection slots|"
                r"connection limit"
            ),
        ),
        EventKind.REPLICATION_LAG: EventRule(
            "SATURATION",
            Severity.SYMPTOM,
            message=_pattern(r"replication lag|replay is behind|replica .*falling behind"),
            lasts=True,
            ended_by=_pattern(r"caught up|replication lag .*(?:normal|recovered|resolved|below)"),
        ),
        EventKind.RESTARTED: EventRule(
            "CRASH",
            Severity.SYMPTOM,
            message=_pattern(
                r"instance (?:is |was |has been )?(?:restart(?:ed|ing)|reboot(?:ed|ing)|shut ?down)"
            ),
            lasts=True,
            ended_by=_pattern(r"instance (?:was |has been )?restarted|is available"),
        ),
        EventKind.PARAMETERS_CHANGED: EventRule(
            "CONFIGURATION",
            Severity.NOTE,
            message=_pattern(r"parameter(?:s| group)?\b.*\b(?:applied|updated|changed|modified)"),
        ),
        EventKind.MAINTENANCE: EventRule(
            "UNKNOWN",
            Severity.NOTE,
            message=_pattern(r"scheduled maintenance|version upgrade|applying .*(?:patch|upgrade)"),
            ended_by=_pattern(r"maintenance complete|upgrade complete"),
        ),
    }
)
"""Covers every kind; a test checks that."""

_LETTERS = re.compile(r"[^a-z]+")


def kinds_of(reason: str | None, message: str) -> tuple[EventKind, ...]:
    """The kinds that an event shows, in the order of the list; empty if it matches none.

    An event that ends a trouble does not show it.
    """
    named = (reason or "").strip().lower()
    bare = _LETTERS.sub("", named)
    if kinds_ended(f"{reason}: {message}"):
        return ()
    return tuple(
        kind
        for kind, rule in CATALOGUE.items()
        if named in rule.reasons
        or bare in rule.reasons
        or (rule.message is not None and rule.message.search(message) and not _is_spared(kind, message))
    )


def kinds_ended(text: str) -> frozenset[EventKind]:
    """The kinds of trouble that an event with this text ends."""
    return frozenset(
        kind
        for kind, rule in CATALOGUE.items()
        if rule.ended_by is not None and rule.ended_by.search(text.strip())
    )


def kinds_in_state(message: str) -> tuple[EventKind, ...]:
    """The kinds that the snapshot of an object shows while they last."""
    found = []
    for kind, rule in CATALOGUE.items():
        pattern = rule.state or rule.message
        named = any(message.lower().startswith(f"{reason}:") for reason in rule.reasons)
        if named or (pattern is not None and pattern.search(message) and not _is_spared(kind, message)):
            found.append(kind)
    return tuple(found)


def _is_spared(kind: EventKind, message: str) -> bool:
    """Whether a probe killed the container: it then ends with the same code as one that ran out of memory."""
    if kind is not EventKind.OOM_KILLED or not _KILLED_BY_PROBE.search(message):
        return False
    return not re.search(r"oom[-_ ]?kill|out of memory", message, re.IGNORECASE)


_LEAVING = _pattern(r"deletion_?timestamp[=: ]+\W?\d|^terminating\b")
_TROUBLED = _pattern(
    r"\"ready\": false|phase[=: ]+(?:pending|failed|unknown)|\"waiting\": true|backoff|errimagepull|"
    r"\bready[=: ]+(?:false|unknown)|^notready|pressure[=: ]+true|\bunavailable[=: ]+[1-9]|"
    r"ended with code|^pending|^failed|^unknown|^evicted|^error"
)
_WORKING = _pattern(
    r"phase[=: ]+(?:running|succeeded)|^(?:running|succeeded|completed|ready)\b|\bready[=: ]+true|"
    r"unavailable[=: ]+0"
)
_READY_OF = re.compile(r"\b(\d+)/(\d+) ready")


def is_leaving(message: str) -> bool:
    """Whether the snapshot shows an object being removed, whose state is then harmless."""
    return _LEAVING.search(message) is not None


def is_working(message: str) -> bool | None:
    """Whether the snapshot of an object shows that it works; None if it does not show either."""
    parts = _READY_OF.search(message)
    if _TROUBLED.search(message) or (parts is not None and int(parts[1]) < int(parts[2])):
        return False
    return True if _WORKING.search(message) else None
