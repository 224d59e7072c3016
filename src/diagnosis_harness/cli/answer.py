"""One question from the command line to its document: shown while it lives, cancelled by Ctrl+C."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from contextlib import closing
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import TypeVar

from diagnosis_harness.cli.interrupt import run_interruptible
from diagnosis_harness.cli.live import LiveView
from diagnosis_harness.cli.output import make_console
from diagnosis_harness.cli.phrases import Phrases, phrases_of
from diagnosis_harness.cli.ports import Diagnosis, OpenDiagnosis
from diagnosis_harness.cli.stopping import stopped_by_interrupt
from diagnosis_harness.harness.termination import CancellationReason
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.language import Language, language_of
from diagnosis_harness.kernel.window import parse_utc
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.timestamps import shown

QUESTION_LIMIT_CHARACTERS = 4_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asking:
    """A question and what it is asked of; without a folder, of a service.

    `deadline_s` is the time given, None the configured one.
    """

    question: str
    folder: Path | None
    baseline: Path | None = None
    onset_s: float | None = None
    deadline_s: float | None = None
    language: Language = Language.EN


@dataclass(frozen=True, slots=True)
class Sources:
    """What is asked of: an incident folder, one of normal operation, and when it began where that is said."""

    folder: Path
    baseline: Path | None = None
    onset_s: float | None = None


def answer(asking: Asking, open_diagnosis: OpenDiagnosis, *, color: bool) -> RunDocument:
    """Read the folder, ask, and give the document; the first Ctrl+C while it runs cancels and still gives it.

    Raises:
        InvalidInput: what the person gave cannot be used.
        KeyboardInterrupt: Ctrl+C while the folder was read; there was no run yet.
    """
    folder = Path() if asking.folder is None else asking.folder
    return worked(
        Sources(folder, asking.baseline, asking.onset_s),
        open_diagnosis,
        lambda diagnosis: diagnosis.run(
            asking.question, language=asking.language, deadline_s=asking.deadline_s
        ),
        phrases=phrases_of(asking.language),
        color=color,
    )


def worked(
    sources: Sources,
    open_diagnosis: OpenDiagnosis,
    work: Callable[[Diagnosis], Coroutine[object, object, T]],
    *,
    phrases: Phrases,
    color: bool,
) -> T:
    """Read the folders and let one run do its work over them, shown while it lives and cancelled by Ctrl+C.

    Raises:
        InvalidInput: what the person gave cannot be used.
        KeyboardInterrupt: Ctrl+C while the folder was read; there was no run yet.
    """
    console = make_console(color=color, stderr=True)
    with LiveView(console, clock=SystemClock(), phrases=phrases) as view:
        with stopped_by_interrupt():  # a signal that a library has lost must not begin a run
            diagnosis = open_diagnosis(
                folder=sources.folder,
                baseline=sources.baseline,
                onset_s=sources.onset_s,
                sink=view,
                progress=view.loading,
            )

        def on_first() -> None:
            calls = ", ".join(view.in_flight()) or phrases.nothing_in_flight
            view.say(phrases.cancelling.format(calls=calls))
            diagnosis.cancel(CancellationReason.USER_REQUESTED)

        def on_second() -> None:
            view.say(phrases.left_at_once)
            view.close()

        with closing(diagnosis):
            return run_interruptible(lambda: work(diagnosis), on_first=on_first, on_second=on_second)


def checked_question(question: str) -> str:
    """The question without surrounding space.

    Raises:
        InvalidInput: there is none, it is not text, or it is longer than a question is.
    """
    try:
        question.encode()
    except UnicodeEncodeError:
        raise InvalidInput("QUESTION", "it is not text in UTF-8", "set the terminal to UTF-8") from None
    if not question.strip():
        raise InvalidInput("QUESTION", "it is empty", "say what you want to know, in quotes")
    if len(question.strip()) > QUESTION_LIMIT_CHARACTERS:
        raise InvalidInput(
            "QUESTION",
            f"it is {len(question.strip()):,} characters long",
            f"ask in at most {QUESTION_LIMIT_CHARACTERS:,}, and put data into the folder",
        )
    return question.strip()


def checked_deadline(deadline_s: float | None) -> float | None:
    """A deadline that is positive and finite, or None.

    Raises:
        InvalidInput: it is neither.
    """
    if deadline_s is not None and not (isfinite(deadline_s) and deadline_s > 0):
        raise InvalidInput("--deadline", f"{deadline_s:g} is no time to work in", "give seconds above zero")
    return deadline_s


def checked_save(file: Path | None) -> Path | None:
    """A file that can be written, as far as that can be known before the run; or None.

    Raises:
        InvalidInput: there is no such folder, or it stands for a folder itself.
    """
    if file is not None and file.is_dir():
        raise InvalidInput(f"--save {file}", "it is a folder", "name a file in it")
    if file is not None and not file.parent.is_dir():
        raise InvalidInput(f"--save {file}", "there is no such folder", "make it, or name a file elsewhere")
    return file


def parsed_onset(onset: str | None) -> float | None:
    """An onset in seconds since the epoch: ISO 8601 text, taken as UTC without a zone, or epoch seconds.

    Raises:
        InvalidInput: it is neither.
    """
    if onset is None:
        return None
    try:
        seconds = float(onset)
    except ValueError:
        try:
            return parse_utc(onset)
        except ValueError:
            problem = f"'{shown(onset)}' is not a time"
            raise InvalidInput("--onset", problem, "write it as 2024-01-01T14:05:00Z") from None
    # A year alone parses as a number too; nobody means the first hour of 1970.
    if not isfinite(seconds) or not 1e8 <= seconds < 1e11:
        raise InvalidInput("--onset", f"'{shown(onset)}' is not a time", "write it as 2024-01-01T14:05:00Z")
    return seconds


def chosen_language(lang: Language | None, question: str) -> Language:
    """The language asked for, else the question's own."""
    return language_of(question) if lang is None else lang


def complaint(error: InvalidInput, phrases: Phrases) -> str:
    """A person's mistake in one sentence."""
    return phrases.bad_input.format(
        place=shown(error.place), problem=shown(error.problem), remedy=shown(error.remedy)
    )
