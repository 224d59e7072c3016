"""Accept and cancel runs in this process, on behalf of a caller."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Protocol

from diagnosis_harness.application.callers.caller import Caller
from diagnosis_harness.application.runs.active import ActiveRuns
from diagnosis_harness.application.runs.cancellation import (
    CancelEffect,
    CancelReport,
    RunCanceller,
    cancel_body,
)
from diagnosis_harness.application.runs.queue import RunQueue
from diagnosis_harness.application.runs.request import RunKind, RunRequest
from diagnosis_harness.application.runs.sources import NoSources, OwnSources, SourceStamp, is_upload_id
from diagnosis_harness.application.runs.store import RunArchive, Submitted
from diagnosis_harness.application.runs.submission import Submission, SubmissionRules, request_of
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.errors import InvalidInput, RunGoesOn, SourceUnknown, StoreFailure


@dataclass(frozen=True, slots=True)
class RunsSettings:
    """What this service accepts.

    Attributes:
        sources: the sources of this process, in their present state. uploads: sources that callers have sent;
                None if they may not send any.
        unfinished_max: runs of one caller that may be queued or running, if its key sets no limit.
    """

    rules: SubmissionRules
    unfinished_max: int
    sources: OwnSources = field(default_factory=NoSources)
    uploads: SentSources | None = None


class SentSources(Protocol):
    """The sources that callers have sent."""

    async def stamp(self, caller: Caller, upload_id: str) -> SourceStamp:
        """The source that a run of this caller reads.

        Raises:
            SourceUnknown: it does not exist, has expired, or belongs to another caller.
            StoreFailure: it cannot be looked up.
        """
        ...


class RunService(RunCanceller):
    """Submits runs, cancels those of this process directly, and reads and cancels those of the others."""

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
        """`owner` is this process incarnation, as in the rows."""
        super().__init__(archive, clock=core.clock)
        self._core = core
        self._queue = queue
        self._active = active
        self._owner = owner
        self._settings = settings

    async def request(
        self, caller: Caller, submission: Submission, kind: RunKind, *, unfinished_max: int | None = None
    ) -> RunRequest:
        """Make the request for a question that this caller may ask now; nothing is stored yet.

        Raises:
            NotPermitted: the caller may not ask.
            InvalidInput: a field cannot be used.
            RunUnknown: `retry_of` is not a run that the caller may see.
            RunGoesOn: it has not ended.
            SourceUnknown: the source belongs to another caller, or does not exist.
            StoreFailure: it cannot be looked up.
        """
        if submission.retry_of is not None:
            submission = await self._again(caller, submission)
        request = request_of(
            submission,
            caller,
            kind,
            rules=self._settings.rules,
            clock=self._core.clock,
            ids=self._core.ids,
        )
        limit = self._settings.unfinished_max if unfinished_max is None else unfinished_max
        stamp = await self._stamp(caller, request.source)
        return replace(request, stamp=stamp, unfinished_max=limit)

    async def _stamp(self, caller: Caller, name: str | None) -> SourceStamp | None:
        if name is None:
            return None
        if not is_upload_id(name):
            return await self._settings.sources.stamp(name)
        if self._settings.uploads is None:
            raise SourceUnknown(name)
        return await self._settings.uploads.stamp(caller, name)

    async def submit(
        self, caller: Caller, submission: Submission, *, unfinished_max: int | None = None
    ) -> Submitted:
        """Queue a question.

        If it is sent twice under one run id, both submissions get the first one's run, ended or not.

        A run that was stored but could not be enqueued is enqueued later and not lost.

        Raises:
            NotPermitted, InvalidInput, RunUnknown, RunGoesOn, SourceUnknown, StoreFailure: as `request`.
            TooManyRuns: the caller has too many that are not finished.
        """
        request = await self.request(caller, submission, RunKind.BACKGROUND, unfinished_max=unfinished_max)
        submitted = await self._archive.submit(request)
        if submitted.is_new:
            with suppress(StoreFailure):  # it is accepted; the supervisor requeues it
                await self._queue.put(submitted.row.run_id, submitted.row.request.lane)
        elif submitted.row.run_id == request.run_id and submitted.row.request.question != request.question:
            raise InvalidInput(
                "Idempotency-Key", ("it was already used for another question"), "send a new one"
            )
        return submitted

    async def _again(self, caller: Caller, submission: Submission) -> Submission:
        """The values that a retried run takes over from the earlier one, unless the caller gives them."""
        before = await self.row(caller, submission.retry_of or "")
        if not before.status.is_final:
            raise RunGoesOn("only a run that has ended can be retried")
        old = before.request
        return replace(
            submission,
            session_id=old.session_id if submission.session_id is None else submission.session_id,
            source=old.source if submission.source is None else submission.source,
            onset_s=old.onset_s if submission.onset_s is None else submission.onset_s,
        )

    async def cancel(self, caller: Caller, run_id: str) -> CancelReport:
        """Cancel a run in any process. One that runs in this process has stopped when this returns.

        Raises:
            NotPermitted: the caller may not cancel.
            RunUnknown, StoreFailure: as `row`.
        """
        row = await self._row_to_cancel(caller, run_id)
        ctx = self._active.get(run_id)
        if ctx is not None:
            answer = self._core.cancel(ctx, CancellationReason.USER_REQUESTED)
            if row.owner == self._owner:
                effect = CancelEffect.STOPPED if answer.changed else CancelEffect.ENDED_BEFORE
                return CancelReport(row, effect, cancel_body(answer))
            # A process, perhaps this one, is just claiming it, and will see the request in the row.
        return await self._request_cancel(row)
