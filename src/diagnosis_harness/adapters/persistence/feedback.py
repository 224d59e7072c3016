"""Feedback about runs, in the database of the runs."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.failures import readable
from diagnosis_harness.adapters.persistence.insertion import dialect_of
from diagnosis_harness.adapters.persistence.schema import run_feedback
from diagnosis_harness.application.runs.feedback import Feedback, FeedbackVerdict

_COLUMN = run_feedback.c


class SqlFeedbackStore:
    """`FeedbackStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, feedback: Feedback) -> None:
        """Insert the row, or replace the caller's earlier one."""
        verdict = {
            "verdict": feedback.verdict.value,
            "cause": feedback.cause,
            "note": feedback.note,
            "given_s": feedback.given_s,
        }
        key = {"run_id": feedback.run_id, "given_by": feedback.given_by}

        def put(connection: Connection) -> None:
            statement = dialect_of(connection).insert(run_feedback).values({**key, **verdict})
            connection.execute(statement.on_conflict_do_update(index_elements=list(key), set_=verdict))

        await self._database.write(put)

    async def of_run(self, run_id: str) -> tuple[Feedback, ...]:
        """The rows of a run, the earliest first."""
        query = (
            select(run_feedback).where(_COLUMN.run_id == run_id).order_by(_COLUMN.given_s, _COLUMN.given_by)
        )
        rows = await self._database.read(lambda connection: connection.execute(query).mappings().all())
        with readable():
            return tuple(Feedback(**{**row, "verdict": FeedbackVerdict(row["verdict"])}) for row in rows)

    async def remove(self, run_id: str, given_by: str) -> bool:
        """Delete a caller's row."""
        statement = delete(run_feedback).where(_COLUMN.run_id == run_id, _COLUMN.given_by == given_by)
        return await self._database.write(lambda connection: connection.execute(statement).rowcount == 1)
