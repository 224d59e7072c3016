"""Run one diagnosis of an incident folder: show its progress, cancel it on Ctrl+C."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from diagnosis_harness.cli.interrupt import raise_on_interrupt, run_interruptible
from diagnosis_harness.cli.live import LiveView
from diagnosis_harness.cli.output import make_console
from diagnosis_harness.cli.ports import FolderDiagnosis, OpenDiagnosis
from diagnosis_harness.diagnosis.question import OnsetWords
from diagnosis_harness.harness.termination import CancellationReason
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.trace.event import TraceEvent

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Folders:
    """An incident folder, its baseline, and the onset if it is known."""

    folder: Path
    baseline: Path | None = None
    onset: float | OnsetWords | None = None


class AskFolder(Protocol):
    """Runs work on a folder that has been read. After Ctrl+C, the cancelled run still has a result."""

    def __call__(self, work: Callable[[FolderDiagnosis], Coroutine[object, object, T]]) -> T:
        """Do the work on a new event loop, with a live view of its progress."""
        ...


@contextmanager
def open_folders(
    folders: Folders, open_diagnosis: OpenDiagnosis, *, language: Language, color: bool
) -> Iterator[AskFolder]:
    """Read the folders once, for one question after another in the body.

    Raises:
        InvalidInput: a folder, a file in it or an argument cannot be used.
        KeyboardInterrupt: Ctrl+C while the folder was read, before there was a run.
    """
    console = make_console(color=color, stderr=True)
    shown = _ShownProgress()
    with LiveView(console, clock=SystemClock(), language=language) as view:
        shown.view = view
        with raise_on_interrupt():  # even if a library swallowed the signal, no run must start
            diagnosis = open_diagnosis(
                folder=folders.folder,
                baseline=folders.baseline,
                onset=folders.onset,
                sink=shown,
                progress=view.show_loading,
            )
    with closing(diagnosis):

        def ask(work: Callable[[FolderDiagnosis], Coroutine[object, object, T]]) -> T:
            with LiveView(console, clock=SystemClock(), language=language) as view:
                shown.view = view

                def cancel() -> None:
                    view.print_cancelling()
                    diagnosis.cancel(CancellationReason.USER_REQUESTED)

                return run_interruptible(
                    lambda: work(diagnosis), on_first=cancel, on_second=view.print_leaving
                )

        yield ask


class _ShownProgress:
    """A trace sink that passes events to the view of the current question."""

    view: LiveView | None = None

    def emit(self, event: TraceEvent) -> None:
        """Show one event."""
        if self.view is not None:
            self.view.emit(event)


def run_on_folders(
    folders: Folders,
    open_diagnosis: OpenDiagnosis,
    work: Callable[[FolderDiagnosis], Coroutine[object, object, T]],
    *,
    language: Language,
    color: bool,
) -> T:
    """Read the folders and run `work` on them. After Ctrl+C, the cancelled run still has a result.

    Raises:
        InvalidInput: a folder, a file in it or an argument cannot be used.
        KeyboardInterrupt: Ctrl+C while the folder was read, before there was a run.
    """
    with open_folders(folders, open_diagnosis, language=language, color=color) as ask:
        return ask(work)
