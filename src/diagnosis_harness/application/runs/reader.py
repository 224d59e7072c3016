"""Reads runs on behalf of a caller, who sees only their own runs unless they are an admin."""

from __future__ import annotations

from dataclasses import replace

from diagnosis_harness.application.callers.caller import Caller, CallerRole
from diagnosis_harness.application.runs.document import document_of, records_to_show
from diagnosis_harness.application.runs.row import RunRow
from diagnosis_harness.application.runs.store import RunArchive, RunPage, RunQuery
from diagnosis_harness.kernel.errors import RunGoesOn, RunUnknown, StoreFailure
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.trace.event import TraceEvent


class RunReader:
    """Rows, events, records and documents of the runs that a caller may see."""

    def __init__(self, archive: RunArchive) -> None:
        self._archive = archive

    async def row(self, caller: Caller, run_id: str) -> RunRow:
        """The row of a run.

        Raises:
            RunUnknown: it does not exist, or belongs to another caller.
            StoreFailure: it cannot be read.
        """
        row = await self._archive.run(run_id)
        if row is None or not caller.may_see(row.request.asked_by.name):
            raise RunUnknown(run_id)
        return row

    async def page(self, caller: Caller, query: RunQuery) -> RunPage:
        """A page of the runs that the caller may see.

        Raises:
            InvalidInput: the cursor of the page is not valid.
            StoreFailure: they cannot be read.
        """
        if caller.role is not CallerRole.ADMIN:
            own = query.asked_by if query.asked_by in caller.sees else None
            query = replace(query, asked_by=own, asked_by_any=caller.sees)
        return await self._archive.runs(query)

    async def document(self, caller: Caller, run_id: str) -> RunDocument:
        """The document of a run that has ended.

        Raises:
            RunUnknown: there is no such run for this caller.
            RunGoesOn: it has no document yet.
            RunDocumentInvalid: its stored parts contradict each other.
            StoreFailure: it cannot be read.
        """
        row = await self.row(caller, run_id)
        if not row.is_closed:
            raise RunGoesOn(run_id)
        return document_of(row, await self._archive.records(run_id), await self.events(caller, run_id))

    async def events(self, caller: Caller, run_id: str) -> tuple[TraceEvent, ...]:
        """All stored events of a run.

        Raises:
            RunUnknown, StoreFailure: as `row`.
        """
        await self.row(caller, run_id)
        events: list[TraceEvent] = []
        while page := await self._archive.events(run_id, after_seq=events[-1].seq if events else 0):
            events += page
        return tuple(events)

    async def records(self, caller: Caller, run_id: str) -> tuple[EvidenceRecord, ...]:
        """The canonical records of a run.

        Raises:
            RunUnknown, StoreFailure: as `row`.
        """
        row = await self.row(caller, run_id)
        return records_to_show(row, await self._archive.records(run_id))

    async def records_if_reachable(self, caller: Caller, run_id: str) -> tuple[EvidenceRecord, ...] | None:
        """The same; None if the evidence store fails while the database works.

        Raises:
            RunUnknown, StoreFailure: as `row`.
        """
        try:
            return await self.records(caller, run_id)
        except StoreFailure as failure:
            if failure.trouble.is_of_evidence:
                return None
            raise
