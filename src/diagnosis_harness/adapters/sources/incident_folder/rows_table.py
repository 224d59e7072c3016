"""Turns the rows from a reader of a foreign format into a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import Cell, RoleRows
from diagnosis_harness.adapters.sources.incident_folder.listing import ListedFile
from diagnosis_harness.adapters.sources.incident_folder.settings_file import FileSettings
from diagnosis_harness.adapters.sources.incident_folder.table import SAMPLE_ROWS, Column, Kind, Table
from diagnosis_harness.kernel.errors import InvalidInput

_BATCH_ROWS: Final = 20_000


def table_of_rows(file: ListedFile, found: RoleRows, database: Database) -> Table:
    """Store the rows in the database, and return a table that reads them there.

    Raises:
        InvalidInput: they do not fit into memory, or the reader raises it.
    """
    rows = iter(found.rows)
    first = list(islice(rows, SAMPLE_ROWS))
    numeric = [_is_numeric(row[number] for row in first) for number in range(len(found.columns))]
    refs = [f"c{number}" for number in range(len(found.columns))]
    try:
        scan = database.keep_rows(refs, numeric, _batches(chain(first, rows)))
    except database.memory_errors as error:
        raise database.too_large(file.name, in_place=False) from error
    columns = tuple(
        Column(
            name=name,
            ref=ref,
            kind=Kind.NUMBER if number else Kind.TEXT,
            sample=tuple(None if row[at] is None else str(row[at]) for row in first),
        )
        for at, (name, ref, number) in enumerate(zip(found.columns, refs, numeric, strict=True))
    )
    own = file.settings
    kept = FileSettings(zone=own.zone, shift_s=own.shift_s, unit=own.unit)
    return Table(
        file=replace(file, role=found.role, settings=kept),
        scan=scan,
        columns=columns,
        in_place=True,
        locate=lambda row: f"record {row + 1}",
        explain=lambda _error: InvalidInput(file.name, "its rows cannot be read", "write the file again"),
    )


def _is_numeric(cells: Iterable[Cell]) -> bool:
    present = [cell for cell in cells if cell is not None]
    return bool(present) and all(isinstance(cell, int | float) for cell in present)


def _batches(rows: Iterator[Sequence[Cell]]) -> Iterator[list[Sequence[Cell]]]:
    while batch := list(islice(rows, _BATCH_ROWS)):
        yield batch
