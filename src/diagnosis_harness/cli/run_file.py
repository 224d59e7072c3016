"""Read a saved run: a file, or a run kept on this machine."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.audit.verification.verify import is_unaltered
from diagnosis_harness.cli.kept_runs import LATEST, find_kept
from diagnosis_harness.cli.output import write_line
from diagnosis_harness.cli.words import run_file as words
from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.errors import InvalidInput, RunDocumentInvalid
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.document_file import parse_document
from diagnosis_harness.report.reading import read_document


@dataclass(frozen=True, slots=True)
class SavedRun:
    """The bytes of a run document, and its name in messages: its file, or its id."""

    data: bytes
    name: str


def read_run(
    reference: str, settings_file: Path | None, language: Language | None
) -> tuple[RunDocument, Language]:
    """The run of a reference, and the language for messages about it: the run's own unless one is given.

    If the file differs from what was saved, it is still read, with a warning on standard error.

    Raises:
        InvalidInput: it cannot be found or read, or is not a run document.
    """
    saved = read_run_bytes(reference, settings_file, language or Language.EN)
    try:
        document = read_document(parse_document(saved.data, file=saved.name))
    except RunDocumentInvalid as error:
        raise unreadable_document(saved.name, error) from error
    message_language = language or document.run.language
    if not is_unaltered(saved.data, file=saved.name):
        write_line(words.ALTERED.render(message_language, file=saved.name), sys.stderr)
    return document, message_language


def read_run_bytes(reference: str, settings_file: Path | None, language: Language) -> SavedRun:
    """The bytes of a run: `last`, a file, or the start of the id of a kept run.

    Raises:
        InvalidInput: it cannot be found or read.
    """
    if reference != LATEST and (_is_path(reference) or not is_safe_segment(reference)):
        return SavedRun(_read_bytes(Path(reference)), reference)
    run = find_kept(reference, settings_file, language)
    return SavedRun(run.document, run.run_id)


def _is_path(reference: str) -> bool:
    """Whether a reference is a file: an existing one, or one written as a path."""
    is_written_so = os.sep in reference or reference.endswith(".json")
    return is_written_so or Path(reference).is_file()


def _read_bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        problem = f"it cannot be read ({error.strerror})"
        raise InvalidInput(str(file), problem, "give a file written by --save or --json") from error


def unreadable_document(name: str, error: RunDocumentInvalid) -> InvalidInput:
    """The error for an invalid run document."""
    problem = f"it is not a valid run document ({' '.join(str(error).split())[:200]})"
    return InvalidInput(name, problem, "run `diagnose verify` to see what is wrong")
