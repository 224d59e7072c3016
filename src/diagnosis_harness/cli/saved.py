"""A saved run, read for a command that looks at it again."""

from __future__ import annotations

import sys
from pathlib import Path

from diagnosis_harness.audit.verification.verify import is_unaltered
from diagnosis_harness.cli.output import tell
from diagnosis_harness.cli.saved_words import saved_words
from diagnosis_harness.kernel.errors import InvalidInput, RunDocumentInvalid
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.document_file import parsed
from diagnosis_harness.report.reading import read_document


def read_saved(file: Path, language: Language | None) -> tuple[RunDocument, Language]:
    """The run in a file, and the language to speak of it in: the run's own when none is asked for.

    A file that is not byte for byte what was saved is read all the same; standard error says so.

    Raises:
        InvalidInput: the file cannot be read, or is no run document.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        problem = f"it cannot be read ({error.strerror})"
        raise InvalidInput(str(file), problem, "give a file that --save or --json wrote") from error
    try:
        document = read_document(parsed(data, file=str(file)))
    except RunDocumentInvalid as error:
        raise damaged(file, error) from error
    spoken = language or document.run.language
    if not is_unaltered(data, file=str(file)):
        tell(saved_words(spoken).altered.format(file=file), sys.stderr)
    return document, spoken


def damaged(file: Path, error: RunDocumentInvalid) -> InvalidInput:
    """What is said of a run document that cannot be read."""
    problem = f"it is no run document that can be read ({' '.join(str(error).split())[:200]})"
    return InvalidInput(str(file), problem, "see what is wrong with it by `diagnose verify`")
