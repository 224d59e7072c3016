"""Heartbeats and cancellation requests, and the end of runs whose process is dead."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Select, and_, delete, func, select, update

from diagnosis_harness.adapters.persistence.evidence import abandon_records
from diagnosis_harness.adapters.persistence.failures import readable
from diagnosis_harness.adapters.persistence.insertion import dialect_of
from diagnosis_harness.adapters.persistence.json_text import from_json_text, json_text, maybe_json_text
from diagnosis_harness.adapters.persistence.log_rows import append
from diagnosis_harness.adapters.persistence.rows import ending_columns, row_of
from diagnosis_harness.adapters.persistence.schema import diagnosis_run, retry_attempt, trace_event, worker
from diagnosis_harness.adapters.persistence.sql_runs import SqlRuns
from diagnosis_harness.application.runs.early_end import closing_events, ending_of_abandoned
from diagnosis_harness.application.runs.row import CancelRequest, RunRow, RunSpent, RunStatus
from diagnosis_harness.application.runs.sources import Lane, SourceBacklog
from diagnosis_harness.application.runs.store import Heartbeat, QueuedRun
from diagnosis_harness.harness.retry_policy import RetryRole
from diagnosis_harness.harness.termination import CancellationReason, RunState, RunTermination
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.trace.event import TraceEventStatus, TraceName

_RUN = diagnosis_run.c
_EVENT = trace_event.c
_QUEUED = select(_RUN.run_id, _RUN.source, _RUN.source_identity).where(_RUN.status == RunStatus.QUEUED.value)
# A QUEUED run has no owner: one that has an owner and is not closed is RUNNING, or ended with an open log.
_OPEN = (_RUN.owner.is_not(None), ~_RUN.is_closed)


class SqlRunRecovery(SqlRuns):
    """`RunRecovery`. `closed` is notified of runs that are abandoned here."""

    async def record_heartbeat(
        self, owner: str, *, at_s: float, lanes: Collection[Lane] | None = None
    ) -> None:
        """Record that this process incarnation is alive, and which runs it takes."""
        values = {"beat_at_s": at_s, "lanes": maybe_json_text(None if lanes is None else sorted(lanes))}

        def upsert(connection: Connection) -> None:
            statement = dialect_of(connection).insert(worker).values(owner=owner, **values)
            connection.execute(statement.on_conflict_do_update(index_elements=[worker.c.owner], set_=values))

        await self._database.write(upsert)

    async def sign_off(self, owner: str) -> None:
        """Record that the process stops; runs that it still owns count as orphaned."""
        statement = delete(worker).where(worker.c.owner == owner)
        await self._database.write(lambda connection: connection.execute(statement).rowcount)

    async def cancel_requests(self, owner: str) -> tuple[tuple[str, CancelRequest], ...]:
        """Requests to cancel RUNNING runs of this process that it has not answered, the oldest first."""
        query = (
            select(_RUN.run_id, _RUN.wish_reason, _RUN.wish_at_s)
            .where(
                *_OPEN,
                _RUN.owner == owner,
                _RUN.status == RunStatus.RUNNING.value,
                _RUN.wish_reason.is_not(None),
                _RUN.cancel_answer.is_(None),
            )
            .order_by(_RUN.wish_at_s, _RUN.run_id)
        )
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        with readable():
            return tuple(
                (run_id, CancelRequest(CancellationReason(reason), at_s)) for run_id, reason, at_s in rows
            )

    async def answer_cancel_request(self, run_id: str, answer: JsonValue) -> None:
        """Store the owner's answer to a cancellation request; the first answer is kept."""
        statement = (
            update(diagnosis_run)
            .where(_RUN.run_id == run_id, _RUN.cancel_answer.is_(None))
            .values(cancel_answer=json_text(answer))
        )
        await self._database.write(lambda connection: connection.execute(statement).rowcount)

    async def running(self, owner: str) -> tuple[str, ...]:
        """The RUNNING runs of a process, and those that ended and are not closed."""
        query = select(_RUN.run_id).where(*_OPEN, _RUN.owner == owner).order_by(_RUN.started_s, _RUN.run_id)
        return tuple(await self._database.read(lambda connection: connection.execute(query).scalars().all()))

    async def heartbeats(self) -> Mapping[str, Heartbeat]:
        """The last heartbeat of every process that has one or owns a RUNNING or unclosed run."""

        def read(connection: Connection) -> Mapping[str, Heartbeat]:
            # Owners first: a process that claims a run in between has already recorded a heartbeat.
            at_work = set(connection.execute(select(_RUN.owner).distinct().where(*_OPEN)).scalars())
            rows = connection.execute(select(worker.c.owner, worker.c.beat_at_s, worker.c.lanes))
            recorded = {row.owner: (row.beat_at_s, _lanes(row.lanes)) for row in rows}
            return {
                owner: Heartbeat(value, owner in at_work, lanes)
                for owner in sorted(recorded.keys() | at_work)
                for value, lanes in [recorded.get(owner, (None, None))]
            }

        return await self._database.read(read)

    async def forget(self, owner: str, *, value: float) -> None:
        """Delete a heartbeat if it is still the last one and its process owns no RUNNING or unclosed run."""
        has_work = select(_RUN.run_id).where(*_OPEN, _RUN.owner == owner).exists()
        statement = delete(worker).where(worker.c.owner == owner, worker.c.beat_at_s == value, ~has_work)
        await self._database.write(lambda connection: connection.execute(statement).rowcount)

    async def abandon(self, run_id: str, *, owner: str, at_s: float) -> bool:
        """End a run whose process is dead or has lost it, in one transaction.

        A RUNNING row becomes FAILED / INTERNAL_FAILURE, with the termination of RUN_ENDED if its log has one.
        Records outside the database are ended just before. If that store is unavailable, they stay PROJECTING
        there, and readers see them as abandoned (`runs.document.records_to_show`).

        Returns:
            Whether this call changed anything.
        """
        if self._evidence is not None and run_id in await self.running(owner):
            with suppress(StoreFailure):
                await self._evidence.abandon(run_id, at_s=at_s)
        query = select(diagnosis_run).where(*_OPEN, _RUN.run_id == run_id, _RUN.owner == owner)

        def end(connection: Connection) -> RunRow | None:
            found = connection.execute(query.with_for_update(key_share=True)).mappings().one_or_none()
            if found is None:
                return None
            with readable():
                return _end_run(connection, row_of(found), at_s=at_s)

        row = await self._database.write(end)
        if row is not None:
            self._closed.notify(row)
        return row is not None

    async def waiting(
        self, *, submitted_before_s: float, without: Collection[SourceBacklog] = (), limit: int = 100
    ) -> Sequence[QueuedRun]:
        """QUEUED runs submitted before that time that need none of these sources, the oldest first."""
        others = [
            ~and_(
                _RUN.source.is_not_distinct_from(each.name),
                _RUN.source_identity.is_not_distinct_from(each.identity),
            )
            for each in without
        ]
        return await self._select_queued(_QUEUED.where(_RUN.submitted_s < submitted_before_s, *others), limit)

    async def overdue(self, *, at_s: float, limit: int = 100) -> Sequence[QueuedRun]:
        """QUEUED runs that should have started by then, the oldest first."""
        return await self._select_queued(_QUEUED.where(_RUN.start_by_s <= at_s), limit)

    async def backlog(self) -> Sequence[SourceBacklog]:
        """How many runs are QUEUED for each source."""
        source = (_RUN.source, _RUN.source_identity)
        query = select(*source, func.count()).where(_RUN.status == RunStatus.QUEUED.value).group_by(*source)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return tuple(SourceBacklog(name, identity, int(runs)) for name, identity, runs in rows)

    async def _select_queued(self, query: Select[Any], limit: int) -> Sequence[QueuedRun]:
        query = query.order_by(_RUN.submitted_s, _RUN.run_id).limit(max(limit, 0))
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return tuple(QueuedRun(run_id, name, identity) for run_id, name, identity in rows)


