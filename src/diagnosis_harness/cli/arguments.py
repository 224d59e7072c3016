"""Check the arguments of a command before anything is opened."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo
from math import isfinite
from pathlib import Path
from typing import TextIO

from diagnosis_harness.cli.words import phrases
from diagnosis_harness.diagnosis.question import OnsetWords
from diagnosis_harness.diagnosis.zones import zone_of
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.language import Language, language_of
from diagnosis_harness.kernel.window import parse_utc
from diagnosis_harness.report.timestamps import escape_line

QUESTION_LIMIT_CHARACTERS = 50_000
"""The most characters of a question to a service, which stores it with the run."""
_PASTED_MAX = 1_000_000
"""The most characters of a question about a folder: more than any alert, less than a whole pasted log."""


def join_question(words: Sequence[str], stdin: TextIO) -> str:
    """The question on the command line, with or without quotes; `-` reads it from standard input.

    Raises:
        InvalidInput: standard input is not text.
    """
    if list(words) != ["-"]:
        return " ".join(words)
    try:
        return stdin.read(_PASTED_MAX + 1)
    except UnicodeDecodeError:
        raise InvalidInput("standard input", "it is not text in UTF-8", "convert it to UTF-8") from None


def check_question_argument(question: str) -> str:
    """The question without surrounding space.

    Raises:
        InvalidInput: it is empty, not text, or too long for any question.
    """
    try:
        question.encode()
    except UnicodeEncodeError:
        raise InvalidInput("QUESTION", "it is not text in UTF-8", "set the terminal to UTF-8") from None
    if not question.strip():
        raise InvalidInput("QUESTION", "it is empty", "say what you want to know")
    if len(question.strip()) > _PASTED_MAX:
        raise _too_long(_PASTED_MAX)
    return question.strip()


def check_question_to_service(question: str) -> None:
    """Refuse a question that is longer than a service keeps.

    Raises:
        InvalidInput: it is.
    """
    if len(question) > QUESTION_LIMIT_CHARACTERS:
        raise _too_long(QUESTION_LIMIT_CHARACTERS)


def _too_long(most: int) -> InvalidInput:
    return InvalidInput(
        "QUESTION",
        f"it is longer than {most:,} characters",
        f"ask in at most {most:,}, and put data into the folder",
    )


def check_deadline(deadline_s: float | None) -> float | None:
    """A deadline that is positive and finite, or None.

    Raises:
        InvalidInput: it is neither.
    """
    if deadline_s is not None and not (isfinite(deadline_s) and deadline_s > 0):
        raise InvalidInput(
            "--deadline", f"{deadline_s:g} is not a positive number of seconds", "give a number above zero"
        )
    return deadline_s


def check_save(file: Path | None) -> Path | None:
    """A file that can be written, as far as can be known before the run; or None.

    Raises:
        InvalidInput: its folder does not exist, or it is a folder itself.
    """
    if file is not None and file.is_dir():
        raise InvalidInput(f"--save {file}", "it is a folder", "name a file in it")
    if file is not None and not file.parent.is_dir():
        raise InvalidInput(f"--save {file}", "there is no such folder", "create it, or name a file elsewhere")
    return file


def check_zone(zone: str | None) -> tzinfo:
    """The zone of times that do not name one; UTC if it is not given.

    Raises:
        InvalidInput: it is unknown or ambiguous.
    """
    if zone is None:
        return UTC
    found = zone_of(zone)
    if found is None:
        problem = f"'{escape_line(zone)}' is not a time zone, or means several"
        raise InvalidInput("--zone", problem, "name one such as Asia/Shanghai, CET or +02:00")
    return found


def parse_onset(onset: str | None, *, zone: tzinfo = UTC) -> float | None:
    """An onset in epoch seconds, from ISO 8601 text (in `zone` if it has none) or from epoch seconds.

    Raises:
        InvalidInput: it is neither.
    """
    if onset is None:
        return None
    try:
        seconds = float(onset)
    except ValueError:
        try:
            parsed = datetime.fromisoformat(onset.strip())
            return parse_utc(onset) if parsed.tzinfo else parsed.replace(tzinfo=zone).timestamp()
        except ValueError:
            problem = f"'{escape_line(onset)}' is not a time"
            raise InvalidInput("--onset", problem, "write it as 2024-01-01T14:05:00Z") from None
    # A year alone would also parse as epoch seconds, in the first hour of 1970. So times before 1973 are
    # refused, and so are milliseconds.
    if not isfinite(seconds) or not 1e8 <= seconds < 1e11:
        raise InvalidInput(
            "--onset", f"'{escape_line(onset)}' is not a time", "write it as 2024-01-01T14:05:00Z"
        )
    return seconds


def read_onset(onset: str | None, zone: str | None, *, of_folder: bool) -> float | OnsetWords | None:
    """An onset that states an absolute time; others are resolved with the folder later.

    Raises:
        InvalidInput: the zone is unknown, or only a folder could resolve the time and there is none.
    """
    known = check_zone(zone)
    if onset is None or not of_folder or _is_absolute(onset):
        return parse_onset(onset, zone=known)
    return OnsetWords(onset.strip(), zone)


def _is_absolute(onset: str) -> bool:
    """Whether an onset needs no zone and no recording: epoch seconds, or ISO 8601 with its offset."""
    try:
        float(onset)
    except ValueError:
        try:
            return datetime.fromisoformat(onset.strip()).tzinfo is not None
        except ValueError:
            return False
    return True


def choose_language(lang: Language | None, question: str) -> Language:
    """The language requested, else that of the question."""
    return language_of(question) if lang is None else lang


def bad_input_sentence(error: InvalidInput, language: Language) -> str:
    """An invalid argument, and how to correct it, in one sentence."""
    return phrases.BAD_INPUT.render(
        language,
        place=escape_line(error.place),
        problem=escape_line(error.problem),
        remedy=escape_line(error.remedy),
    )


def usage_error_sentence(complaint: str, language: Language) -> str:
    """A usage error of typer, which is in English, as one sentence; uncommon ones stay English."""
    complaint = " ".join(complaint.split())
    for start, text in phrases.USAGE_ERRORS.items():
        if complaint.startswith(start):
            rest = complaint.removeprefix(start).strip().removesuffix(".")
            complaint = f"{text.in_(language)}{rest}".strip()
            break
    ending = "" if complaint.endswith((".", "?")) else phrases.FULL_STOP.in_(language)
    return phrases.BAD_USAGE.render(language, message=complaint + ending)


def language_of_command_line(arguments: list[str]) -> Language:
    """The language for errors of the command line itself: `--lang`, else by the script of the arguments."""
    for place, argument in enumerate(arguments):
        name, _, value = argument.partition("=")
        following = arguments[place + 1] if place + 1 < len(arguments) else ""
        if name == "--lang" and (value or following) in set(Language):
            return Language(value or following)
    return language_of(" ".join(arguments))
