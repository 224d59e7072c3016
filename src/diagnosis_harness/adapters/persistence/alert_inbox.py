"""Alert notifications in the database of the runs, stored and processed in transactions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, delete, func, select, text, update

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.failures import readable
from diagnosis_harness.adapters.persistence.insertion import count_unfinished_query, insert_if_absent, lock
from diagnosis_harness.adapters.persistence.json_text import from_json_text, json_text
from diagnosis_harness.adapters.persistence.queued_end import cancel_queued
from diagnosis_harness.adapters.persistence.rows import request_columns, request_of_row, row_of
from diagnosis_harness.adapters.persistence.schema import (
    JOINABLE,
    alert_notification,
    diagnosis_run,
)
from diagnosis_harness.application.alerts.inbox import (
    AlertEffect,
    AlertNotification,
    AlertStatus,
    GroupReport,
    KeptNotification,
    WaitingNotifications,
)
from diagnosis_harness.application.runs.closed_runs import ClosedRuns
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.application.runs.row import CancelRequest, RunRow, RunStatus
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.kernel.errors import TooManyAlerts

_NOTE = alert_notification.c
_RUN = diagnosis_run.c
_GROUP_LOCK, _INBOX_LOCK = 1, 2
_RESOLVED_EARLY = "its alert was resolved before it began"


class SqlAlertInbox:
    """`AlertInbox`.

    Args:
        closed: notified of every run that ends here while it is queued.
    """

    def __init__(self, database: Database, *, closed: ClosedRuns | None = None) -> None:
        self._database = database
        self._closed = closed or ClosedRuns()

    async def keep(self, notification: AlertNotification, *, waiting_max: int) -> KeptNotification:
        """Store a notification, or replace the last waiting one of its group if that has the same status."""
        request = notification.request
        asks = {
            "request": None if request is None else json_text(request_columns(request)),
            "unfinished_max": None if request is None else request.unfinished_max,
        }
        columns = {
            "notification_id": notification.notification_id,
            "fingerprint": notification.fingerprint,
            "asked_by": notification.asked_by,
            "status": notification.status.value,
            "received_s": notification.received_s,
            **asks,
        }

        def insert(connection: Connection) -> KeptNotification:
            # The lock makes the order of numbers the order of commits.
            lock(connection, "", kind=_INBOX_LOCK)
            lock(connection, notification.fingerprint, kind=_GROUP_LOCK)
            count = int(connection.execute(select(func.count()).select_from(alert_notification)).scalar_one())
            last = connection.execute(_of_group(notification.fingerprint, latest_first=True)).first()
            if last is not None and last.status == notification.status.value:
                change = update(alert_notification).where(_NOTE.number == last.number).values(asks)
                connection.execute(change)
                return KeptNotification(last.notification_id, count - 1)
            if count >= waiting_max:
                raise TooManyAlerts(waiting_max)
            connection.execute(alert_notification.insert().values(columns))
            return KeptNotification(notification.notification_id, count)

        return await self._database.write(insert)

    async def waiting(self) -> WaitingNotifications:
        """How many notifications are waiting, and since when."""
        query = select(func.count(), func.min(_NOTE.received_s)).select_from(alert_notification)
        count, oldest_s = await self._database.read(lambda connection: connection.execute(query).one())
        return WaitingNotifications(int(count), oldest_s)

    async def due(self, *, limit: int, but_not: AbstractSet[str] = frozenset()) -> tuple[str, ...]:
        """Groups that can be processed now, the longest waiting first."""

        def read(connection: Connection) -> tuple[str, ...]:
            found: dict[str, int] = {}
            more = len(but_not)  # these may come first
            for query in (
                _RESOLVED.limit(limit + more),
                _JOINING.limit(limit + more),
                *(
                    _GROUPS.where(_NOTE.asked_by == name).limit(min(room, limit) + more)
                    for name, room in _rooms(connection)
                ),
            ):
                found.update((fingerprint, number) for fingerprint, number in connection.execute(query).all())
            fit = [each for each in sorted(found, key=lambda each: found[each]) if each not in but_not]
            return tuple(fit[:limit])

        return await self._database.read(read)

    async def work_off(self, fingerprint: str, *, at_s: float) -> GroupReport:
        """Process the waiting notifications of a group, in one transaction."""

        def process(connection: Connection) -> tuple[GroupReport, list[RunRow]]:
            lock(connection, fingerprint, kind=_GROUP_LOCK)
            notes = connection.execute(_of_group(fingerprint)).mappings().all()
            with readable():
                work = _Group(connection, fingerprint, at_s)
                done = work.through(notes)
            if done:
                numbers = [note["number"] for note in notes[:done]]
                connection.execute(delete(alert_notification).where(_NOTE.number.in_(numbers)))
            return GroupReport(work.effects, done, len(notes) - done, work.new_runs()), work.ended

        report, ended = await self._database.write(process)
        for row in ended:
            self._closed.notify(row)
        return report


class _Group:
    """The runs of one group, in the transaction that processes its notifications."""

    def __init__(self, connection: Connection, fingerprint: str, at_s: float) -> None:
        self.effects: dict[str, AlertEffect] = {}
        self.ended: list[RunRow] = []
        self._new: list[RunRequest] = []
        self._connection = connection
        self._at_s = at_s
        self._joinable = select(diagnosis_run).where(_RUN.fingerprint == fingerprint, text(JOINABLE))

    def through(self, notes: Sequence[RowMapping]) -> int:
        """Process the notifications in order, and return how many are done."""
        statuses = [AlertStatus(note["status"]) for note in notes]
        for place, (note, status) in enumerate(zip(notes, statuses, strict=True)):
            if status is AlertStatus.RESOLVED:
                self._resolve()
            elif not self._fire(note, ends_at_once=AlertStatus.RESOLVED in statuses[place:]):
                return place
        return len(notes)

    def new_runs(self) -> tuple[RunRequest, ...]:
        """The new runs that are still queued."""
        return tuple(each for each in self._new if self.effects[each.run_id] is AlertEffect.SUBMITTED)

    def _fire(self, note: RowMapping, *, ends_at_once: bool) -> bool:
        """Join the existing run or insert one; False if the caller may not have another run yet."""
        if (row := self._find_run()) is not None:
            self.effects.setdefault(row.run_id, AlertEffect.JOINED)
            return True
        limit = note["unfinished_max"]
        if limit is not None and not ends_at_once:
            lock(self._connection, note["asked_by"])
            if self._connection.execute(count_unfinished_query(note["asked_by"])).scalar_one() >= limit:
                return False
        # A column that was added after the notification was stored is NULL.
        request = request_of_row({**dict.fromkeys(_RUN.keys()), **from_json_text(note["request"])})
        start_by_s = request.start_by_s
        if start_by_s is not None:
            start_by_s += self._at_s - request.submitted_s
        request = replace(request, submitted_s=self._at_s, start_by_s=start_by_s)
        queued = {"status": RunStatus.QUEUED.value, "is_closed": False}
        if insert_if_absent(self._connection, diagnosis_run, {**request_columns(request), **queued}):
            self.effects[request.run_id] = AlertEffect.SUBMITTED
            self._new.append(request)
        return True

    def _resolve(self) -> None:
        """End the run if it is still queued. A claimed one continues, and is no longer joined."""
        row = self._find_run()
        if row is None:
            return
        cancel = CancelRequest(CancellationReason.USER_REQUESTED, self._at_s)
        if row.status is RunStatus.QUEUED and cancel_queued(
            self._connection, row, cancel, detail=_RESOLVED_EARLY
        ):
            self.effects[row.run_id] = AlertEffect.CANCELLED
            found = self._connection.execute(select(diagnosis_run).where(_RUN.run_id == row.run_id))
            self.ended.append(row_of(found.mappings().one()))
            return
        change = (
            update(diagnosis_run)
            .where(_RUN.run_id == row.run_id, _RUN.status == RunStatus.RUNNING.value)
            .values(alert_resolved_s=self._at_s)
        )
        if self._connection.execute(change).rowcount == 1:
            self.effects[row.run_id] = AlertEffect.LEFT_RUNNING

    def _find_run(self) -> RunRow | None:
        found = self._connection.execute(self._joinable).mappings().one_or_none()
        return None if found is None else row_of(found)


def _of_group(fingerprint: str, *, latest_first: bool = False) -> Select[Any]:
    order = _NOTE.number.desc() if latest_first else _NOTE.number
    query = select(alert_notification).where(_NOTE.fingerprint == fingerprint).order_by(order)
    return query.limit(1) if latest_first else query


_GROUPS = select(_NOTE.fingerprint, func.min(_NOTE.number)).group_by(_NOTE.fingerprint).order_by(text("2"))
_RESOLVED = _GROUPS.where(_NOTE.status == AlertStatus.RESOLVED.value)
_JOINING = _GROUPS.where(
    select(_RUN.run_id).where(_RUN.fingerprint == _NOTE.fingerprint, text(JOINABLE)).exists()
)


def _rooms(connection: Connection) -> list[tuple[str, int]]:
    """The callers of firing groups who may have more runs, and how many more."""
    callers = (
        select(_NOTE.asked_by, func.max(_NOTE.unfinished_max))
        .where(_NOTE.status == AlertStatus.FIRING.value)
        .group_by(_NOTE.asked_by)
    )
    rooms = []
    for name, most in connection.execute(callers).all():
        room = (
            sys.maxsize
            if most is None
            else most - connection.execute(count_unfinished_query(name)).scalar_one()
        )
        if room > 0:
            rooms.append((name, room))
    return rooms
