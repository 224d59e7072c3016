"""Input and output of the readers of foreign formats."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final, TextIO

from diagnosis_harness.adapters.sources.incident_folder.listing import ListedFile, Role
from diagnosis_harness.kernel.errors import InvalidInput

HEAD_CHARACTERS: Final = 262_144
_RECORDS: Final = 20
_LINES: Final = 60

OpenText = Callable[[], AbstractContextManager[TextIO]]
"""Opens the text of a file from its start."""

Cell = str | float | None
Record = Mapping[str, Any]

METRIC_COLUMNS: Final = ("time", "entity", "signal", "value", "unit")
LOG_COLUMNS: Final = ("time", "entity", "level", "message")
EVENT_COLUMNS: Final = (*LOG_COLUMNS, "reason", "count", "first", "last")
SPAN_ATTRIBUTES: Final = (
    "peer.service",
    "server.address",
    "net.peer.name",
    "db.system",
    "messaging.destination.name",
)
"""Attributes of client spans that name the callee, as OpenTelemetry defines them."""
SPAN_COLUMNS: Final = (
    "trace_id",
    "span_id",
    "parent_id",
    "entity",
    "operation",
    "start_s",
    "duration_s",
    "error",
    "kind",
    *SPAN_ATTRIBUTES,
)
CHANGE_COLUMNS: Final = ("time", "entity", "kind", "summary")
OTHER_LABELS: Final = 12
"""Columns for further labels of an alert: more than monitoring rules have."""
ALERT_COLUMNS: Final = (
    "time", "entity", "signal", "statistic", "direction", "summary",
    *(f"label_{number}" for number in range(1, OTHER_LABELS + 1)),
)  # fmt: skip
TOPOLOGY_COLUMNS: Final = ("caller", "callee", "relation")


@dataclass(frozen=True, slots=True)
class FileHead:
    """The beginning of a text file, as detectors see it."""

    name: str
    text: str
    records: tuple[Any, ...] = ()
    """The first JSON values: the elements of an array, or the values that follow one another."""
    is_array: bool = False

    @property
    def lines(self) -> list[str]:
        """The first lines that are not blank; the last one may be cut off."""
        return [line for line in self.text[:65_536].split("\n") if line.strip()][:_LINES]

    @property
    def lone(self) -> Record:
        """The only object of the file; empty if the file holds anything else."""
        only = self.records[0] if len(self.records) == 1 and not self.is_array else None
        return only if isinstance(only, dict) else {}

    @property
    def objects(self) -> tuple[Record, ...]:
        """The first values if all of them are objects, else nothing."""
        return self.records if all(isinstance(one, dict) for one in self.records) else ()

    def each_has(self, *keys: str) -> bool:
        """Whether there are first objects and each has all of the keys."""
        return bool(self.objects) and all(key in one for one in self.objects for key in keys)


class FileContent:
    """A whole file for a reader, reopened for every pass."""

    def __init__(self, file: ListedFile, open_text: OpenText, *, limit_bytes: int) -> None:
        self.file = file
        self._open = open_text
        self._limit = limit_bytes

    @property
    def stem(self) -> str:
        """The file's name without folders, extensions and the word for its role."""
        return stem_of(self.file.name)

    @property
    def changed_s(self) -> float:
        """When the file was written, epoch seconds."""
        dated_s = self.file.dated_s
        return self.file.path.stat().st_mtime if dated_s is None else dated_s

    @property
    def counted_from(self) -> str:
        """From when ages in the file are counted, in words."""
        if self.file.dated_s is None:
            return "from when the file was written"
        return "from the last time in the other files, since the file's own date lies days after it"

    @property
    def changed_year(self) -> int:
        """The year of that time, for times without a year."""
        return datetime.fromtimestamp(self.changed_s, UTC).year

    def lines(self) -> Iterator[str]:
        """All lines without their ends."""
        with self._open() as text:
            for line in text:
                yield line.rstrip("\r\n")

    def cells(self) -> Iterator[list[str]]:
        """The cells of all lines, divided by commas.

        Raises:
            InvalidInput: a cell is longer than the limit of CSV.
        """
        try:
            yield from csv.reader(self.lines())
        except csv.Error as error:
            raise InvalidInput(
                self.file.name,
                "one of its cells is too long to be one",
                "write the file again, or leave it out",
            ) from error

    def text(self) -> str:
        """The whole text.

        Raises:
            InvalidInput: it is too large to be read at once.
        """
        with self._open() as text:
            whole = text.read(self._limit + 1)
        if len(whole) > self._limit:
            raise InvalidInput(
                self.file.name,
                f"it is one document of more than {self._limit // 1_000_000} MB",
                "cut it to the hours around the incident, or raise `folder.memory_limit_mb`",
            )
        return whole

    def values(self) -> Iterator[Any]:
        """All JSON values: the elements of an array, or the values that follow one another.

        Raises:
            InvalidInput: the text is not JSON.
        """
        lines = self.lines()
        first = next((line for line in lines if line.strip()), "")
        if first.lstrip().startswith("{") and _json_of(first) is not None:
            yield from self._lines_of_json()
            return
        try:
            yield from iterate_json(self.text())
        except ValueError as error:
            raise InvalidInput(
                self.file.name, "its JSON is damaged or cut off", "copy or write the file again"
            ) from error

    def records(self) -> Iterator[Record]:
        """All objects among the JSON values."""
        return (one for one in self.values() if isinstance(one, dict))

    def _lines_of_json(self) -> Iterator[Any]:
        for number, line in enumerate(self.lines(), start=1):
            if line.strip():
                value = _json_of(line)
                if value is None:
                    raise InvalidInput(
                        f"{self.file.name} line {number}", "it is not valid JSON", "remove or fix that line"
                    )
                yield value


