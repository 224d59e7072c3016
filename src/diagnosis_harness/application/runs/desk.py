"""Runs as their callers see them: ask in the background, look, cancel. Nobody sees another's."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum

from diagnosis_harness.application.callers.caller import Caller, CallerRole
from diagnosis_harness.application.runs.active import ActiveRuns
from diagnosis_harness.application.runs.asking import Asking, AskingRules, request_of
from diagnosis_harness.application.runs.document import document_of, settled
from diagnosis_harness.application.runs.queue import RunQueue
from diagnosis_harness.application.runs.request import RunKind, RunRequest
from diagnosis_harness.application.runs.row import CancelRequest, RunRow, RunStatus
from diagnosis_harness.application.runs.sources import NoSources, OwnSources
from diagnosis_harness.application.runs.store import RunArchive, RunPage, RunQuery, Submitted
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.core import CancelAnswer, DiagnosisHarnessCore
from diagnosis_harness.harness.lease import OpenCall
from diagnosis_harness.kernel.errors import InvalidInput, NotPermitted, RunGoesOn, RunUnknown, StoreFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.trace.event import TraceEvent


class CancelEffect(StrEnum):
    """What a cancel came to."""

    STOPPED = "STOPPED"  # this cancel ended the run
    NEVER_STARTED = "NEVER_STARTED"  # it was queued, and will not start
    ENDED_BEFORE = "ENDED_BEFORE"  # another end had come first
    ASKED = "ASKED"  # the process that runs it has been told, and has not answered yet


@dataclass(frozen=True, slots=True)
class CancelReport:
    """What a cancel came to, and what the owner of the run said to it (`cancel_body`); None where nothing."""

    row: RunRow
    effect: CancelEffect
    answer: JsonValue = None


@dataclass(frozen=True, slots=True)
class RunsSettings:
    """What this service takes in.

    Attributes:
        sources: what may be asked about, as it is now.
        unfinished_max: runs of one caller that may be queued or running, where its key says nothing.
    """

    rules: AskingRules
    unfinished_max: int
    sources: OwnSources = field(default_factory=NoSources)


class Runs:
    """The runs of all callers, each seeing their own; an admin sees all."""

    def __init__(
        self,
        core: DiagnosisHarnessCore,
        *,
        archive: RunArchive,
        queue: RunQueue,
        active: ActiveRuns,
        owner: str,
        settings: RunsSettings,
    ) -> None:
        """`owner` is this process incarnation, as in the rows; empty where it works on none."""
        self._core = core
        self._archive = archive
        self._queue = queue
        self._active = active
        self._owner = owner
        self._settings = settings

    # ------------------------------------------------------------------ asking

    async def request(
        self, caller: Caller, asking: Asking, kind: RunKind, *, unfinished_max: int | None = None
    ) -> RunRequest:
        """The request of a question that this caller may ask now; nothing is kept yet.

        Raises:
            NotPermitted: the caller may not ask.
            InvalidInput: a field cannot be used.
            RunUnknown: `retry_of` is no run that the caller may see.
            RunGoesOn: it has not ended.
            StoreFailure: it cannot be looked up.
        """
        if asking.retry_of is not None:
            asking = await self._again(caller, asking)
        request = request_of(
            asking,
            caller,
            kind,
            rules=self._settings.rules,
            clock=self._core.clock,
            ids=self._core.ids,
        )
        limit = self._settings.unfinished_max if unfinished_max is None else unfinished_max
        stamp = None if request.source is None else await self._settings.sources.stamp(request.source)
        return replace(request, stamp=stamp, unfinished_max=limit)

    async def submit(self, caller: Caller, asking: Asking, *, unfinished_max: int | None = None) -> Submitted:
        """Queue a question. One that is sent twice, under one run id, is the run of the first, ended or not.

        A run that was kept and could not be put into the queue is put there later; it is not lost.

        Raises:
            NotPermitted, InvalidInput, RunUnknown, RunGoesOn, StoreFailure: as `request`.
            TooManyRuns: the caller has too many that are not finished.
        """
        request = await self.request(caller, asking, RunKind.BACKGROUND, unfinished_max=unfinished_max)
        submitted = await self._archive.submit(request)
        if submitted.is_new:
            with suppress(StoreFailure):  # it is accepted; the supervisor puts it again
                await self._queue.put(submitted.row.run_id, submitted.row.request.lane)
        elif submitted.row.run_id == request.run_id and submitted.row.request.question != request.question:
            raise InvalidInput("Idempotency-Key", "it came with another question", "send a fresh one")
        return submitted

    async def _again(self, caller: Caller, asking: Asking) -> Asking:
        """What a run that is tried again takes over from the one before, where nothing else is asked for."""
        before = await self.row(caller, asking.retry_of or "")
        if not before.status.is_final:
            raise RunGoesOn("only a run that has ended is tried again")
        old = before.request
        return replace(
            asking,
            session_id=old.session_id if asking.session_id is None else asking.session_id,
            source=old.source if asking.source is None else asking.source,
            onset_s=old.onset_s if asking.onset_s is None else asking.onset_s,
        )

    # ------------------------------------------------------------------ looking

    async def row(self, caller: Caller, run_id: str) -> RunRow:
        """The row of a run.

        Raises:
            RunUnknown: there is none, or it is another caller's.
            StoreFailure: it cannot be read.
        """
        row = await self._archive.run(run_id)
        if row is None or not caller.may_see(row.request.asked_by.name):
            raise RunUnknown(run_id)
        return row

    async def page(self, caller: Caller, query: RunQuery) -> RunPage:
        """A page of the runs that the caller may see.

        Raises:
            InvalidInput: the mark of the page is none.
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
            RunDocumentInvalid: what is kept of it contradicts itself.
            StoreFailure: it cannot be read.
        """
        row = await self.row(caller, run_id)
        if not row.is_closed:
            raise RunGoesOn(run_id)
        return document_of(row, await self._archive.records(run_id), await self.events(caller, run_id))

    async def events(self, caller: Caller, run_id: str) -> tuple[TraceEvent, ...]:
        """All events of a run that are written.

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
        return settled(row, await self._archive.records(run_id))

    async def known_records(self, caller: Caller, run_id: str) -> tuple[EvidenceRecord, ...] | None:
        """The same; None while the evidence store does not work and the database does.

        Raises:
            RunUnknown, StoreFailure: as `row`.
        """
        try:
            return await self.records(caller, run_id)
        except StoreFailure as failure:
            if failure.trouble.is_of_evidence:
                return None
            raise

    # ------------------------------------------------------------------ cancelling

    async def cancel(self, caller: Caller, run_id: str) -> CancelReport:
        """Cancel a run, wherever it is. One that runs in this process has stopped when this returns.

        Raises:
            NotPermitted: the caller may not cancel.
            RunUnknown, StoreFailure: as `row`.
        """
        if not caller.may_ask:
            raise NotPermitted("a viewer reads and does not cancel")
        row = await self.row(caller, run_id)
        reason = CancellationReason.USER_REQUESTED
        ctx = self._active.get(run_id)
        if ctx is not None:
            answer = self._core.cancel(ctx, reason)
            if row.owner == self._owner:
                effect = CancelEffect.STOPPED if answer.changed else CancelEffect.ENDED_BEFORE
                return CancelReport(row, effect, cancel_body(answer))
            # It is just being claimed, here or elsewhere: whoever gets it sees the request in the row.
        if row.status.is_final:  # what an earlier cancel came to is no word on this one
            return CancelReport(row, CancelEffect.ENDED_BEFORE)
        was_queued = row.status is RunStatus.QUEUED
        cancel = CancelRequest(reason, self._core.clock.now_s())
        requested = await self._archive.request_cancel(run_id, cancel)
        if requested is None:
            raise RunUnknown(run_id)
        return report_of_request(requested, was_queued=was_queued)


