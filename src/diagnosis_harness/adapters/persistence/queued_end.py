"""The end of a run that is queued still, in one conditional update: one that was claimed never ends so."""

from __future__ import annotations

from sqlalchemy import Connection, update

from diagnosis_harness.adapters.persistence.log_rows import append
from diagnosis_harness.adapters.persistence.rows import Columns, ending_columns
from diagnosis_harness.adapters.persistence.schema import diagnosis_run
from diagnosis_harness.application.runs.early_end import BEFORE_IT_BEGAN, closing_events, ended_in_queue
from diagnosis_harness.application.runs.row import CancelWish, RunEnding, RunRow, RunStatus

_RUN = diagnosis_run.c


def wish_columns(wish: CancelWish) -> Columns:
    """A wish, as columns."""
    return {"wish_reason": wish.reason.value, "wish_at_s": wish.at_s}


def cancel_queued(
    connection: Connection, row: RunRow, wish: CancelWish, *, detail: str = BEFORE_IT_BEGAN
) -> bool:
    """End the run as a wish has it and close its log, if its row is still QUEUED; else change nothing.

    Args:
        detail: of the termination: what met the run.

    Returns:
        Whether it ended here.
    """
    ending = ended_in_queue(row.request, wish, detail=detail)
    return end_queued(connection, row.run_id, ending, wish_columns(wish))


def end_queued(connection: Connection, run_id: str, ending: RunEnding, also: Columns | None = None) -> bool:
    """End the run and close its log, if its row is still QUEUED; else change nothing.

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
    append(connection, closing_events(run_id, ending, after=after, ended_is_told=True))
    return True
