"""What processes know of each other, and how one ends the runs of another that is gone."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Select, and_, delete, func, select, update

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.evidence import abandon
from diagnosis_harness.adapters.persistence.failures import readable
from diagnosis_harness.adapters.persistence.insertion import dialect_of
from diagnosis_harness.adapters.persistence.json_text import from_json_text, json_text, maybe_json_text
from diagnosis_harness.adapters.persistence.log_rows import append
from diagnosis_harness.adapters.persistence.rows import ending_columns, row_of
from diagnosis_harness.adapters.persistence.schema import diagnosis_run, retry_attempt, trace_event, worker
from diagnosis_harness.application.runs.closed_runs import ClosedRuns
from diagnosis_harness.application.runs.early_end import closing_events, given_up
from diagnosis_harness.application.runs.evidence_archive import EvidenceArchive
from diagnosis_harness.application.runs.row import CancelWish, RunRow, RunSpent, RunStatus
from diagnosis_harness.application.runs.sources import Lane, SourceBacklog
from diagnosis_harness.application.runs.store import Beat, Waiting
from diagnosis_harness.harness.retry_policy import RetryRole
from diagnosis_harness.harness.termination import CancellationReason, RunState, RunTermination
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.trace.event import TraceEventStatus, TraceName

_RUN = diagnosis_run.c
_LOG = trace_event.c
_QUEUED = select(_RUN.run_id, _RUN.source, _RUN.source_identity).where(_RUN.status == RunStatus.QUEUED.value)
# QUEUED has no owner: what has one and is not closed is RUNNING, or ended and its log still open.
_OPEN = (_RUN.owner.is_not(None), ~_RUN.is_closed)


class SqlRunCare:
    """`RunCare`.

    Args:
        evidence: where the records are, unless they are in the database.
        closed: told of every run that is given up here.
    """

    def __init__(
        self,
        database: Database,
        *,
        evidence: EvidenceArchive | None = None,
        closed: ClosedRuns | None = None,
    ) -> None:
        self._database = database
        self._evidence = evidence
        self._closed = closed or ClosedRuns()

    async def beat(self, owner: str, *, at_s: float, lanes: Collection[Lane] | None = None) -> None:
        """Say that this process incarnation lives, and which runs it takes."""
        said = {"beat_at_s": at_s, "lanes": maybe_json_text(None if lanes is None else sorted(lanes))}

        def beaten(connection: Connection) -> None:
            statement = dialect_of(connection).insert(worker).values(owner=owner, **said)
            connection.execute(statement.on_conflict_do_update(index_elements=[worker.c.owner], set_=said))

        await self._database.write(beaten)

    async def left(self, owner: str) -> None:
        """Say that it goes; what it leaves behind open counts as a dead process's from now on."""
        statement = delete(worker).where(worker.c.owner == owner)
        await self._database.write(lambda connection: connection.execute(statement).rowcount)

    async def wishes(self, owner: str) -> tuple[tuple[str, CancelWish], ...]:
        """Cancels that were asked for of RUNNING runs of this process, and that it has not answered."""
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
                (run_id, CancelWish(CancellationReason(reason), at_s)) for run_id, reason, at_s in rows
            )

    async def answer_wish(self, run_id: str, answer: JsonValue) -> None:
        """Keep what the owner said to a cancel; the first answer stands."""
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

    async def beats(self) -> Mapping[str, Beat]:
        """What every process said last, of those that beat or own a RUNNING or unclosed run."""

        def looked(connection: Connection) -> Mapping[str, Beat]:
            # First who has work: one that begins to work in between has said before that it lives.
            at_work = set(connection.execute(select(_RUN.owner).distinct().where(*_OPEN)).scalars())
            rows = connection.execute(select(worker.c.owner, worker.c.beat_at_s, worker.c.lanes))
            said = {row.owner: (row.beat_at_s, _lanes(row.lanes)) for row in rows}
            return {
                owner: Beat(value, owner in at_work, lanes)
                for owner in sorted(said.keys() | at_work)
                for value, lanes in [said.get(owner, (None, None))]
            }

        return await self._database.read(looked)

    async def forget(self, owner: str, *, value: float) -> None:
        """Take out what a process said last, if it is still that and it owns no RUNNING or unclosed run."""
        has_work = select(_RUN.run_id).where(*_OPEN, _RUN.owner == owner).exists()
        statement = delete(worker).where(worker.c.owner == owner, worker.c.beat_at_s == value, ~has_work)
        await self._database.write(lambda connection: connection.execute(statement).rowcount)

    async def give_up(self, run_id: str, *, owner: str, at_s: float) -> bool:
        """End a run of a process that is dead, or that has lost it: all of it or nothing.

        A RUNNING row becomes FAILED / INTERNAL_FAILURE; where RUN_ENDED stands in its log, that termination
        stands in the row. Records elsewhere than in the database are ended just before; where that store is
        away they stay PROJECTING there, and are shown as what they became (`runs.document.settled`).

        Returns:
            Whether this call changed anything.
        """
        if self._evidence is not None and run_id in await self.running(owner):
            with suppress(StoreFailure):
                await self._evidence.abandon(run_id, at_s=at_s)
        query = select(diagnosis_run).where(*_OPEN, _RUN.run_id == run_id, _RUN.owner == owner)

        def given(connection: Connection) -> RunRow | None:
            found = connection.execute(query.with_for_update(key_share=True)).mappings().one_or_none()
            if found is None:
                return None
            with readable():
                return _end(connection, row_of(found), at_s=at_s)

        row = await self._database.write(given)
        if row is not None:
            self._closed.tell(row)
        return row is not None

    async def waiting(
        self, *, submitted_before_s: float, without: Collection[SourceBacklog] = (), limit: int = 100
    ) -> Sequence[Waiting]:
        """QUEUED runs that have waited so long and look into none of these sources, the oldest first."""
        others = [
            ~and_(
                _RUN.source.is_not_distinct_from(each.name),
                _RUN.source_identity.is_not_distinct_from(each.identity),
            )
            for each in without
        ]
        return await self._queued(_QUEUED.where(_RUN.submitted_s < submitted_before_s, *others), limit)

    async def overdue(self, *, at_s: float, limit: int = 100) -> Sequence[Waiting]:
        """QUEUED runs that should have begun by then, the oldest first."""
        return await self._queued(_QUEUED.where(_RUN.start_by_s <= at_s), limit)

    async def backlog(self) -> Sequence[SourceBacklog]:
        """How many runs are QUEUED, source by source."""
        asked = (_RUN.source, _RUN.source_identity)
        query = select(*asked, func.count()).where(_RUN.status == RunStatus.QUEUED.value).group_by(*asked)
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return tuple(SourceBacklog(name, identity, int(runs)) for name, identity, runs in rows)

    async def _queued(self, query: Select[Any], limit: int) -> Sequence[Waiting]:
        query = query.order_by(_RUN.submitted_s, _RUN.run_id).limit(max(limit, 0))
        rows = await self._database.read(lambda connection: connection.execute(query).all())
        return tuple(Waiting(run_id, name, identity) for run_id, name, identity in rows)


