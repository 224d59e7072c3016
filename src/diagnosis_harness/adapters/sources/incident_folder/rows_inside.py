"""Rows from a list inside one JSON object, with the fields that the object has for all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.binding import TIME
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import Cell, FileHead, RoleRows
from diagnosis_harness.adapters.sources.incident_folder.listing import Role
from diagnosis_harness.adapters.sources.incident_folder.names import plain_key

_DEPTH_LIMIT: Final = 4
"""Levels of nested objects that are read; deeper ones stay text."""


def rows_inside(head: FileHead) -> RoleRows | None:
    """The rows of the longest list of objects with a time, each with the fields of the enclosing object.

    None if the object has no such list. It does not give their role; their columns do.
    """
    lists = [value for value in head.lone.values() if isinstance(value, list) and _are_timed(value)]
    if not lists:
        return None
    around = {str(key): value for key, value in head.lone.items() if isinstance(value, str | int | float)}
    rows = [{**around, **dict(_fields(one))} for one in max(lists, key=len)]
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    return RoleRows(Role.METRICS, columns, (tuple(_cell(row.get(key)) for key in columns) for row in rows))


def _are_timed(rows: list[object]) -> bool:
    """Whether all of them are objects with a field for the time."""
    return bool(rows) and all(
        isinstance(one, dict) and any(plain_key(key) in TIME for key, _ in _fields(one)) for one in rows
    )


def _fields(record: Mapping[str, object], above: str = "", depth: int = 1) -> Iterator[tuple[str, object]]:
    """Every field with its value; fields of nested objects follow a dot."""
    for key, value in record.items():
        if isinstance(value, dict) and depth < _DEPTH_LIMIT:
            yield from _fields(value, f"{above}{key}.", depth + 1)
        else:
            yield f"{above}{key}", value


def _cell(value: object) -> Cell:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    return json.dumps(value, ensure_ascii=False)
