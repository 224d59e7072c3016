"""Lists the files of a folder, with the role that a file's name gives, and those that are left out."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.names import printable
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME, FileSettings
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import FileNote

FILES_LIMIT: Final = 1000


class Role(StrEnum):
    """The kind of content of a file."""

    METRICS = "metrics"
    TRACES = "traces"
    TOPOLOGY = "topology"
    LOGS = "logs"
    CHANGES = "changes"
    ALERT = "alert"
    EVENTS = "events"  # what an orchestrator reported about its objects
    STATES = "states"  # the state of its objects at one time


class Form(StrEnum):
    """The format of a file."""

    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    JSON = "json"
    JSONL = "jsonl"


@dataclass(frozen=True, slots=True)
class ListedFile:
    """One file that will be read."""

    path: Path
    name: str
    """The printable name."""
    role: Role | None
    """The role by incident.toml or the name; None if the content must decide."""
    form: Form | None
    """The form by the extension; None for any other extension."""
    gzipped: bool
    settings: FileSettings
    dated_s: float | None = None
    """When it was written, in epoch seconds, where its own date cannot be right."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The files to read, by name, and a note for each that is left out."""

    files: tuple[ListedFile, ...]
    left_out: tuple[FileNote, ...]


def list_folder(folder: Path, settings: Mapping[str, FileSettings]) -> Listing:
    """List the files directly in the folder; `settings` are those of `[files]`, by file name.

    Raises:
        InvalidInput: there is no such folder, it cannot be read, or the settings name a missing file.
    """
    entries = _entries(folder)
    names = {entry.name for entry in entries}  # a file in an archive is named ARCHIVE/FILE
    absent = next((name for name in settings if name.partition("/")[0] not in names), None)
    if absent is not None:
        raise InvalidInput(
            SETTINGS_NAME,
            f"[files.{absent!r}] names no file of the folder",
            "correct the name or remove the table",
        )
    files: list[ListedFile] = []
    left_out: list[FileNote] = []
    own = {entry.resolve(): entry.name for entry in entries if not entry.is_symlink()}
    for entry in entries:
        if entry.name == SETTINGS_NAME:
            continue
        listed = _judge(entry, folder, settings.get(entry.name, FileSettings()))
        if isinstance(listed, ListedFile) and entry.is_symlink() and listed.path in own:
            listed = f"left out: it is a link to {printable(own[listed.path])}"
        if isinstance(listed, ListedFile):
            files.append(listed)
        else:
            left_out.append(FileNote(file=printable(entry.name), role=None, rows=0, note=listed))
    return Listing(files=tuple(files), left_out=tuple(left_out))


def _entries(folder: Path) -> list[Path]:
    place = printable(str(folder))
    try:
        if not folder.exists():
            raise InvalidInput(place, "there is no such folder", "check the path")
        if not folder.is_dir():
            raise InvalidInput(place, "this is a file, not a folder", "give the folder that holds it")
        entries = sorted(folder.iterdir(), key=lambda entry: entry.name)
    except OSError as error:
        raise InvalidInput(
            place, f"the folder cannot be read ({error.strerror})", "check its permissions"
        ) from error
    if not entries:
        raise InvalidInput(
            place, "the folder is empty", "put at least one metrics, traces or logs file into it"
        )
    if len(entries) > FILES_LIMIT:
        raise InvalidInput(
            place, f"it holds {len(entries)} files", f"keep at most {FILES_LIMIT}, all of one incident"
        )
    return entries


_ABOUT: Final = re.compile(
    r"(?:licen[cs]e|copying|notice|readme|changelog|authors|citation|contributing)(?:[._-].*)?|.+\.(?:md|rst|pdf|html?)",
    re.IGNORECASE,
)
"""Names of documents that people put next to data."""


def _judge(entry: Path, folder: Path, settings: FileSettings) -> ListedFile | str:
    """The file to read, or why it is left out."""
    if settings.ignore:
        return f"left out as {SETTINGS_NAME} asks"
    if entry.name.startswith("."):
        return "left out: its name begins with a dot"
    try:
        inside = entry.resolve().parent == folder.resolve()
        regular = stat.S_ISREG(entry.stat().st_mode)
    except (OSError, RuntimeError):  # a loop of links raises RuntimeError before Python 3.13
        return "left out: it cannot be reached"
    if not inside:
        return "left out: it is a link to a place outside the folder"
    if not regular:
        return "left out: it is not a file; put the files in it beside the others to have them read"
    if settings.role is None and settings.format is None and _ABOUT.fullmatch(entry.name):
        return "left out: by its name it is a page about the data, and holds none"
    return _file_named(entry.resolve(), entry.name, settings)


def list_member(path: Path, name: str, settings: FileSettings) -> ListedFile | str:
    """A file unpacked from an archive, at that path under another name; or why it is left out."""
    if settings.ignore:
        return f"left out as {SETTINGS_NAME} asks"
    return _file_named(path, name, settings)


def _file_named(path: Path, name: str, settings: FileSettings) -> ListedFile:
    own = name.rpartition("/")[2]
    form, gzipped = _form(own)
    return ListedFile(
        path=path,
        name=printable(name),
        role=_role(own, settings),
        form=form,
        gzipped=gzipped,
        settings=settings,
    )


def _form(name: str) -> tuple[Form | None, bool]:
    lowered = name.lower()
    gzipped = lowered.endswith(".gz")
    ending = lowered.removesuffix(".gz").rpartition(".")[2]
    form = next((form for form in Form if form.value == ending), None)
    if gzipped and form is Form.PARQUET:
        return None, True
    return (Form.JSONL if ending == "ndjson" else form), gzipped


def _role(name: str, settings: FileSettings) -> Role | None:
    if settings.role is not None:
        return Role(settings.role)
    return next((role for role in Role if name.lower().startswith(role.value)), None)
