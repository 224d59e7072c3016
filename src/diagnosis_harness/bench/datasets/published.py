"""Reads published files: a missing file, or one of another form, is reported in one sentence."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from diagnosis_harness.bench.case import Truth
from diagnosis_harness.bench.datasets.folder import JsonRow
from diagnosis_harness.kernel.errors import InvalidInput

REMEDY = "use the files as published"


def read_incident_ids(home: Path, pattern: str) -> tuple[str, ...]:
    """The names of the incident folders with such a file, sorted; no label is opened.

    Raises:
        InvalidInput: there is none.
    """
    found = sorted(path.parent.name for path in (home / "incidents").glob(pattern))
    if not found:
        raise InvalidInput(str(home), "holds no incidents", "name the folder of the data sets with --data")
    return tuple(found)


def read_text(path: Path) -> str:
    """The text of a file.

    Raises:
        InvalidInput: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidInput(path.name, f"it cannot be read ({error.strerror})", REMEDY) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(path.name, "it is not UTF-8 text", REMEDY) from error


def parse_file(path: Path) -> object:
    """The content of a JSON file.

    Raises:
        InvalidInput: it cannot be read, or is not JSON.
    """
    try:
        value: object = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{path.name} line {error.lineno}", "it is not JSON", REMEDY) from error
    return value


def read_object(path: Path) -> JsonRow:
    """The object in a JSON file.

    Raises:
        InvalidInput: it holds something else.
    """
    value = parse_file(path)
    if not isinstance(value, dict):
        raise InvalidInput(path.name, "it holds no JSON object", REMEDY)
    return value


def read_objects(path: Path, key: str | None = None) -> list[JsonRow]:
    """The objects of a JSON array, which may be under a key of an object; none if there is no file.

    Raises:
        InvalidInput: it holds something else.
    """
    if not path.exists():
        return []
    value = parse_file(path) if key is None else read_object(path).get(key)
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise InvalidInput(path.name, "it holds no array of JSON objects", REMEDY)
    return value


def read_truths(labels: Path, ids: Collection[str], truth_of: Callable[[JsonRow], Truth]) -> dict[str, Truth]:
    """The truths of a file of labels, an object with an `id` for every incident."""
    wanted = set(ids)
    entries = {str(entry.get("id")): entry for entry in read_objects(labels)}
    return complete_truths(
        ids, {name: _truth_of(entry, truth_of) for name, entry in entries.items() if name in wanted}
    )


def _truth_of(entry: JsonRow, truth_of: Callable[[JsonRow], Truth]) -> Truth:
    """The truth of one label; a label of another form does not affect the others."""
    try:
        return truth_of(entry)
    except (ValueError, LookupError, AttributeError, TypeError) as error:
        sentence = f"its label is not of the form of the set ({type(error).__name__}: {error})"
        return Truth(entities=(), fault_kind="", unusable=sentence)


def complete_truths(ids: Iterable[str], truths: Mapping[str, Truth]) -> dict[str, Truth]:
    """The truths; an incident without one gets a sentence that states this."""
    missing = Truth(entities=(), fault_kind="", unusable="the data set has no label for it")
    return {name: truths.get(name, missing) for name in ids}


def text_of(row: JsonRow, key: str) -> str | None:
    """The text under a key; None if it is missing or empty."""
    value = row.get(key)
    return str(value) if value not in {None, ""} else None
