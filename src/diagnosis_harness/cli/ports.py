"""What the terminal needs of the system behind it; `bootstrap` gives it."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from diagnosis_harness.application.recheck import Recheck
from diagnosis_harness.harness.termination import CancellationReason
from diagnosis_harness.release.document import RunDocument
from diagnosis_harness.release.language import Language
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
        """Open a folder.

        Raises:
            InvalidInput: the folder, a file in it or a setting cannot be used.
        """
        ...
