"""A file as a table, whatever its format, with columns and rows counted by this program.

Cells are text (CSV, JSON) or typed (Parquet). This module interprets text cells, in SQL that counts what it
cannot read; nothing is guessed, and nothing is dropped silently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.listing import ListedFile
from diagnosis_harness.adapters.sources.incident_folder.names import printable, quote
from diagnosis_harness.adapters.sources.incident_folder.time_forms import form_of, is_ambiguous
from diagnosis_harness.adapters.sources.incident_folder.times import is_instant
from diagnosis_harness.kernel.errors import InvalidInput

SAMPLE_ROWS: Final = 200
"""Rows from which the kind of a column is derived; all rows are checked afterwards."""

MISSING: Final = ("", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "nat", "-", "--")
"""Cells, trimmed and in lower case, that mean a missing value."""

_NUMBER: Final = re.compile(
    r"\s*[+-]?((\d[\d_]*\.?\d*|\.\d+)([eE][+-]?\d+)?|inf(inity)?)\s*", re.ASCII | re.IGNORECASE
)
_BOUND: Final = "\x1f"
_MISSING_SQL: Final = f"'{_BOUND}{_BOUND.join(MISSING)}{_BOUND}'"


class Kind(StrEnum):
    """The SQL type of the cells of a column."""

    TEXT = "TEXT"
    NUMBER = "NUMBER"
    TIMESTAMP = "TIMESTAMP"  # a timestamp without a zone
    ZONED_TIMESTAMP = "ZONED_TIMESTAMP"
    OTHER = "OTHER"  # lists, structures, bytes: never used


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name as written (printable), the SQL that reads a cell, and the first cells as text."""

    name: str
    ref: str
    kind: Kind
    sample: tuple[str | None, ...]
    levels: tuple[str, ...] = ()
    """The header rows of this column, top down, if the file has several."""
    leaf: str = ""
    """The last key of a value inside nested objects: `service.name` for `resource` → `service.name`."""

    @property
    def looks_numeric(self) -> bool:
        """Whether the first cells are numbers: at least one, and no fewer than other texts."""
        if self.kind is not Kind.TEXT:
            return self.kind is Kind.NUMBER
        numbers = sum(1 for cell in self.sample if cell is not None and is_number(cell))
        others = sum(1 for cell in self.sample if cell is not None and not is_missing(cell)) - numbers
        return numbers > 0 and numbers >= others

    @property
    def looks_empty(self) -> bool:
        """Whether all of the first cells are missing values."""
        return self.kind is not Kind.OTHER and all(cell is None or is_missing(cell) for cell in self.sample)

    @property
    def looks_like_timestamps(self) -> bool:
        """Whether all of the first cells with a value are dates and times."""
        if self.kind is not Kind.TEXT:
            return self.kind in {Kind.TIMESTAMP, Kind.ZONED_TIMESTAMP}
        present = self.present
        return bool(present) and (all(is_instant(cell) for cell in present) or is_written_time(present))

    @property
    def present(self) -> list[str]:
        """The first cells with a value."""
        return [cell for cell in self.sample if cell is not None and not is_missing(cell)]


