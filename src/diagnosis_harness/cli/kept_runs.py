"""Keep the runs of the command line on this machine, and find them again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from diagnosis_harness.cli.output import write_line
from diagnosis_harness.cli.words import kept_runs as words
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import InvalidInput, StoreFailure
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.document import RunDocument

if TYPE_CHECKING:  # slow imports, made only when needed
    from diagnosis_harness.application.kept_run import KeptRun
    from diagnosis_harness.application.previous_turn import Turn
    from diagnosis_harness.bootstrap.local_runs import LocalRuns

LATEST = "last"
EVERY_RUN = "all"
_NAMED_MAX = 4
_TURNS_MAX = 20
"""The most earlier runs of a session that are searched for its latest diagnosis."""


@dataclass(frozen=True, slots=True)
class AskedOf:
    """The folders of a question, as kept with its run; None for a folder that no longer exists."""

    folder: Path | None
    baseline: Path | None = None
    zone: str | None = None

    def run_of(self, document: RunDocument) -> KeptRun:
        """The run of a document, in the form that is kept."""
        from diagnosis_harness.application.kept_run import KeptRun

        return KeptRun.of(
            document, folder=_absolute(self.folder), baseline=_absolute(self.baseline), zone=self.zone
        )


def _absolute(folder: Path | None) -> str | None:
    return None if folder is None else str(folder.absolute())


def keep_run(
    document: RunDocument, asked_of: AskedOf, settings_file: Path | None, language: Language
) -> None:
    """Keep a run if the settings say so; a failure is one note and does not end the command."""
    from diagnosis_harness.bootstrap.local_runs import open_local_runs
    from diagnosis_harness.report.timestamps import escape_line
    from diagnosis_harness.settings import load_settings

    settings = load_settings(settings_file)
    if (runs := open_local_runs(settings)) is None:
        return
    try:
        if not settings.retention.local:
            runs.prune(now_s=SystemClock().now_s())  # earlier kept runs still expire
            return
        runs.keep(asked_of.run_of(document), now_s=SystemClock().now_s())
    except StoreFailure as failure:
        write_line(words.NOT_KEPT.render(language, problem=escape_line(str(failure))), sys.stderr)
        return
    if sys.stderr.isatty():
        write_line(words.KEPT.render(language, run=document.run.run_id), sys.stderr)


def open_runs(settings_file: Path | None, language: Language) -> LocalRuns:
    """The kept runs of this person.

    Raises:
        InvalidInput: there is no folder for them.
    """
    from diagnosis_harness.bootstrap.local_runs import open_local_runs
    from diagnosis_harness.settings import load_settings

    runs = open_local_runs(load_settings(settings_file))
    if runs is None:
        raise InvalidInput(LATEST, words.NO_PLACE.in_(language), words.NO_PLACE_REMEDY.in_(language))
    with store_errors(runs, language):
        runs.prune(now_s=SystemClock().now_s())
    return runs


def delete_kept(reference: str, settings_file: Path | None, language: Language) -> int:
    """Delete the kept run of a reference, or `all` of them; return how many were deleted.

    Raises:
        InvalidInput: the reference matches none or several, or they cannot be deleted.
    """
    run_id = None if reference == EVERY_RUN else find_kept(reference, settings_file, language).run_id
    runs = open_runs(settings_file, language)
    with store_errors(runs, language):
        return runs.delete(run_id)


def find_kept(reference: str, settings_file: Path | None, language: Language) -> KeptRun:
    """The kept run of a reference: `last`, its id, or the start of one.

    Raises:
        InvalidInput: the reference matches none or several, or they cannot be read.
    """
    from diagnosis_harness.cli.words import runs as run_words

    runs = open_runs(settings_file, language)
    with store_errors(runs, language):
        found = runs.latest() if reference == LATEST else runs.starting_with(reference)
    if len(found) == 1:
        return found[0]
    if found:
        several = run_words.COMMA.in_(language).join(run.run_id for run in found[:_NAMED_MAX])
        problem = run_words.AMBIGUOUS.render(language, runs=several)
        raise InvalidInput(reference, problem, run_words.AMBIGUOUS_REMEDY.in_(language))
    if reference == LATEST:
        raise InvalidInput(LATEST, words.NONE_KEPT.in_(language), words.NONE_KEPT_REMEDY.in_(language))
    raise InvalidInput(reference, words.NO_SUCH_RUN.in_(language), words.NO_SUCH_RUN_REMEDY.in_(language))


def find_session(reference: str, settings_file: Path | None, language: Language) -> tuple[KeptRun, ...]:
    """The kept runs of a session (`last`, or its id), the latest first.

    Raises:
        InvalidInput: there is none, or they cannot be read.
    """
    place, runs = f"--session {reference}", open_runs(settings_file, language)
    with store_errors(runs, language):
        if reference == LATEST:
            newest = runs.latest()
            if not newest:
                raise InvalidInput(place, words.NONE_KEPT.in_(language), words.NONE_KEPT_REMEDY.in_(language))
            reference = newest[0].session_id
        found = runs.latest(_TURNS_MAX, session_id=reference)
    if not found:
        problem, remedy = words.NO_SUCH_SESSION, words.NO_SUCH_SESSION_REMEDY
        raise InvalidInput(place, problem.in_(language), remedy.in_(language))
    return found


def turn_after(runs: tuple[KeptRun, ...], folder: Path | None) -> Turn:
    """The next turn of the session of these runs, the latest first.

    It takes over the onset and the affected entities that the latest diagnosis of the same folder published;
    after a fallback it takes over nothing.
    """
    from diagnosis_harness.application.previous_turn import (
        NoPreviousTurn,
        PublishedResultPolicy,
        Turn,
        take_over,
    )

    session_id = runs[0].session_id
    previous = PublishedResultPolicy().previous_turn(session_id, [run.earlier for run in reversed(runs)])
    if isinstance(previous, NoPreviousTurn):
        return Turn(session_id)
    return Turn(session_id, take_over(previous, source=_absolute(folder)))


@contextmanager
def store_errors(runs: LocalRuns, language: Language) -> Iterator[None]:
    """Turn a failure of the store into a sentence that names the file."""
    try:
        yield
    except StoreFailure as failure:
        problem = words.UNREADABLE.render(language, problem=str(failure))
        raise InvalidInput(str(runs.file), problem, words.UNREADABLE_REMEDY.in_(language)) from failure
