"""What goes to the standard output and into files: the report, or the document."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from rich.console import Console

from diagnosis_harness.cli.render.report import report_lines
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.document_file import saved_bytes
from diagnosis_harness.report.timestamps import shown


@dataclass(frozen=True, slots=True)
class Output:
    """How the answer is wanted.

    Attributes:
        as_json: the document instead of the report.
        color: False never colours; True colours on a terminal that wants it.
        save: a file that gets the document as well.
    """

    as_json: bool
    color: bool
    save: Path | None


class PatientConsole(Console):
    """A console for which a reader that has gone is no reason to end the process."""

    def on_broken_pipe(self) -> None:
        """Write nothing more."""
        self.quiet = True
        if not self.stderr:
            drop_stdout()


def make_console(*, color: bool, stderr: bool = False) -> PatientConsole:
    """A console that writes text as it is: colours only on a terminal, no markup, no guessed highlights."""
    return PatientConsole(
        stderr=stderr, no_color=not color or None, markup=False, highlight=False, emoji=False
    )


def publish(document: RunDocument, output: Output) -> None:
    """Print the answer, and save it where that was asked for.

    A reader that closes the pipe early (`| head`) is no error: what it did not want is dropped.

    Raises:
        InvalidInput: the file cannot be written; the answer was printed all the same.
        OSError: the standard output cannot be written; the answer was saved all the same.
    """
    try:
        if output.as_json:
            write_json(saved_bytes(document))
        else:
            console = make_console(color=output.color)
            for line in report_lines(document, width=console.width):
                console.print(line, soft_wrap=True)
        sys.stdout.flush()
    except BrokenPipeError:
        drop_stdout()
    finally:
        if output.save is not None:
            save_bytes(saved_bytes(document), output.save)


def tell(line: str, stream: TextIO) -> None:
    """Write one line; a reader that has gone is no error."""
    try:
        stream.write(f"{line}\n")
        stream.flush()
    except BrokenPipeError:
        if stream is sys.stdout:
            drop_stdout()


def tell_json(value: JsonValue, *, indent: int | None = None) -> None:
    """One JSON value on the standard output; on a terminal it cannot steer it."""
    # Half of a surrogate pair is no UTF-8; escaped in Python's way it is what JSON writes for it.
    text = json.dumps(value, ensure_ascii=False, indent=indent).encode("utf-8", "backslashreplace").decode()
    tell(harmless_json(text) if sys.stdout.isatty() else text, sys.stdout)


def harmless_json(text: str) -> str:
    """JSON text that says the same, with an escape for whatever a terminal may obey or not show.

    JSON itself escapes the controls below U+0020 alone: those from U+007F on, and marks that change the
    direction of what follows, stand in it as they are.
    """
    return "".join(c if c == "\n" or shown(c) == c else json.dumps(c)[1:-1] for c in text)


def drop_stdout() -> None:
    """Let nothing more be written to a pipe that nobody reads, also not when the interpreter ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_json(data: bytes) -> None:
    """Write JSON, or JSON Lines, to the standard output: byte for byte, and harmless to a terminal."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        data = harmless_json(data.decode("utf-8")).encode("utf-8")
    sys.stdout.buffer.write(data)


def save_bytes(data: bytes, file: Path) -> None:
    """Save whole or not at all: written beside, then moved into place.

    Raises:
        InvalidInput: the file cannot be written.
    """
    beside = file.with_name(f".{file.name}.part")
    try:
        beside.write_bytes(data)
        beside.replace(file)
    except OSError as error:
        problem = f"it cannot be written ({error.strerror})"
        raise InvalidInput(str(file), problem, "name a file in a folder that can be written") from error
