"""Print the document of a finished run, and save it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.cli.output import (
    drop_stdout,
    escape_lines,
    make_console,
    save_bytes,
    write_json,
    write_line,
)
from diagnosis_harness.cli.render.report import report_lines
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.document_file import document_bytes


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """How to print a document.

    Attributes:
        as_json: the document instead of the report.
        color: whether to use colours on a terminal.
        save: a file for the document.
    """

    as_json: bool
    color: bool
    save: Path | None


def write_answer(document: RunDocument, text: str | None, output: OutputOptions) -> None:
    """Print the text of a path other than a diagnosis, or else do as `write_outputs`; save the document.

    Raises:
        InvalidInput, OSError: as `write_outputs`.
    """
    if text is None or output.as_json:
        write_outputs(document, output)
        return
    try:
        write_line(escape_lines(text), sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        drop_stdout()
    finally:
        if output.save is not None:
            save_bytes(document_bytes(document), output.save)


def write_outputs(document: RunDocument, output: OutputOptions) -> None:
    """Print the report or the document, and save the document if requested.

    A reader that closes the pipe early (`| head`) is not an error; the rest of the output is dropped.

    Raises:
        InvalidInput: the file cannot be written; the report was printed anyway.
        OSError: the standard output cannot be written; the document was saved anyway.
    """
    try:
        if output.as_json:
            write_json(document_bytes(document))
        else:
            console = make_console(color=output.color)
            console.print_lines(report_lines(document, width=console.width))
        sys.stdout.flush()
    except BrokenPipeError:
        drop_stdout()
    finally:
        if output.save is not None:
            save_bytes(document_bytes(document), output.save)
