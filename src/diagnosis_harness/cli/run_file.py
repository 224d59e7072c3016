"""Read the file of a saved run."""

from __future__ import annotations

import sys
from pathlib import Path

from diagnosis_harness.audit.verification.verify import is_unaltered
from diagnosis_harness.cli.output import tell
from diagnosis_harness.cli.words import run_file as words
from diagnosis_harness.kernel.errors import InvalidInput, RunDocumentInvalid
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.document_file import parse_document
from diagnosis_harness.report.reading import read_document


def read_run_file(file: Path, language: Language | None) -> tuple[RunDocument, Language]:
    """The run in a file, and the language for messages about it: the run's own unless one is given.

    If the file differs from the bytes that were saved, it is still read, with a warning on standard error.

    Raises:
        InvalidInput: the file cannot be read, or is not a run document.
    """
    data = read_bytes(file)
    try:
        document = read_document(parse_document(data, file=str(file)))
    except RunDocumentInvalid as error:
        raise unreadable_document(file, error) from error
    message_language = language or document.run.language
    if not is_unaltered(data, file=str(file)):
        tell(words.ALTERED.render(message_language, file=str(file)), sys.stderr)
    return document, message_language


def read_bytes(file: Path) -> bytes:
    """The content of a file.

    Raises:
        InvalidInput: it cannot be read.
    """
    try:
        return file.read_bytes()
    except OSError as error:
        problem = f"it cannot be read ({error.strerror})"
        raise InvalidInput(str(file), problem, "give a file written by --save or --json") from error


def unreadable_document(file: Path, error: RunDocumentInvalid) -> InvalidInput:
    """The error for a file that is not a valid run document."""
    problem = f"it is not a valid run document ({' '.join(str(error).split())[:200]})"
    return InvalidInput(str(file), problem, "run `diagnose verify` to see what is wrong")