@dataclass(frozen=True, slots=True)
class Table:
    """One file that SQL can read."""

    file: ListedFile
    scan: str
    """A FROM clause with the columns' refs."""
    columns: tuple[Column, ...]
    in_place: bool
    """Whether repeated scans are cheap (Parquet), so that no copy is made."""
    locate: Callable[[int], str]
    """Data row (from 0) → its place for a person (`line 17`)."""
    explain: Callable[[Exception], InvalidInput]
    """Error of a scan → the problem of the file, in words."""
    note: str = ""
    """A remark for the user on how the file was read."""

    @property
    def has_rows(self) -> bool:
        """Whether there is anything below the header."""
        return any(column.sample for column in self.columns)

    @property
    def place(self) -> str:
        """The file's name, as errors give it."""
        return self.file.name

    def read(self, database: Database, select: str, *, where: str = "") -> str:
        """SQL to read the expressions from: a copy in memory, or the file itself if that is cheap.

        Raises:
            InvalidInput: the file breaks off, has rows of different lengths, or does not fit into memory.
        """
        statement = f"SELECT {select} FROM {self.scan}{f' WHERE {where}' if where else ''}"
        if self.in_place:
            return f"({statement})"
        try:
            return database.keep(statement)
        except database.memory_errors as error:
            raise database.too_large(self.place, in_place=self.in_place) from error
        except database.errors as error:
            raise self.explain(error) from error

    def ask(
        self, database: Database, sql: str, parameters: Sequence[object] = ()
    ) -> list[tuple[object, ...]]:
        """Rows of a query over the result of `read`; errors are those of this file.

        Raises:
            InvalidInput: as `read`.
        """
        try:
            return database.rows(sql, parameters)
        except database.memory_errors as error:
            raise database.too_large(self.place, in_place=self.in_place) from error
        except database.errors as error:
            raise self.explain(error) from error

    def first_where(
        self, database: Database, column: Column, condition: str
    ) -> tuple[str, str | None] | None:
        """The first row that meets the condition: its place, and its cell in the column as text."""
        found = self.ask(
            database,
            f"SELECT place_number, cell FROM (SELECT row_number() OVER () - 1 AS place_number, "
            f"CAST({column.ref} AS VARCHAR) AS cell, {condition} AS hit FROM {self.scan}) WHERE hit LIMIT 1",
        )
        if not found:
            return None
        number, cell = found[0]
        return self.locate(int(str(number))), None if cell is None else str(cell)

    def count_text(self, database: Database, columns: Sequence[Column]) -> list[int]:
        """For each column, how many cells contain text instead of a number; missing values do not count."""
        if not columns:
            return []
        counts = ", ".join(f"count(*) FILTER ({is_text_sql(column)})" for column in columns)
        return [int(str(count)) for count in self.ask(database, f"SELECT {counts} FROM {self.scan}")[0]]

    def refuse_text(self, database: Database, column: Column) -> InvalidInput:
        """The error for the first cell that contains text instead of a number."""
        where, cell = self.first_where(database, column, is_text_sql(column)) or ("", None)
        return InvalidInput(
            f"{self.place} {where}".strip(),
            f"column {quote(column.name)} holds {quote(cell or '')} among its numbers",
            "write a plain number, or leave the cell empty if there is none",
        )


def is_written_time(cells: Sequence[str]) -> bool:
    """Whether all of the cells are dates and times in one of the forms other than ISO 8601."""
    return form_of(cells) is not None or is_ambiguous(cells)


def is_missing(cell: str) -> bool:
    """Whether a cell means a missing value."""
    return cell.strip().lower() in MISSING


def is_number(cell: str) -> bool:
    """Whether a cell is a number, including infinity (NaN is a missing value)."""
    return _NUMBER.fullmatch(cell) is not None


def number_sql(column: Column) -> str:
    """SQL: the cell as DOUBLE; NULL if it is text or missing, which `Table.count_text` distinguishes."""
    return (
        f"CAST({column.ref} AS DOUBLE)" if column.kind is Kind.NUMBER else f"TRY_CAST({column.ref} AS DOUBLE)"
    )


def is_missing_sql(column: Column) -> str:
    """SQL: whether the cell is a missing value. It searches one text, since duckdb plans a list slowly."""
    cell = f"lower(trim(CAST({column.ref} AS VARCHAR)))"
    return f"({column.ref} IS NULL OR contains({_MISSING_SQL}, '{_BOUND}' || {cell} || '{_BOUND}'))"


def is_text_sql(column: Column) -> str:
    """SQL: whether the cell contains text instead of a number."""
    if column.kind is not Kind.TEXT:
        return "false"
    return f"(TRY_CAST({column.ref} AS DOUBLE) IS NULL AND NOT {is_missing_sql(column)})"


def text_cell_sql(column: Column | None) -> str:
    """SQL: the cell as text; NULL if it is empty or there is no such column."""
    if column is None:
        return "CAST(NULL AS VARCHAR)"
    return f"nullif(CAST({column.ref} AS VARCHAR), '')"


def show_columns(columns: Sequence[Column], *, limit: int = 8) -> str:
    """Column names for a sentence, the first few of them."""
    names = ", ".join(printable(column.name) or "(no name)" for column in columns[:limit])
    return names + (f" and {len(columns) - limit} more" if len(columns) > limit else "")
