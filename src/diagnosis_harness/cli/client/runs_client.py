"""The interface of the commands to stored runs, local or on a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from diagnosis_harness.application.runs.feedback import FeedbackVerdict
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.trace.event import TraceEvent


@dataclass(frozen=True, slots=True)
class RunRows:
    """Rows as JSON (`RunView`), the latest first, and the start of the next page."""

    rows: tuple[JsonValue, ...]
    next: str | None


class RunsClient(Protocol):
    """Stored runs, local or on a server. Each call is made once; nothing is retried.

    Raises, each of them:
        RunUnknown: this caller has no such run.
        RunGoesOn: the run is in progress, and what was requested exists only once it has ended.
        NotPermitted: the caller's role does not allow it.
        InvalidInput: an argument cannot be used.
        StoreFailure, ServiceFailure: the database, or the server, failed.
    """

    async def page(self, query: RunQuery) -> RunRows:
        """A page of runs."""
        ...

    async def row(self, run_id: str) -> JsonValue:
        """The row of a run as JSON, with its public answer under `content`."""
        ...

    async def document(self, run_id: str) -> bytes:
        """The run document, in its canonical bytes."""
        ...

    async def events(self, run_id: str) -> tuple[TraceEvent, ...]:
        """All events written so far."""
        ...

    async def why(self, run_id: str, language: Language) -> JsonValue:
        """The seven answers in words: a list of what `WhyAnswer.as_json` makes."""
        ...

    async def cancel(self, run_id: str) -> JsonValue:
        """Cancel a run; the result is a `CancelView` as JSON."""
        ...

    async def mark(self, run_id: str, verdict: FeedbackVerdict, *, cause: str | None, note: str) -> JsonValue:
        """Store this person's verdict on a run; the result is a `FeedbackView` as JSON."""
        ...