def _lanes(text: str | None) -> frozenset[Lane] | None:
    lanes = from_json_text(text)
    return frozenset(str(lane) for lane in lanes) if isinstance(lanes, list) else None


def _end_run(connection: Connection, row: RunRow, *, at_s: float) -> RunRow:
    """End the run, its open records and its log, and return the row, which is locked."""
    log = connection.execute(_last_event(row.run_id)).mappings().all()
    last = (log[0]["seq"], log[0]["at_s"]) if log else (0, row.started_s or at_s)
    ended = _termination_in_log(connection, row.run_id)
    at_s = max(at_s, last[1])
    abandon_records(connection, row.run_id, at_s=at_s)
    ending = row.ending or ending_of_abandoned(
        row.request,
        _estimate_spent(connection, row, at_s=at_s if ended is None else ended.at_s),
        at_s=at_s,
        ended=ended,
    )
    append(connection, closing_events(row.run_id, ending, after=last, ended_is_logged=ended is not None))
    change = update(diagnosis_run).where(_RUN.run_id == row.run_id).values(is_closed=True)
    if row.ending is None:
        change = change.values(ending_columns(ending))
    connection.execute(change)
    return replace(row, status=ending.status, ending=ending, is_closed=True)


def _last_event(run_id: str) -> Select[Any]:
    return select(_EVENT.seq, _EVENT.at_s).where(_EVENT.run_id == run_id).order_by(_EVENT.seq.desc()).limit(1)


def _termination_in_log(connection: Connection, run_id: str) -> RunTermination | None:
    """The termination that the run's log has, if it has RUN_ENDED."""
    query = (
        select(_EVENT.payload)
        .where(_EVENT.run_id == run_id, _EVENT.name == TraceName.RUN_ENDED.value)
        .limit(1)
    )
    text = connection.execute(query).scalar_one_or_none()
    if text is None:
        return None
    payload: Mapping[str, Any] = from_json_text(text)
    reason = payload["reason"]
    return RunTermination(
        RunState(payload["state"]),
        None if reason is None else CancellationReason(reason),
        payload["at_s"],
        payload["detail"],
    )


def _estimate_spent(connection: Connection, row: RunRow, *, at_s: float) -> RunSpent:
    """What the log shows of a run whose usage counters are lost: a lower bound, marked as an estimate."""
    query = (
        select(_EVENT.name, _EVENT.status, func.count())
        .where(_EVENT.run_id == row.run_id)
        .group_by(_EVENT.name, _EVENT.status)
    )
    counts = {(name, status): int(count) for name, status, count in connection.execute(query).all()}
    started = TraceEventStatus.STARTED.value
    return RunSpent(
        duration_s=max(0.0, at_s - (at_s if row.started_s is None else row.started_s)),
        agent_steps=counts.get((TraceName.AGENT_MODEL_STEP.value, started), 0),
        tool_calls=counts.get((TraceName.TOOL_INVOCATION.value, started), 0),
        llm_calls=int(connection.execute(_role_attempts(row.run_id)).scalar_one())
        + sum(count for (name, _), count in counts.items() if name == TraceName.LLM_CALL.value),
        is_estimated=True,
    )


def _role_attempts(run_id: str) -> Select[Any]:
    """Attempts of roles: each costs one llm call, whichever implementation has the role."""
    attempt = retry_attempt.c
    return (
        select(func.count())
        .select_from(retry_attempt)
        .where(attempt.run_id == run_id, attempt.role != RetryRole.TOOL.value)
    )
