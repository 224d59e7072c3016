"""Ends a run that is still queued, in one conditional update that never ends a claimed run."""

from __future__ import annotations

from sqlalchemy import Connection, update

from diagnosis_harness.adapters.persistence.log_rows import append
from diagnosis_harness.adapters.persistence.rows import Columns, ending_columns
from diagnosis_harness.adapters.persistence.schema import diagnosis_run
from diagnosis_harness.application.runs.early_end import BEFORE_IT_BEGAN, closing_events, ending_in_queue
from diagnosis_harness.application.runs.row import CancelRequest, RunEnding, RunRow, RunStatus

_RUN = diagnosis_run.c


def cancel_request_columns(cancel: CancelRequest) -> Columns:
    """The request as columns, which still have its former name."""
    return {"wish_reason": cancel.reason.value, "wish_at_s": cancel.at_s}


def cancel_queued(
    connection: Connection, row: RunRow, cancel: CancelRequest, *, detail: str = BEFORE_IT_BEGAN
) -> bool:
    """Cancel the run and close its log if its row is still QUEUED; else change nothing.

    Args:
        detail: of the termination.

    Returns:
        Whether it ended here.
    """
    ending = ending_in_queue(row.request, cancel, detail=detail)
    return end_queued(connection, row.run_id, ending, cancel_request_columns(cancel))


def end_queued(connection: Connection, run_id: str, ending: RunEnding, also: Columns | None = None) -> bool:
    """End the run and close its log if its row is still QUEUED; else change nothing.

    Args:
        also: further columns to set.

    Returns:
        Whether it ended here.
    """
    change = (
        update(diagnosis_run)
        .where(_RUN.run_id == run_id, _RUN.status == RunStatus.QUEUED.value)
        .values(**(also or {}), **ending_columns(ending), is_closed=True)
    )
    if connection.execute(change).rowcount != 1:
        return False
    after = (0, ending.termination.at_s)
    append(connection, closing_events(run_id, ending, after=after, ended_is_logged=True))
    return True
