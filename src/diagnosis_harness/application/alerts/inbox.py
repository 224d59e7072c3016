"""The port of the inbox, in which notifications of alerts wait until they are processed.

A notification is stored first and processed later, in the order in which those of its group were stored.
Processing changes runs and removes the notification in one transaction, so that each notification takes
effect exactly once, even if a process dies.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from diagnosis_harness.application.runs.request import RunRequest


class AlertStatus(StrEnum):
    """The status of a group of alerts, in Alertmanager's words."""

    FIRING = "firing"
    RESOLVED = "resolved"


class AlertEffect(StrEnum):
    """What was done about a run of a group."""

    SUBMITTED = "SUBMITTED"  # the run is new
    JOINED = "JOINED"  # an unfinished run about the same group, which was joined
    CANCELLED = "CANCELLED"  # it was queued, and will not start
    LEFT_RUNNING = "LEFT_RUNNING"  # it had started and continues, since its result is worth reading


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertNotification:
    """A group of alerts fires or is resolved.

    Attributes:
        fingerprint: the group, for this caller and source; that of the runs about it.
        request: the question of a firing group; None for a resolved one. Its times are those of the
                notification, and are moved when the run is created.
    """

    notification_id: str
    fingerprint: str
    asked_by: str
    status: AlertStatus
    received_s: float
    request: RunRequest | None = None


@dataclass(frozen=True, slots=True)
class KeptNotification:
    """The place of a waiting notification.

    Attributes:
        notification_id: its own; or that of a previous one about the same state of the group that still
                waits, and that now has the later one's question.
            ahead: how many others were waiting when it arrived.
    """

    notification_id: str
    ahead: int


@dataclass(frozen=True, slots=True)
class GroupReport:
    """The result of processing a group.

    Attributes:
        effects: by run; each run once, with its last effect.
        made: the new runs that later notifications did not end; the caller must enqueue them.
        done: notifications that were processed and removed.
        left: those that still wait, since the caller has reached its limit of unfinished runs.
    """

    effects: Mapping[str, AlertEffect] = field(default_factory=dict)
    done: int = 0
    left: int = 0
    made: tuple[RunRequest, ...] = ()


@dataclass(frozen=True, slots=True)
class WaitingNotifications:
    """How many wait, and since when the oldest has waited; None if none waits."""

    count: int
    oldest_s: float | None


class AlertInbox(Protocol):
    """Stores notifications and processes them. A failure is `StoreFailure`."""

    async def keep(self, notification: AlertNotification, *, waiting_max: int) -> KeptNotification:
        """Store a notification. If the last waiting one of its group says the same, it replaces that one.

        Raises:
            TooManyAlerts: the limit of waiting notifications is reached.
        """
        ...

    async def waiting(self) -> WaitingNotifications:
        """How many notifications wait."""
        ...

    async def due(self, *, limit: int, but_not: AbstractSet[str] = frozenset()) -> tuple[str, ...]:
        """Fingerprints of the groups that can be processed now, the longest waiting first.

        A group is left out while its caller has too many unfinished runs for the next one.
        """
        ...

    async def work_off(self, fingerprint: str, *, at_s: float) -> GroupReport:
        """Process the waiting notifications of a group in order, in one transaction.

        A firing notification creates a run, or joins an unfinished one of the group. A resolved one ends a
        run that is still queued; a started one continues, and is no longer joined. A claimed run is never
        cancelled. If a resolved notification follows, the run of the preceding firing one is created and
        ended at once, even if its caller has reached the limit.
        """
        ...
