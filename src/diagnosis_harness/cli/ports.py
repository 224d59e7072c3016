"""The interface of the commands to the diagnosis of an incident folder; `bootstrap` implements it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from diagnosis_harness.application.previous_turn import Turn
from diagnosis_harness.application.routed_question import RoutedAnswer
from diagnosis_harness.audit.verification.recheck import Recheck
from diagnosis_harness.diagnosis.question import OnsetWords
from diagnosis_harness.harness.termination import CancellationReason
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.trace.sink import TraceSink


class LoadProgress(Protocol):
    """Receives progress reports while files are read."""

    def __call__(self, file: str, done: int, total: int) -> None:
        """`file` is being read; `done` of `total` units are read, files or bytes as the reader counts."""
        ...


class FolderDiagnosis(Protocol):
    """An incident folder that has been read. Runs one question at a time."""

    async def run(
        self, question: str, *, language: Language, deadline_s: float | None, zone: str | None = None
    ) -> RunDocument:
        """Diagnose within `deadline_s` seconds from now; None is the configured time.

        Times of the question without a zone are in `zone`; None is that of the folder, else UTC.

        The result is a document even if the run is cancelled or fails.

        Raises:
            InvalidInput: the question or the deadline cannot be used.
        """
        ...

    async def ask(
        self,
        question: str,
        *,
        language: Language,
        deadline_s: float | None,
        zone: str | None = None,
        turn: Turn | None = None,
    ) -> RoutedAnswer:
        """Route the question as a service does, and answer it; limits and errors as with `run`.

        With `turn`, the run belongs to that session, and takes over the onset of the previous turn.
        """
        ...

    async def ask_again(self, document: RunDocument) -> Recheck:
        """Repeat the queries of a saved run, in a new run, and compare the results."""
        ...

    def cancel(self, reason: CancellationReason) -> object:
        """End the run now; without a run, do nothing. Call it on the event loop's thread."""
        ...

    def close(self) -> None:
        """End the run if there is one, and release threads and tables; the object is unusable afterwards."""
        ...


class OpenDiagnosis(Protocol):
    """Reads an incident folder and builds the diagnosis over it."""

    def __call__(
        self,
        *,
        folder: Path,
        baseline: Path | None,
        onset: float | OnsetWords | None,
        sink: TraceSink,
        progress: LoadProgress,
    ) -> FolderDiagnosis:
        """Open a folder; the caller closes it.

        Raises:
            InvalidInput: the folder, a file in it or a setting cannot be used.
        """
        ...
