"""Submits, finds and reads the runs of all processes, and cancels queued ones."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, Select, select, text, tuple_, update

from diagnosis_harness.adapters.persistence.evidence import read_records
from diagnosis_harness.adapters.persistence.failures import readable
from diagnosis_harness.adapters.persistence.insertion import count_unfinished_query, insert_run
from diagnosis_harness.adapters.persistence.log_rows import attempt_json, event_of_row
from diagnosis_harness.adapters.persistence.page_mark import page_mark_of, read_mark
from diagnosis_harness.adapters.persistence.queued_end import (
    cancel_queued,
    cancel_request_columns,
    end_queued,
)
from diagnosis_harness.adapters.persistence.rows import request_columns, row_of
from diagnosis_harness.adapters.persistence.schema import (
    JOINABLE,
    diagnosis_run,
    retry_attempt,
    trace_event,
)
from diagnosis_harness.adapters.persistence.sql_runs import SqlRuns
from diagnosis_harness.application.runs.early_end import ending_not_started
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.application.runs.row import CancelRequest, RunRow, RunStatus
from diagnosis_harness.application.runs.store import RunPage, RunQuery, Submitted
from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.report.timestamps import escape_line
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.trace.event import TraceEvent

_RUN = diagnosis_run.c
_LOG = logging.getLogger("diagnosis_harness.database")
_JOINS_MAX = 3  # a second conflict in a row is rare, a third means that runs end faster than we can join
_LOGGED_MAX = 1_000
"""Unreadable runs that are named in the log, so that a damaged table does not flood it."""
PAGE_MAX = 500
"""Rows of a page, so that one request stays within about a megabyte."""


class SqlRunArchive(SqlRuns):
    """`RunArchive`. `closed` is notified of runs that end here while they are queued."""

    async def submit(self, request: RunRequest) -> Submitted:
        """Insert a QUEUED row, or join the unfinished run of the same fingerprint or run id."""
        columns = {**request_columns(request), "status": RunStatus.QUEUED.value, "is_closed": False}

        def insert_or_join(connection: Connection) -> Submitted:
            # A conflicting run may end before we read it; then the next insert succeeds.
            for _ in range(_JOINS_MAX):
                is_new = insert_run(connection, columns, request)
                if row := _run_of_submission(connection, request):
                    return Submitted(row, is_new)
            raise StoreFailure("runs of this alert end too quickly to join", kind=FailureKind.UNAVAILABLE)

        return await self._database.write(insert_or_join)

    async def run(self, run_id: str) -> RunRow | None:
        """The row of a run, or None."""
        found = await self._mappings(select(diagnosis_run).where(_RUN.run_id == run_id))
        with readable():
            return next((row_of(row) for row in found), None)

    async def runs(self, query: RunQuery) -> RunPage:
        """A page of runs, the latest submission first.

        Raises:
            InvalidInput: `before` was not returned by an earlier page.
        """
        limit = min(max(query.limit, 1), PAGE_MAX)
        found = await self._mappings(_select_runs(query).limit(limit + 1))
        rows = self._readable_rows(found[:limit])
        return RunPage(rows, None if len(found) <= limit else _mark_after(found[:limit]))

    async def count_unfinished(self, asked_by: str) -> int:
        """How many runs of a caller are QUEUED or RUNNING."""
        query = count_unfinished_query(asked_by)
        return await self._database.read(lambda connection: int(connection.execute(query).scalar_one()))

    async def of_fingerprint(self, fingerprint: str) -> tuple[RunRow, ...]:
        """The unfinished runs that a submission of this fingerprint joins."""
        return self._readable_rows(await self._mappings(_of_fingerprint(fingerprint)))

    async def events(self, run_id: str, *, after_seq: int = 0, limit: int = 500) -> tuple[TraceEvent, ...]:
        """The run's written events after `after_seq`, in order."""
        log = trace_event.c
        query = (
            select(trace_event)
            .where(log.run_id == run_id, log.seq > after_seq)
            .order_by(log.seq)
            .limit(max(limit, 0))
        )
        rows = await self._mappings(query)
        with readable():
            return tuple(event_of_row(row) for row in rows)

    async def records(self, run_id: str) -> tuple[EvidenceRecord, ...]:
        """The run's canonical records, in the order in which they were begun."""
        if self._evidence is not None:
            return await self._evidence.records(run_id)
        return await read_records(self._database, run_id)

    async def attempts(self, run_id: str) -> tuple[JsonValue, ...]:
        """The run's retry attempts, in order, as JSON objects: seq, at_s, role, attempt, failure, error."""
        query = select(retry_attempt).where(retry_attempt.c.run_id == run_id).order_by(retry_attempt.c.seq)
        return tuple(attempt_json(row) for row in await self._mappings(query))

    async def request_cancel(self, run_id: str, cancel: CancelRequest) -> RunRow | None:
        """Record the first request for a run. A QUEUED run is cancelled and its log closed at once.

        Returns:
            The row afterwards; None if there is no such run.
        """
        query = select(diagnosis_run).where(_RUN.run_id == run_id)

        def record(connection: Connection) -> tuple[RunRow | None, bool]:
            row = _one(connection, query.with_for_update(key_share=True))
            if row is None or row.status.is_final or row.cancel_request is not None:
                return row, False
            if cancel_queued(connection, row, cancel):
                return _one(connection, query), True
            connection.execute(
                update(diagnosis_run).where(_RUN.run_id == run_id).values(cancel_request_columns(cancel))
            )
            return _one(connection, query), False

        row, has_ended = await self._database.write(record)
        if row is not None and has_ended:
            self._closed.notify(row)
        return row

    async def expire(self, run_id: str, *, at_s: float, is_served: bool) -> bool:
        """End a run that did not start in time and close its log, if it is still QUEUED.

        Returns:
            Whether this call ended it.
        """
        query = select(diagnosis_run).where(_RUN.run_id == run_id)

        def end(connection: Connection) -> RunRow | None:
            row = _one(connection, query.with_for_update(key_share=True))
            if row is None:
                return None
            ending = ending_not_started(row.request, at_s=at_s, is_served=is_served)
            return _one(connection, query) if end_queued(connection, run_id, ending) else None

        row = await self._database.write(end)
        if row is not None:
            self._closed.notify(row)
        return row is not None

    def _readable_rows(self, found: Sequence[RowMapping]) -> tuple[RunRow, ...]:
        """The rows of a list, without those that cannot be read, so that the others stay visible."""
        rows = []
        for row in found:
            try:
                with readable():
                    rows.append(row_of(row))
            except StoreFailure as failure:
                self._log_unreadable(str(row["run_id"]), failure)
        return tuple(rows)

    def _log_unreadable(self, run_id: str, failure: StoreFailure) -> None:
        """Once for each run, since lists are read again and again."""
        if run_id not in self._logged and len(self._logged) < _LOGGED_MAX:
            self._logged.add(run_id)
            _LOG.error("run %s is omitted from lists: %s", escape_line(run_id), failure)

    async def _mappings(self, query: Select[Any]) -> Sequence[RowMapping]:
        return await self._database.read(lambda connection: connection.execute(query).mappings().all())


