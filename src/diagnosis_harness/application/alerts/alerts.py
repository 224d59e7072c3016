"""Alerts of a service: a notification is stored at once, and processed when there is room for its run."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from diagnosis_harness.application.alerts.inbox import (
    AlertEffect,
    AlertInbox,
    AlertNotification,
    AlertStatus,
    GroupReport,
    WaitingNotifications,
)
from diagnosis_harness.application.callers.caller import Caller
from diagnosis_harness.application.runs.queue import RunQueue
from diagnosis_harness.application.runs.request import RunKind
from diagnosis_harness.application.runs.run_service import RunService
from diagnosis_harness.application.runs.submission import Submission
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import FailureKind, NotPermitted, StoreFailure

_GROUPS_AT_ONCE: Final = 50
"""Groups that are fetched at a time; each is processed in its own transaction."""


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """How many alerts this service accepts.

    Attributes:
        waiting_max: notifications that may wait to be processed, of all callers.
        unfinished_max: queued and running runs that a caller may have, including the one that an alert
            starts; further notifications wait. A key may have a lower limit.
        source: name of the configured source for notifications that name none; None if there is no default.
    """

    waiting_max: int
    unfinished_max: int
    source: str | None = None


@dataclass(frozen=True, slots=True)
class TakenNotification:
    """The state of an accepted notification.

    Attributes:
        notification_id: under which it is stored; that of an earlier, identical one if that still waits.
        ahead: how many others were waiting when it arrived.
        report: the result; None while it waits.
    """

    notification_id: str
    ahead: int
    report: GroupReport | None


@dataclass(frozen=True, slots=True)
class AlertAccount:
    """The result of one pass: what was done about which run, and the groups that could not be processed."""

    effects: Mapping[str, AlertEffect] = field(default_factory=dict)
    failed: Mapping[str, StoreFailure] = field(default_factory=dict)


class Alerts:
    """One for each process. Several share one inbox; within a process one group is processed at a time."""

    def __init__(
        self, runs: RunService, *, inbox: AlertInbox, queue: RunQueue, clock: Clock, settings: AlertSettings
    ) -> None:
        self._runs = runs
        self._inbox = inbox
        self._queue = queue
        self._clock = clock
        self._settings = settings
        self._is_at_work = False

    def source_of(self, named: str | None) -> str | None:
        """The source that a notification is about: the one it names, else the default."""
        return self._settings.source if named is None else named

    async def take_firing(
        self,
        caller: Caller,
        submission: Submission,
        *,
        notification_id: str,
        fingerprint: str,
        unfinished_max: int | None = None,
    ) -> TakenNotification:
        """Accept the notification of a firing group.

        Args:
            unfinished_max: the limit of the caller's key.

        Raises:
            NotPermitted: the caller may not ask.
            InvalidInput: its content cannot be used; sending it again does not help. TooManyAlerts: the limit
                of waiting notifications is reached. StoreFailure: it is not stored.
        """
        most = self._settings.unfinished_max
        most = most if unfinished_max is None else min(most, unfinished_max)
        submission = replace(submission, fingerprint=fingerprint)
        request = await self._runs.request(caller, submission, RunKind.BACKGROUND, unfinished_max=most)
        return await self._take(
            AlertNotification(
                notification_id=notification_id,
                fingerprint=fingerprint,
                asked_by=caller.name,
                status=AlertStatus.FIRING,
                received_s=request.submitted_s,
                request=request,
            )
        )

    async def take_resolved(
        self, caller: Caller, *, notification_id: str, fingerprint: str
    ) -> TakenNotification:
        """Accept the notification of a resolved group.

        Raises:
            NotPermitted, TooManyAlerts, StoreFailure: as `take_firing`.
        """
        if not caller.may_ask:
            raise NotPermitted("a viewer may only read")
        return await self._take(
            AlertNotification(
                notification_id=notification_id,
                fingerprint=fingerprint,
                asked_by=caller.name,
                status=AlertStatus.RESOLVED,
                received_s=self._clock.now_s(),
            )
        )

    async def waiting(self) -> WaitingNotifications:
        """How many notifications wait, in all processes.

        Raises:
            StoreFailure: they cannot be counted.
        """
        return await self._inbox.waiting()

    async def work_off(self) -> AlertAccount:
        """Process every group that can be. A group that cannot be read does not stop the others.

        Raises:
            StoreFailure: the store failed; groups processed before that stay processed.
        """
        effects: dict[str, AlertEffect] = {}
        failed: dict[str, StoreFailure] = {}
        while groups := await self._inbox.due(limit=_GROUPS_AT_ONCE, but_not=failed.keys()):
            goes_on = False
            for fingerprint in groups:
                try:
                    report = await self._process_group(fingerprint)
                except StoreFailure as failure:
                    if failure.kind is not FailureKind.INVALID_OUTPUT:
                        raise
                    failed[fingerprint] = failure
                    goes_on = True
                    continue
                if report is not None:
                    goes_on = goes_on or report.done > 0
                    effects.update(report.effects)
            if not goes_on:  # other processes were quicker
                break
        return AlertAccount(effects, failed)

    async def _take(self, notification: AlertNotification) -> TakenNotification:
        kept = await self._inbox.keep(notification, waiting_max=self._settings.waiting_max)
        report: GroupReport | None = None
        if kept.ahead == 0:  # processed in order of arrival
            with suppress(StoreFailure):  # it is stored: the next pass processes it
                report = await self._process_group(notification.fingerprint)
        has_waited = report is None or report.left > 0
        return TakenNotification(kept.notification_id, kept.ahead, None if has_waited else report)

    async def _process_group(self, fingerprint: str) -> GroupReport | None:
        """Process a group; None if this process is already processing one."""
        if self._is_at_work:
            return None
        self._is_at_work = True
        try:
            report = await self._inbox.work_off(fingerprint, at_s=self._clock.now_s())
        finally:
            self._is_at_work = False
        for request in report.made:
            with suppress(StoreFailure):  # it is accepted; the supervisor requeues it
                await self._queue.put(request.run_id, request.lane)
        return report
