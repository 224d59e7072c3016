"""Where notifications of alerts wait until they are worked off, as the application sees it.

A notification is kept first and worked off later, in the order in which the notifications of its group were
kept. Working off changes runs and removes the notification in one transaction: whatever dies in between, each
notification has its effect once.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from diagnosis_harness.application.runs.request import RunRequest


class AlertStatus(StrEnum):
    """How a group of alerts stands, in the words of Alertmanager."""

    FIRING = "firing"
    RESOLVED = "resolved"


class AlertEffect(StrEnum):
    """What was done about a run of a group."""

    SUBMITTED = "SUBMITTED"  # the run is new
    JOINED = "JOINED"  # it was there, unfinished, and asks about the same
    CANCELLED = "CANCELLED"  # it was queued, and will not start
    LEFT_RUNNING = "LEFT_RUNNING"  # it had started: what it finds is worth reading


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertNotification:
    """That a group of alerts fires, or is resolved.

    Attributes:
        fingerprint: the group, for this caller and source; that of the runs about it.
        request: what a firing group asks; None where it is resolved. Its times are those of the notification,
            and are moved to when the run is made.
    """

    notification_id: str
    fingerprint: str
    asked_by: str
    status: AlertStatus
    received_s: float
    request: RunRequest | None = None


@dataclass(frozen=True, slots=True)
class KeptNotification:
    """Where a notification waits.

    Attributes:
        notification_id: its own; or that of the one before it that says the same of the group and waits
            still, which now asks what the later one asks.
        ahead: how many others waited when it came.
    """

    notification_id: str
    ahead: int


@dataclass(frozen=True, slots=True)
class GroupReport:
    """What working off a group came to.

    Attributes:
        effects: by run; each run once, with the last that was done about it.
        made: the runs that are new and were not ended by what followed; they are to be put into the queue.
        done: notifications that are worked off and gone.
        left: those that wait on, since the caller has as many unfinished runs as it may have.
    """

    effects: Mapping[str, AlertEffect] = field(default_factory=dict)
    done: int = 0
    left: int = 0
    made: tuple[RunRequest, ...] = ()


@dataclass(frozen=True, slots=True)
class WaitingNotifications:
    """How many wait, and since when the oldest does; None where none does."""

    count: int
    oldest_s: float | None


class AlertInbox(Protocol):
    """Keeps notifications, and works them off. What does not work raises `StoreFailure`."""

    async def keep(self, notification: AlertNotification, *, waiting_max: int) -> KeptNotification:
        """Keep a notification. A group whose last waiting one says the same has one that waits, not two.

        Raises:
            TooManyAlerts: so many wait already, and this would be one more.
        """
        ...

    async def waiting(self) -> WaitingNotifications:
        """How many notifications wait."""
        ...

    async def due(self, *, limit: int, but_not: AbstractSet[str] = frozenset()) -> tuple[str, ...]:
        """Fingerprints of groups that can be worked off now, those that have waited longest first.

        A group whose next run its caller may not have yet is not among them.
        """
        ...

    async def work_off(self, fingerprint: str, *, at_s: float) -> GroupReport:
        """Work off what waits of a group, in the order in which it was kept, in one transaction.

        A firing notification makes a run, unless an unfinished one of the group is there, which it joins. A
        resolved one ends the run that is queued still; one that has started goes on, and is joined no more.
        A run that was claimed before is never cancelled. Where a resolved notification follows, the run of
        the firing one before it is made and ended at once, whatever its caller has unfinished.
        """
        ...