def report_of_request(row: RunRow, *, was_queued: bool) -> CancelReport:
    """What a request to cancel another process's run led to, by its row afterwards."""
    if row.cancel_answer is not None:
        held = row.cancel_answer
        changed = isinstance(held, dict) and held.get("changed") is True
        effect = CancelEffect.STOPPED if changed else CancelEffect.ENDED_BEFORE
        return CancelReport(row, effect, held)
    if not row.status.is_final:
        return CancelReport(row, CancelEffect.ASKED)
    never_started = was_queued and row.status is RunStatus.CANCELLED and row.started_s is None
    return CancelReport(row, CancelEffect.NEVER_STARTED if never_started else CancelEffect.ENDED_BEFORE)


def cancel_body(answer: CancelAnswer) -> JsonValue:
    """The owner's answer to a cancel, as JSON: what was stopped, and what was still in flight."""
    return {
        "changed": answer.changed,
        "state": answer.state.value,
        "reason": None if answer.reason is None else answer.reason.value,
        "begun": answer.begun,
        "never_started": _calls(answer.never_started),
        "in_flight": _calls(answer.in_flight),
        "notified": answer.notified,
    }


def _calls(several: Sequence[OpenCall]) -> list[JsonValue]:
    return [{"name": call.name, "tool_call_id": call.tool_call_id} for call in several]
