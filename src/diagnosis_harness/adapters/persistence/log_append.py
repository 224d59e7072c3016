"""Writes one batch of events in one transaction, which checks the fence of each run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, bindparam, select, update

from diagnosis_harness.adapters.persistence.log_rows import append, event_columns
from diagnosis_harness.adapters.persistence.schema import diagnosis_run, trace_event
from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure
from diagnosis_harness.trace.event import TraceEvent, TraceName

Batch: TypeAlias = dict[str, tuple[TraceEvent, ...]]

_RUN = diagnosis_run.c
_FENCES = (
    select(_RUN.run_id, _RUN.owner, _RUN.status, _RUN.is_closed)
    .where(_RUN.run_id.in_(bindparam("run_ids", expanding=True)))
    .order_by(_RUN.run_id)  # all transactions lock rows in this order
    .with_for_update(key_share=True)
)
_CLOSE = (
    update(diagnosis_run).where(_RUN.run_id.in_(bindparam("run_ids", expanding=True))).values(is_closed=True)
)


def append_fenced(
    connection: Connection,
    batch: Mapping[str, Sequence[TraceEvent]],
    *,
    owner: str,
    in_doubt: AbstractSet[str],
) -> dict[str, StoreFailure]:
    """Write the events of the runs that this process still owns; RUN_FINISHED closes its run.

    Args:
        in_doubt: runs whose events may already be written, by a commit whose answer was lost.

    Returns:
        The runs for which nothing was written, and why.
    """
    rows = {row.run_id: row for row in connection.execute(_FENCES, {"run_ids": sorted(batch)})}
    lost: dict[str, StoreFailure] = {}
    fit: list[TraceEvent] = []
    finished: list[str] = []
    for run_id, events in batch.items():
        left = _not_written(connection, events) if run_id in in_doubt else events
        if not left:
            continue
        if problem := _problem(rows.get(run_id), left, owner=owner):
            lost[run_id] = StoreFailure(problem, kind=FailureKind.REJECTED)
            continue
        fit.extend(left)
        if left[-1].name is TraceName.RUN_FINISHED:
            finished.append(run_id)
    append(connection, fit)
    if finished:
        connection.execute(_CLOSE, {"run_ids": finished})
    return lost


def _problem(row: Row[*tuple[Any, ...]] | None, events: Sequence[TraceEvent], *, owner: str) -> str | None:
    """Why nothing more may be written for a run; None if it may."""
    if row is None:
        return "the run has no row"
    if row.owner != owner or row.is_closed:
        return "this process no longer owns the run"
    if row.status == RunStatus.RUNNING.value and events[-1].name is TraceName.RUN_FINISHED:
        return "RUN_FINISHED came before the run's end was stored"
    return None


def _not_written(connection: Connection, events: Sequence[TraceEvent]) -> Sequence[TraceEvent]:
    """The events without those that the log already has."""
    log = trace_event.c
    query = (
        select(trace_event)
        .where(log.run_id == events[0].run_id, log.seq >= events[0].seq)
        .order_by(log.seq)
        .limit(len(events))
    )
    logged = [dict(row) for row in connection.execute(query).mappings()]
    written = 0
    while written < len(logged) and logged[written] == event_columns(events[written]):
        written += 1
    return events[written:]
