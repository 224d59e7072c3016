"""Writes an incident.toml that states how a folder was read, for a person to correct."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.names import printable
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME
from diagnosis_harness.application.folder_look import FileLook, FolderLook, Lack
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.window import utc_text

_FORMS: Final = frozenset({"csv", "tsv", "parquet", "json", "jsonl"})
"""Forms of plain tables, whose role can be set; the reader of a foreign format determines its role."""
_NAMED_MAX: Final = 8


def write_draft(folder: Path, seen: FolderLook, *, look: Callable[[], FolderLook]) -> Path:
    """Write the file, read the folder again by `look`, and return its path. Never changes an existing file.

    Raises:
        InvalidInput: it exists already, cannot be written, or changes how the folder is read; in the last
                case it is removed again.
    """
    file = folder / SETTINGS_NAME
    present = {entry.name for entry in folder.iterdir()}
    text = "\n".join(draft_lines(seen, present)) + "\n"
    try:
        with file.open("x", encoding="utf-8") as out:  # "x" refuses an existing file
            out.write(text)
    except FileExistsError:
        raise InvalidInput(
            printable(str(file)), "it is there already", "edit it, or move it away and look again with --fix"
        ) from None
    except OSError as error:
        problem = f"it cannot be written ({error.strerror})"
        raise InvalidInput(printable(str(file)), problem, "check the permissions of the folder") from error
    try:
        again = look()
    except InvalidInput as error:
        file.unlink()
        problem = f"what was written cannot be read back ({error.problem})"
        raise InvalidInput(printable(str(file)), problem, "write it by hand") from error
    if _reading(again) != _reading(seen):
        file.unlink()
        raise InvalidInput(
            printable(str(file)),
            "with these settings the files are read differently",
            "write it by hand",
        )
    return file


def _reading(look: FolderLook) -> dict[str, tuple[str | None, int]]:
    """How every file is read. Notes are left out, since ignoring an unusable file changes its note."""
    return {file.name: (file.role, file.rows) for file in look.files}


def draft_lines(look: FolderLook, present: set[str]) -> Iterator[str]:
    """The lines of the file; `present` are the file names in the folder."""
    yield "# Written by `diagnose look --fix` with what it understood. Correct what is wrong; a line that is"
    yield "# right may go. Every key stands in docs/reference/incident-folder.md."
    yield ""
    yield "[incident]"
    yield f"name = {_string(look.name)}"
    yield f"zone = {_string(look.zone or 'UTC')}  # of times that name none"
    if look.window is not None:
        start, end = utc_text(look.window.start_s), utc_text(look.window.end_s)
        yield f"# onset = {_string(start)}  # when it began; the data goes from {start} to {end}"
    if Lack.ALERT in look.lacks or look.obstacle is not None:
        yield ""
        yield "# [alert]  # what was affected"
        names = ", ".join(service.name for service in look.services[:_NAMED_MAX] if service.name.isascii())
        yield f"# entity = {_string(look.services[0].name if look.services else 'NAME')}  # seen: {names}"
    for file in look.files:
        if file.name in present:
            yield from _file_lines(file)
    signals = [signal for signal in look.signals if signal.unit is None]
    if signals:
        yield ""
        yield "# [units]  # of signals whose unit is not known"
        yield from (f'# {_string(signal.name)} = "ms"' for signal in signals[:_NAMED_MAX])


def _file_lines(file: FileLook) -> Iterator[str]:
    yield ""
    yield f"[files.{_string(file.name)}]"
    if file.role is None:
        yield f"ignore = true  # {file.note}"
    elif file.form in _FORMS:
        yield f"role = {_string(file.role)}  # {file.form}: {file.note}"
    else:
        yield f"# {file.form}: {file.note}"


def _string(text: str) -> str:
    """A basic string of TOML. JSON differs only for DEL, which printable names do not contain."""
    return json.dumps(text, ensure_ascii=False)