def _lanes(text: str | None) -> frozenset[Lane] | None:
    held = from_json_text(text)
    return None if not isinstance(held, list) else frozenset(str(lane) for lane in held)


def _end(connection: Connection, row: RunRow, *, at_s: float) -> RunRow:
    """End the run where it has not ended, its records, and its log; the row is locked. The row then."""
    log = connection.execute(_tail(row.run_id)).mappings().all()
    last = (log[0]["seq"], log[0]["at_s"]) if log else (0, row.started_s or at_s)
    told = _told(connection, row.run_id)
    at_s = max(at_s, last[1])
    abandon(connection, row.run_id, at_s=at_s)
    ending = row.ending or given_up(
        row.request,
        _spent(connection, row, at_s=at_s if told is None else told.at_s),
        at_s=at_s,
        ended=told,
    )
    append(connection, closing_events(row.run_id, ending, after=last, ended_is_told=told is not None))
    change = update(diagnosis_run).where(_RUN.run_id == row.run_id).values(is_closed=True)
    if row.ending is None:
        change = change.values(ending_columns(ending))
    connection.execute(change)
    return replace(row, status=ending.status, ending=ending, is_closed=True)


def _tail(run_id: str) -> Select[Any]:
    return select(_LOG.seq, _LOG.at_s).where(_LOG.run_id == run_id).order_by(_LOG.seq.desc()).limit(1)


def _told(connection: Connection, run_id: str) -> RunTermination | None:
    """The termination that the run's own log tells of."""
    query = select(_LOG.payload).where(_LOG.run_id == run_id, _LOG.name == TraceName.RUN_ENDED.value).limit(1)
    text = connection.execute(query).scalar_one_or_none()
    if text is None:
        return None
    told: Mapping[str, Any] = from_json_text(text)
    reason = told["reason"]
    return RunTermination(
        RunState(told["state"]),
        None if reason is None else CancellationReason(reason),
        told["at_s"],
        told["detail"],
    )


def _spent(connection: Connection, row: RunRow, *, at_s: float) -> RunSpent:
    """What the log shows of a run whose own account is lost: a lower bound, and said to be an estimate."""
    query = (
        select(_LOG.name, _LOG.status, func.count())
        .where(_LOG.run_id == row.run_id)
        .group_by(_LOG.name, _LOG.status)
    )
    counts = {(name, status): int(count) for name, status, count in connection.execute(query).all()}
    begun = TraceEventStatus.STARTED.value
    return RunSpent(
        duration_s=max(0.0, at_s - (at_s if row.started_s is None else row.started_s)),
        agent_steps=counts.get((TraceName.AGENT_MODEL_STEP.value, begun), 0),
        tool_calls=counts.get((TraceName.TOOL_INVOCATION.value, begun), 0),
        llm_calls=int(connection.execute(_asked(row.run_id)).scalar_one())
        + sum(count for (name, _), count in counts.items() if name == TraceName.LLM_CALL.value),
        is_estimated=True,
    )


def _asked(run_id: str) -> Select[Any]:
    """How often a role was asked: each attempt of one costs an llm call, whoever plays it."""
    attempt = retry_attempt.c
    return (
        select(func.count())
        .select_from(retry_attempt)
        .where(attempt.run_id == run_id, attempt.role != RetryRole.TOOL.value)
    )