def _mark_after(found: Sequence[RowMapping]) -> str | None:
    """The cursor after the last run of a page whose submission time and id can be read; None if none can."""
    places = ((row["submitted_s"], row["run_id"]) for row in reversed(found))
    return next(
        (
            page_mark_of(at_s, run_id)
            for at_s, run_id in places
            if isinstance(at_s, float) and is_safe_segment(run_id)
        ),
        None,
    )


def _select_runs(query: RunQuery) -> Select[Any]:
    wanted = select(diagnosis_run).order_by(_RUN.submitted_s.desc(), _RUN.run_id.desc())
    for column, value in (
        (_RUN.asked_by, query.asked_by),
        (_RUN.session_id, query.session_id),
        (_RUN.status, query.status and query.status.value),
        (_RUN.release_outcome, query.outcome and query.outcome.value),
        (_RUN.intent, query.intent and query.intent.value),
    ):
        if value is not None:
            wanted = wanted.where(column == value)
    if query.asked_by_any:
        wanted = wanted.where(_RUN.asked_by.in_(query.asked_by_any))
    if query.submitted_from_s is not None:
        wanted = wanted.where(_RUN.submitted_s >= query.submitted_from_s)
    if query.submitted_before_s is not None:
        wanted = wanted.where(_RUN.submitted_s < query.submitted_before_s)
    if query.before is not None:
        wanted = wanted.where(tuple_(_RUN.submitted_s, _RUN.run_id) < read_mark(query.before))
    return wanted


def _of_fingerprint(fingerprint: str) -> Select[Any]:
    return select(diagnosis_run).where(_RUN.fingerprint == fingerprint, text(JOINABLE))


def _run_of_submission(connection: Connection, request: RunRequest) -> RunRow | None:
    """The run of a submission: its own row, or an unfinished one of the same alert group."""
    own = _one(connection, select(diagnosis_run).where(_RUN.run_id == request.run_id))
    if own is not None or request.fingerprint is None:
        return own
    return _one(connection, _of_fingerprint(request.fingerprint))


def _one(connection: Connection, query: Select[Any]) -> RunRow | None:
    found = connection.execute(query).mappings().one_or_none()
    with readable():
        return None if found is None else row_of(found)