@dataclass(frozen=True, slots=True)
class RoleRows:
    """The rows of one role that a reader found."""

    role: Role
    columns: tuple[str, ...]
    rows: Iterable[tuple[Cell, ...]]
    remark: str = ""


@dataclass(frozen=True, slots=True)
class FileReader:
    """One format: how it is recognised and read.

    `recognises` is pure and cheap, since it only sees the head. `read` may raise `InvalidInput`.
    """

    key: str
    """The value of `format` in incident.toml."""
    shown: str
    """The name of the format in notes."""
    recognises: Callable[[FileHead], bool]
    read: Callable[[FileContent], Iterable[RoleRows]]
    is_text: bool = False
    """Whether it reads lines of text; such a reader is not tried on files with the extension of a table."""
    counts_ages: bool = False
    """Whether its times are ages, counted from when the file was written."""


def read_file_head(file: ListedFile, open_text: OpenText, *, limit_bytes: int) -> FileHead:
    """The head of a text file. An object longer than the head is read whole, within the limit.

    Raises:
        InvalidInput: the text cannot be decoded.
    """
    with open_text() as content:
        text = content.read(HEAD_CHARACTERS)
        start = text.lstrip()[:1]
        if start not in {"{", "["}:
            return FileHead(file.name, text)
        records = _first_records(text)
        if not records and len(text) == HEAD_CHARACTERS:
            rest = content.read(limit_bytes)
            records = _first_records(text + rest)
    return FileHead(file.name, text, records, is_array=start == "[")


def iterate_json(text: str) -> Iterator[Any]:
    """The elements of an array or of arrays in a row, or the values that follow one another.

    Raises:
        ValueError: the text is not JSON.
    """
    decoder, at, stripped = json.JSONDecoder(), 0, text.strip()
    arrays = stripped.startswith("[")
    while at < len(stripped):
        value, at = decoder.raw_decode(stripped, at)
        if arrays and isinstance(value, list):
            yield from value
        else:
            yield value
        while at < len(stripped) and stripped[at] in " \t\r\n\x1e":
            at += 1


def _first_records(text: str) -> tuple[Any, ...]:
    stripped = text.strip()
    at = 1 if stripped.startswith("[") else 0
    decoder = json.JSONDecoder()

    def each() -> Iterator[Any]:
        nonlocal at
        while at < len(stripped):
            while at < len(stripped) and stripped[at] in " \t\r\n,\x1e":
                at += 1
            try:
                value, at = decoder.raw_decode(stripped, at)
            except (ValueError, RecursionError):
                return
            yield value

    return tuple(islice(each(), _RECORDS))


def _json_of(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


_ROLE_WORDS: Final = tuple(role.value for role in Role)


def stem_of(name: str) -> str:
    """A file name without extensions, the word for its role and the timestamp that Grafana adds."""
    stem = name.rpartition("/")[2]
    for ending in (
        ".gz",
        ".csv",
        ".tsv",
        ".jsonl",
        ".ndjson",
        ".json",
        ".parquet",
        ".prom",
        ".txt",
        ".log",
        ".clef",
        ".raw",
    ):
        stem = stem.removesuffix(ending)
    stem = stem.partition("-data-")[0] if "-data-" in stem else stem
    for word in _ROLE_WORDS:
        if stem.lower().startswith(word):
            stem = stem[len(word) :]
            break
    return stem.strip(" -_.")


def at(value: object, *path: str | int) -> object:
    """The value at a path of keys and indexes inside a JSON value; None if there is none."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return None
    return value


def string_at(value: object, *paths: str) -> str | None:
    """The first text, number or boolean at one of the dotted paths, as text."""
    for path in paths:
        found = at(value, *path.split("."))
        if isinstance(found, str | int | float) and str(found) != "":
            return str(found)
    return None


def list_at(value: object, *path: str) -> list[Any]:
    """The list at a path; empty if there is none."""
    found = at(value, *path)
    return found if isinstance(found, list) else []


def number_of(value: object) -> float | None:
    """A number, or a text that holds one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return float(value)
    except ValueError:
        return None


def iso_seconds(value: object) -> float | None:
    """Epoch seconds of an ISO 8601 text, taken as UTC if it has no zone; None for anything else."""
    if not isinstance(value, str) or not value:
        return None
    text = value.strip().replace("Z", "+00:00") if value.endswith("Z") else value.strip()
    head, dot, rest = text.partition(".")
    if dot:  # Python reads at most six digits
        digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
        text = f"{head}.{digits[:6].ljust(6, '0')}{rest[len(digits) :]}"
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


def epoch_seconds(value: object) -> float | None:
    """Epoch seconds of a number in s, ms, us or ns by its size, or of an ISO 8601 text."""
    number = number_of(value)
    if number is None:
        return iso_seconds(value)
    for limit, per_s in ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6)):
        if abs(number) < limit:
            return number / per_s
    return number / 1e9
