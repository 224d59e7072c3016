"""Write to the standard streams and to files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.text import Text

from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.report.timestamps import escape_line


class PatientConsole(Console):
    """A console that survives a broken pipe."""

    def on_broken_pipe(self) -> None:
        """Write nothing more."""
        self.quiet = True
        if not self.stderr:
            drop_stdout()

    @property
    def table_width(self) -> int | None:
        """The width for tables; None if the output is piped, so that every row is one line."""
        return self.width if self.is_terminal else None

    def print_lines(self, lines: Iterable[Text | str]) -> None:
        """Print lines as they are, without wrapping them."""
        for line in lines:
            self.print(line, soft_wrap=True)


def make_console(*, color: bool, stderr: bool = False) -> PatientConsole:
    """A console that writes text as it is: colours only on a terminal, no markup, no automatic highlights."""
    return PatientConsole(
        stderr=stderr, no_color=not color or None, markup=False, highlight=False, emoji=False
    )


def write_line(line: str, stream: TextIO) -> None:
    """Write one line; a broken pipe is not an error."""
    try:
        stream.write(f"{line}\n")
        stream.flush()
    except BrokenPipeError:
        if stream is sys.stdout:
            drop_stdout()


def print_json(value: JsonValue, *, indent: int | None = None) -> None:
    """Print one JSON value; on a terminal, escape what could control it."""
    # Half of a surrogate pair is not UTF-8; Python's escape for it is also JSON's.
    text = json.dumps(value, ensure_ascii=False, indent=indent).encode("utf-8", "backslashreplace").decode()
    write_line(harmless_json(text) if sys.stdout.isatty() else text, sys.stdout)


def harmless_json(text: str) -> str:
    """The same JSON, with escapes for characters that a terminal may obey or not show.

    JSON itself escapes only the controls below U+0020, not those from U+007F on, nor bidirectional marks.
    """
    return "".join(c if c == "\n" or escape_line(c) == c else json.dumps(c)[1:-1] for c in text)


def escape_lines(text: str) -> str:
    """A text of several lines, safe for a terminal."""
    return "\n".join(escape_line(line) for line in text.split("\n"))


def drop_stdout() -> None:
    """Discard further output, including the flush at interpreter exit, after a pipe has broken."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def write_json(data: bytes) -> None:
    """Write JSON or JSON Lines to the standard output: byte for byte, but harmless on a terminal."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        data = harmless_json(data.decode("utf-8")).encode("utf-8")
    sys.stdout.buffer.write(data)


def save_bytes(data: bytes, file: Path) -> None:
    """Save all of it or nothing: write a temporary file, then move it into place.

    Raises:
        InvalidInput: the file cannot be written.
    """
    temporary = file.with_name(f".{file.name}.part")
    try:
        temporary.write_bytes(data)
        temporary.replace(file)
    except OSError as error:
        problem = f"it cannot be written ({error.strerror})"
        raise InvalidInput(str(file), problem, "name a file in a folder that can be written") from error
