"""Writes the row of an active run, for the process that owns it: one conditional statement each."""

from __future__ import annotations

from sqlalchemy import Connection, Update, update

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.insertion import insert_run
from diagnosis_harness.adapters.persistence.rows import ending_columns, request_columns
from diagnosis_harness.adapters.persistence.schema import diagnosis_run
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.application.runs.row import RunEnding, RunStatus
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import ContractViolation, FailureKind, StoreFailure

_RUN = diagnosis_run.c


class SqlRunStore:
    """`RunStore` of one process incarnation."""

    def __init__(self, database: Database, *, owner: str) -> None:
        self._database = database
        self._owner = owner

    async def begin(self, ctx: RunContext, request: RunRequest, *, owner: str, at_s: float) -> bool:
        """Make the row RUNNING and this process its owner.

        Returns:
            False if the run was already claimed, cancelled or ended.

        Raises:
            TooManyRuns: it is a new row, and one more than its caller may have.
            ContractViolation: the request is not that of the run, or the owner is not that of this store.
        """
        if owner != self._owner or request.run_id != ctx.run_id:
            raise ContractViolation("a store can only begin runs of its own process, each under its own id")
        claim = {"status": RunStatus.RUNNING.value, "owner": owner, "started_s": at_s}
        columns = {**request_columns(request), **claim, "is_closed": False}
        queued = (
            update(diagnosis_run)
            .where(
                _RUN.run_id == request.run_id,
                _RUN.status == RunStatus.QUEUED.value,
                _RUN.wish_reason.is_(None),
            )
            .values(claim)
        )

        def begin_row(connection: Connection) -> bool:
            # The insert conflicts with a queued row, which was counted when it was submitted.
            return insert_run(connection, columns, request) or connection.execute(queued).rowcount == 1

        return await self._database.write(begin_row)

    async def record_intent(self, ctx: RunContext, intent: IntentType) -> None:
        """Record the intent.

        Raises:
            StoreFailure: also if this process no longer owns the run (REJECTED).
        """
        if not await self._update(self._running(ctx).values(intent=intent.value)):
            raise StoreFailure("this process no longer owns the run", kind=FailureKind.REJECTED)

    async def finish(self, ctx: RunContext, ending: RunEnding) -> bool:
        """Write the end in one conditional update; the first end is kept.

        Returns:
            False if the row has another end.
        """
        return await self._update(self._running(ctx).values(ending_columns(ending)))

    def _running(self, ctx: RunContext) -> Update:
        return update(diagnosis_run).where(
            _RUN.run_id == ctx.run_id, _RUN.status == RunStatus.RUNNING.value, _RUN.owner == self._owner
        )

    async def _update(self, statement: Update) -> bool:
        return await self._database.write(lambda connection: connection.execute(statement).rowcount == 1)
