"""Run one diagnosis of an incident folder: show its progress, cancel it on Ctrl+C."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from diagnosis_harness.cli.interrupt import raise_on_interrupt, run_interruptible
from diagnosis_harness.cli.live import LiveView
from diagnosis_harness.cli.output import make_console
from diagnosis_harness.cli.ports import FolderDiagnosis, OpenDiagnosis
from diagnosis_harness.harness.termination import CancellationReason
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.language import Language

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Folders:
    """An incident folder, its baseline, and the onset where it is known."""

    folder: Path
    baseline: Path | None = None
    onset_s: float | None = None


def run_on_folders(
    folders: Folders,
    open_diagnosis: OpenDiagnosis,
    work: Callable[[FolderDiagnosis], Coroutine[object, object, T]],
    *,
    language: Language,
    color: bool,
) -> T:
    """Read the folders and run `work` on them. Ctrl+C cancels the run, which still gives its result.

    Raises:
        InvalidInput: a folder, a file in it or an argument cannot be used.
        KeyboardInterrupt: Ctrl+C while the folder was read, before there was a run.
    """
    console = make_console(color=color, stderr=True)
    with LiveView(console, clock=SystemClock(), language=language) as view:
        with raise_on_interrupt():  # a signal that a library has lost must not start a run
            diagnosis = open_diagnosis(
                folder=folders.folder,
                baseline=folders.baseline,
                onset_s=folders.onset_s,
                sink=view,
                progress=view.show_loading,
            )

        def cancel() -> None:
            view.print_cancelling()
            diagnosis.cancel(CancellationReason.USER_REQUESTED)

        with closing(diagnosis):
            return run_interruptible(lambda: work(diagnosis), on_first=cancel, on_second=view.print_leaving)
