"""What the terminal needs of the system behind it; `bootstrap` gives it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.audit.verification.recheck import Recheck
from diagnosis_harness.harness.termination import CancellationReason
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.trace.event import TraceEvent
from diagnosis_harness.trace.sink import TraceSink


class LoadProgress(Protocol):
    """Is told how far reading has come."""

    def __call__(self, file: str, done: int, total: int) -> None:
        """`file` is being read; `done` of `total` units are done, files or bytes as the reader counts."""
        ...


class Diagnosis(Protocol):
    """One incident folder, ready to be asked about. Runs one question at a time."""

    async def run(self, question: str, *, language: Language, deadline_s: float | None) -> RunDocument:
        """Ask; `deadline_s` is the time given from now, None the configured one.

        However the run ends, also cancelled or failed, the answer is a document.

        Raises:
            InvalidInput: what the person gave cannot be used.
        """
        ...

    async def ask_again(self, document: RunDocument) -> Recheck:
        """Ask the queries of a saved run again, in a run of its own, and compare what they bring."""
        ...

    def cancel(self, reason: CancellationReason) -> object:
        """End the run now; from the event loop's thread, before, during or after the run."""
        ...

    def close(self) -> None:
        """End what runs and give back threads and tables; nothing can be asked afterwards."""
        ...


class OpenDiagnosis(Protocol):
    """Reads an incident folder and puts everything together around it."""

    def __call__(
        self,
        *,
        folder: Path,
        baseline: Path | None,
        onset_s: float | None,
        sink: TraceSink,
        progress: LoadProgress,
    ) -> Diagnosis:
        """Open a folder; whoever asks for it closes it.

        Raises:
            InvalidInput: the folder, a file in it or a setting cannot be used.
        """
        ...


@dataclass(frozen=True, slots=True)
class Listing:
    """Rows as JSON (`RunView`), the latest first, and where the next page begins."""

    rows: tuple[JsonValue, ...]
    next: str | None


class RunsDesk(Protocol):
    """The runs that are kept, here or on a server; every method is one look or one act, made once.

    Raises, each of them:
        RunUnknown: there is no such run for this caller.
        RunGoesOn: it has not ended, and what was asked for exists when it has.
        NotPermitted: the caller's role does not allow it.
        InvalidInput: what was asked for cannot be used.
        StoreFailure, ServiceFailure: the database, or the server, does not work.
    """

    async def page(self, query: RunQuery) -> Listing:
        """A page of runs."""
        ...

    async def row(self, run_id: str) -> JsonValue:
        """The row of a run as JSON, with its public answer under `content`."""
        ...

    async def document(self, run_id: str) -> bytes:
        """The run document, in its one form of bytes."""
        ...

    async def events(self, run_id: str) -> tuple[TraceEvent, ...]:
        """All events that are written so far."""
        ...

    async def why(self, run_id: str, language: Language) -> JsonValue:
        """The seven answers in words: a list of what `audit.why.words.answer_json` makes."""
        ...

    async def cancel(self, run_id: str) -> JsonValue:
        """Cancel a run; what it came to, as a `CancelView`."""
        ...
