"""Reads what the next turn gets from earlier ones, before the run exists (seed: lifecycle §2)."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.previous_turn import (
    EarlierRun,
    NoPreviousTurn,
    PreviousTurn,
    PublishedResultPolicy,
)
from diagnosis_harness.application.router import TURNS_MAX
from diagnosis_harness.application.routing import RoutingTurn
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.application.runs.row import RunRow
from diagnosis_harness.application.runs.store import RunArchive, RunQuery


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The earlier turns, oldest first, and what the latest diagnosis passes on, or why it does not."""

    history: tuple[RoutingTurn, ...] = ()
    previous: PreviousTurn | NoPreviousTurn = NoPreviousTurn.NO_DIAGNOSIS


async def read_session(archive: RunArchive, request: RunRequest) -> SessionContext:
    """The context of a request, only from this session and this caller.

    Raises:
        StoreFailure: it cannot be read.
    """
    mine = RunQuery(asked_by=request.asked_by.name, session_id=request.session_id, limit=TURNS_MAX + 1)
    latest = [row for row in (await archive.runs(mine)).rows if row.run_id != request.run_id]
    if not latest:
        return SessionContext()
    turns = [RoutingTurn(row.request.question, row.intent) for row in latest if row.intent is not None]
    previous = await previous_of(archive, request.session_id, asked_by=request.asked_by.name)
    return SessionContext(tuple(reversed(turns[:TURNS_MAX])), previous)


async def previous_of(
    archive: RunArchive, session_id: str, *, asked_by: str
) -> PreviousTurn | NoPreviousTurn:
    """What the next turn of a caller in a session will see.

    Raises:
        StoreFailure: it cannot be read.
    """
    diagnoses = RunQuery(asked_by=asked_by, session_id=session_id, intent=IntentType.DIAGNOSIS, limit=1)
    rows = (await archive.runs(diagnoses)).rows
    return PublishedResultPolicy().previous_turn(session_id, [_earlier(row) for row in rows])


def _earlier(row: RunRow) -> EarlierRun:
    return EarlierRun(
        session_id=row.request.session_id,
        run_id=row.run_id,
        intent=row.intent,
        outcome=row.ending.outcome if row.ending else None,
        published_result=row.ending.published_result if row.ending else None,
    )
