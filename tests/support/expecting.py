"""What the checks of the run store say when something does not hold."""

from __future__ import annotations

from collections.abc import Awaitable

from tests.support.rows import Kept

from diagnosis_harness.application.runs.row import RunRow
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure
from diagnosis_harness.trace.event import TraceName


def expect(*, holds: bool, what: str) -> None:
    """Fail, saying what should hold, where it does not."""
    if not holds:
        raise AssertionError(what)


async def row_of(kept: Kept, run_id: str = "r1") -> RunRow:
    """The row, which is there."""
    row = await kept.archive.run(run_id)
    if row is None:
        raise AssertionError(f"{run_id} has a row")
    return row


async def log_of(kept: Kept, run_id: str = "r1") -> list[TraceName]:
    """The names of the log, whose numbers have no gaps."""
    events = await kept.archive.events(run_id)
    expect(holds=[event.seq for event in events] == list(range(1, len(events) + 1)), what="seq has no gaps")
    return [event.name for event in events]


async def expect_refused(work: Awaitable[object], what: str) -> None:
    """Fail where a write is taken, or refused as anything but REJECTED."""
    try:
        await work
    except StoreFailure as failure:
        expect(holds=failure.kind is FailureKind.REJECTED, what=f"{what}, as REJECTED: {failure}")
        return
    raise AssertionError(what)
