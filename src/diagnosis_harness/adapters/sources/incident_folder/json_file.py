"""JSON: an array of objects (.json), or one object per line (.jsonl)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.content import open_bytes
from diagnosis_harness.adapters.sources.incident_folder.database import Database, text_sql
from diagnosis_harness.adapters.sources.incident_folder.listing import Form, ListedFile, Role
from diagnosis_harness.adapters.sources.incident_folder.names import printable
from diagnosis_harness.adapters.sources.incident_folder.table import SAMPLE_ROWS, Column, Kind, Table
from diagnosis_harness.kernel.errors import InvalidInput

_CHUNK_BYTES: Final = 1 << 20
_BLANK_LIMIT_CHUNKS: Final = 16
_PARSED_LIMIT_BYTES: Final = 4 << 20
"""Parsing in Python takes up to forty times as much memory, only to name a line."""
_KEYS_LIMIT: Final = 2000
_DEPTH_LIMIT: Final = 4
"""Levels of nested objects that are read; deeper ones stay text."""

_Path = tuple[str, ...]
"""The keys that lead to a value, outermost first."""


def open_json(file: ListedFile, database: Database) -> Table:
    """Find the keys of all objects, and check that the file is complete.

    Raises:
        InvalidInput: it is something else, breaks off, or holds anything but objects.
    """
    first = _check_ends(file)
    shape = "array" if first == b"[" else "unstructured" if file.form is Form.JSON else "newline_delimited"
    options = (
        f"{text_sql(str(file.path))}, format = '{shape}', "
        f"compression = '{'gzip' if file.gzipped else 'none'}'"
    )

    def explain(error: Exception) -> InvalidInput:
        return _explain(file, error)

    try:
        objects, others, total = database.rows(
            f"SELECT count(*) FILTER (json_type(json) = 'OBJECT'), "
            f"min(n) FILTER (json_type(json) <> 'OBJECT'), count(*) "
            f"FROM (SELECT json, row_number() OVER () AS n FROM read_json_objects({options}))"
        )[0]
        if objects != total:
            raise InvalidInput(
                f"{file.name} record {others}",
                "this is not an object",
                'write every record as {"time": …, …}',
            )
        keys = [
            str(row[0])
            for row in database.rows(
                f"SELECT key, min(place) AS place FROM (SELECT unnest(json_keys(json)) AS key, "
                f"unnest(range(len(json_keys(json)))) AS place FROM read_json_objects({options})) "
                f"GROUP BY key ORDER BY place, key LIMIT {_KEYS_LIMIT + 1}"
            )
        ]
        paths = _paths_of_keys(database, options, keys)
        _check_keys(file, [key for path in paths for key in path])
        scan, columns = _columns(database, options, paths)
    except database.errors as error:
        raise explain(error) from error
    return Table(
        file=file,
        scan=scan,
        columns=columns,
        in_place=False,
        locate=lambda row: f"record {row + 1}",
        explain=explain,
    )


def _paths_of_keys(database: Database, options: str, keys: list[str]) -> list[_Path]:
    """Every key, or instead of it the keys of the objects that the first records have there."""
    first = database.rows(f"SELECT json FROM read_json_objects({options}) LIMIT {SAMPLE_ROWS}")
    inside: dict[str, dict[_Path, None]] = {}
    for (text,) in first:
        for key, value in json.loads(str(text)).items():
            if isinstance(value, dict):
                for path in _paths_in(value, (key,)):
                    inside.setdefault(key, {}).setdefault(path)
    return [path for key in keys for path in inside.get(key, {(key,): None})][: _KEYS_LIMIT + 1]


def _paths_in(value: Mapping[str, object], above: _Path) -> Iterator[_Path]:
    for key, inner in value.items():
        if isinstance(inner, dict) and len(above) < _DEPTH_LIMIT:
            yield from _paths_in(inner, (*above, key))
        else:
            yield (*above, key)


def _columns(database: Database, options: str, paths: list[_Path]) -> tuple[str, tuple[Column, ...]]:
    if not paths:
        return "(SELECT 1 WHERE false)", ()
    refs = [f"c{number}" for number in range(len(paths))]
    # By JSON pointer, since duckdb's own reader ignores the case of keys; all in one pass over the text.
    pointers = ", ".join(
        text_sql("".join("/" + key.replace("~", "~0").replace("/", "~1") for key in path)) for path in paths
    )
    picked = ", ".join(f"cells[{number}] AS {ref}" for number, ref in enumerate(refs, start=1))
    scan = (
        f"(SELECT {picked} FROM (SELECT json_extract_string(json, [{pointers}]) AS cells "
        f"FROM read_json_objects({options})))"
    )
    cells = ", ".join(f"left({ref}, 500)" for ref in refs)
    sample = database.rows(f"SELECT {cells} FROM {scan} LIMIT {SAMPLE_ROWS}")
    return scan, tuple(
        Column(
            name=printable(".".join(path)),
            ref=ref,
            kind=Kind.TEXT,
            sample=tuple(row[number] for row in sample),
            leaf=path[-1] if len(path) > 1 else "",
        )
        for number, (path, ref) in enumerate(zip(paths, refs, strict=True))
    )


def _check_keys(file: ListedFile, keys: list[str]) -> None:
    if len(keys) > _KEYS_LIMIT:
        raise InvalidInput(
            file.name,
            f"its records have more than {_KEYS_LIMIT} keys",
            "use the long layout: time, entity, signal, value",
        )
    if any("\0" in key for key in keys):
        raise InvalidInput(file.name, "a key holds a zero byte", "rename that key")


def _explain(file: ListedFile, error: Exception) -> InvalidInput:
    text = str(error)
    if "not valid UTF" in text or "unicode" in text.lower():
        return InvalidInput(file.name, "it is not UTF-8 text", "save it as UTF-8")
    if "maximum_object_size" in text:
        return InvalidInput(
            file.name, "one of its records is larger than 16 MB", "remove or split that record"
        )
    line = _bad_line(file)
    return InvalidInput(
        f"{file.name} line {line}" if line else file.name,
        f"it is not valid {'JSON' if file.form is Form.JSON else 'JSON Lines'}",
        "write an array of objects into .json, or one object a line into .jsonl",
    )


def _bad_line(file: ListedFile) -> int | None:
    """The first line that is not JSON. Python reads the file for it, since duckdb counts lines differently.

    None if finding it would take too much memory.
    """
    number = 0
    with open_bytes(file) as content:
        try:
            if file.form is Form.JSON:
                text = content.read(_PARSED_LIMIT_BYTES + 1)
                if len(text) <= _PARSED_LIMIT_BYTES:
                    json.loads(text)
                return None
            while line := content.readline(_PARSED_LIMIT_BYTES + 1):
                if len(line) > _PARSED_LIMIT_BYTES:
                    return None
                number += 1
                if line.strip():
                    json.loads(line.removeprefix(b"\xef\xbb\xbf"))
        except json.JSONDecodeError as error:
            return error.lineno if file.form is Form.JSON else number
        except (ValueError, RecursionError):
            return None
    return None


def _check_ends(file: ListedFile) -> bytes:
    """Check the first and last character of the file, since duckdb accepts an array that breaks off.

    An alert may be a single object. Returns the first character. A file that unpacks to megabytes of
    whitespace is refused here, before anything else reads it.
    """
    first, last = _ends(file)
    lone = first == b"{" and file.role is Role.ALERT
    if not first:
        raise InvalidInput(file.name, "it is empty", "write an array of objects, or remove it")
    if file.form is Form.JSON and first == b"{" and not lone:
        raise InvalidInput(
            file.name,
            "it is one object, in no form that is known here",
            'save the list of rows inside it as an array: [{"time": …, "entity": …, …}, …]',
        )
    opening = b"[" if file.form is Form.JSON and not lone else b"{"
    if first != opening:
        raise InvalidInput(
            file.name,
            f"its name says {(file.form or Form.JSON).value.upper()}, but it holds something else",
            "give it the extension of its format",
        )
    if last != (b"]" if opening == b"[" else b"}"):
        raise InvalidInput(file.name, "its JSON is cut off before the end", "copy or write the file again")
    return first


def _ends(file: ListedFile) -> tuple[bytes, bytes]:
    first = last = b""
    blank_chunks = 0
    with open_bytes(file) as content:
        while chunk := content.read(_CHUNK_BYTES):
            signs = chunk.removeprefix(b"\xef\xbb\xbf").strip()
            blank_chunks = 0 if signs else blank_chunks + 1
            if blank_chunks > _BLANK_LIMIT_CHUNKS:
                raise InvalidInput(
                    file.name, "it holds more than 16 MB of whitespace only", "write it without"
                )
            first = first or signs[:1]
            last = signs[-1:] or last
    return first, last
