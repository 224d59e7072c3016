"""A client of the local database, with an administrator's view of the runs."""

from __future__ import annotations

from diagnosis_harness.application.callers.caller import LOCAL
from diagnosis_harness.application.runs.cancellation import RunCanceller, cancel_and_wait
from diagnosis_harness.application.runs.feedback import FeedbackVerdict, RunFeedback
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.audit.why.stored import why_stored
from diagnosis_harness.audit.why.stream import stream_seen
from diagnosis_harness.cli.client.runs_client import RunRows
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.document_file import document_bytes
from diagnosis_harness.server.feedback_view import FeedbackView
from diagnosis_harness.server.run_view import CancelView, RunView, WholeRunView
from diagnosis_harness.trace.event import TraceEvent

ANSWER_WITHIN_S = 3.0
"""A live owner polls for cancellation four times a second; one that is silent that long is likely dead."""


class DatabaseClient:
    """A `RunsClient` over the database. The process that owns a run carries out its cancellation."""

    def __init__(self, runs: RunCanceller, feedback: RunFeedback, *, clock: Clock) -> None:
        self._runs = runs
        self._feedback = feedback
        self._clock = clock

    async def page(self, query: RunQuery) -> RunRows:
        """A page of runs."""
        page = await self._runs.page(LOCAL, query)
        return RunRows(tuple(RunView.of(row).body() for row in page.rows), page.next)

    async def row(self, run_id: str) -> JsonValue:
        """The row of a run as JSON, with its public answer under `content`."""
        return WholeRunView.of(await self._runs.row(LOCAL, run_id)).body()

    async def document(self, run_id: str) -> bytes:
        """The run document, in its canonical bytes."""
        return document_bytes(await self._runs.document(LOCAL, run_id))

    async def events(self, run_id: str) -> tuple[TraceEvent, ...]:
        """All events written so far."""
        return await self._runs.events(LOCAL, run_id)

    async def why(self, run_id: str, language: Language) -> JsonValue:
        """The seven answers in words. Streams are unknown here: they belong to the server's process."""
        row = await self._runs.row(LOCAL, run_id)
        records = await self._runs.records_if_reachable(LOCAL, run_id)
        events = await self._runs.events(LOCAL, run_id)
        answers = why_stored(row, records, events, stream=stream_seen(row, None))
        return [answer.as_json(language) for answer in answers]

    async def cancel(self, run_id: str) -> JsonValue:
        """Cancel a run, and wait up to `ANSWER_WITHIN_S` for its process to answer."""
        report = await cancel_and_wait(
            self._runs, LOCAL, run_id, clock=self._clock, answer_within_s=ANSWER_WITHIN_S
        )
        return CancelView.of(report).body()

    async def mark(self, run_id: str, verdict: FeedbackVerdict, *, cause: str | None, note: str) -> JsonValue:
        """Store this person's verdict on a run."""
        feedback = await self._feedback.mark(LOCAL, run_id, verdict, cause=cause, note=note)
        return FeedbackView.of(feedback).body()
