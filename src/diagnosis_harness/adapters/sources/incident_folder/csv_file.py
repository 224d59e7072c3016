"""CSV and TSV: header, separator and column count are determined here, so that duckdb does not guess them.

Rules (RFC 4180): UTF-8, with or without a byte order mark; separator `,`, or `;` or a tab if the header
contains that and no comma; `"` quotes, `""` is a quote inside; every row has as many columns as the header;
empty lines are skipped.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TextIO

from diagnosis_harness.adapters.sources.incident_folder.binding import ENTITY, SIGNAL
from diagnosis_harness.adapters.sources.incident_folder.content import open_bytes
from diagnosis_harness.adapters.sources.incident_folder.database import text_sql
from diagnosis_harness.adapters.sources.incident_folder.listing import Form, ListedFile
from diagnosis_harness.adapters.sources.incident_folder.names import (
    join_header,
    plain_key,
    printable,
    quote,
)
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME, files_table
from diagnosis_harness.adapters.sources.incident_folder.table import (
    SAMPLE_ROWS,
    Column,
    Kind,
    Table,
    is_missing,
    is_number,
)
from diagnosis_harness.adapters.sources.incident_folder.time_forms import form_of
from diagnosis_harness.adapters.sources.incident_folder.times import is_instant, unit_of_text
from diagnosis_harness.kernel.errors import InvalidInput

_HEAD_CHARACTERS: Final = 4_000_000
_COLUMNS_LIMIT: Final = 20_000
_CELL_LIMIT: Final = 1_000_000
_LINE_LIMIT: Final = 4_000_000
_ENDS_BYTES: Final = 1 << 20
"""Bytes that are examined for line ends."""
_STATISTIC: Final = ("statistic", "statistics", "stat", "aggregation", "quantile", "percentile", "agg")
_SEPARATOR_LINE: Final = re.compile(r"sep=(.)\r?\n")
"""The first line of an export for spreadsheets."""


@dataclass(frozen=True, slots=True)
class Header:
    """The first lines of a CSV file, parsed."""

    separator: str
    names: tuple[str, ...]
    """As written; the levels of several header rows are joined as `entity|signal_statistic`."""
    levels: tuple[tuple[str, ...], ...]
    """The header rows of each column; empty if there is one header row."""
    skipped_lines: int
    """Lines before the first row of data."""
    sample: tuple[tuple[str, ...], ...]
    """The first rows of data."""


def open_csv(file: ListedFile) -> Table:
    """Read the head of a CSV file, and check that it is CSV.

    Raises:
        InvalidInput: it is something else, has no header, or more header rows than expected.
    """
    header = read_header(file)
    width = len(header.names)
    names = ", ".join(f"'c{number}': 'VARCHAR'" for number in range(width))
    options = (
        f"{text_sql(str(file.path))}, columns = {{{names}}}, auto_detect = false, header = false, "
        f"skip = {header.skipped_lines}, delim = {text_sql(header.separator)}, quote = '\"', escape = '\"', "
        f"null_padding = false, ignore_errors = false, hive_partitioning = false, "
        f"max_line_size = {_LINE_LIMIT}, buffer_size = {2 * _LINE_LIMIT}, "
        f"compression = '{'gzip' if file.gzipped else 'none'}'"
    )
    columns = tuple(
        Column(
            name=printable(name),
            ref=f"c{number}",
            kind=Kind.TEXT,
            sample=tuple(row[number] for row in header.sample),
            levels=header.levels[number] if header.levels else (),
        )
        for number, name in enumerate(header.names)
    )
    return Table(
        file=file,
        scan=f"read_csv({options}, strict_mode = true)",
        columns=columns,
        in_place=False,
        locate=lambda row: _line_of_row(file, header, row),
        explain=lambda error: explain(file, header, error),
        note="" if len(header.names) > 1 else "it has one column",
    )


def has_mixed_ends(file: ListedFile) -> bool:
    """Whether the first lines of a file have different line ends, as after an edit on another system."""
    with open_bytes(file) as content:
        head = content.read(_ENDS_BYTES)
    both = head.count(b"\r\n")
    return 0 < both < head.count(b"\n")


def csv_rows(file: ListedFile) -> tuple[Header, Iterator[tuple[str, ...]]]:
    """The header and all rows of data, read in Python: slower than duckdb, but with any line ends.

    Raises:
        InvalidInput: as `open_csv`; and, while the rows are read, a row of another length.
    """
    header = read_header(file)

    def rows() -> Iterator[tuple[str, ...]]:
        for line, row in _rows(file, header.separator):
            if line <= header.skipped_lines or not row:
                continue
            if len(row) != len(header.names):
                raise uneven_row(file.name, line, found=len(row), expected=len(header.names))
            yield tuple(row)

    return header, rows()


def read_header(file: ListedFile) -> Header:
    """Header and first rows.

    Raises:
        InvalidInput: as `open_csv`.
    """
    with _text(file) as text:
        head = text.read(_HEAD_CHARACTERS)
    _refuse_other_content(file, head)
    whole = len(head) < _HEAD_CHARACTERS
    depth = file.settings.header_rows or _count_header_rows(head, tabs=file.form is Form.TSV)
    return parse_header(head, whole=whole, depth=depth, tabs=file.form is Form.TSV, place=file.name)


def _count_header_rows(head: str, *, tabs: bool) -> int:
    """The number of header rows, if the first cells of the first rows name them, as pandas writes them.

    Entity above signal, then any other level that distinguishes columns; 1 if the cells name no levels.
    """
    separator = "\t" if tabs else _separator(head)
    lines = head.split("\n", 3)[:3]
    first = [plain_key(line.partition(separator)[0].strip(' "\r\ufeff')) for line in lines]
    if len(first) < 3 or first[0] not in ENTITY or first[1] not in SIGNAL:
        return 1
    return 3 if first[2] in _STATISTIC else 2


def parse_header(head: str, *, whole: bool, depth: int, tabs: bool, place: str) -> Header:
    """Header and first rows of a text, which may be cut off inside a row unless it is `whole`.

    Raises:
        InvalidInput: no header, repeated names, first rows of different lengths, more header rows than
            `depth`.
    """
    stated = _SEPARATOR_LINE.match(head)
    separator = stated[1] if stated else "\t" if tabs else _separator(head)
    above = 1 if stated else 0
    head = head[stated.end() :] if stated else head
    rows, lines = _first_rows(head, separator, whole=whole, limit=depth + SAMPLE_ROWS + 1, place=place)
    lines = [line + above for line in lines]
    if not rows or not any(cell.strip() for cell in rows[0]):
        raise InvalidInput(place, "it has no header row", "write the column names into the first line")
    if len(rows[0]) > _COLUMNS_LIMIT:
        raise InvalidInput(
            place, f"it has {len(rows[0])} columns", "use the long layout: time, entity, signal, value"
        )
    if len(rows) < depth:
        raise InvalidInput(place, f"it has fewer than {depth} header rows", "correct `header_rows`")
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(rows[0]):
            raise uneven_row(place, line, found=len(row), expected=len(rows[0]))
    levels = tuple(zip(*rows[:depth], strict=True)) if depth > 1 else ()
    body, skipped = rows[depth:], lines[depth - 1]
    index_name = ""
    if depth > 1 and body and body[0][0].strip() and not any(cell.strip() for cell in body[0][1:]):
        index_name, skipped, body = (
            body[0][0],
            lines[depth],
            body[1:],
        )  # the name of the index, as pandas writes it
    _refuse_no_header(rows[0], depth, place)
    _refuse_deeper_header(body, depth, place)
    names = _names(rows[0], levels, index_name)
    _refuse_doubles(names, place)
    return Header(
        separator=separator,
        names=names,
        levels=levels,
        skipped_lines=skipped,
        sample=tuple(tuple(row) for row in body[:SAMPLE_ROWS]),
    )


def uneven_row(place: str, line: int, *, found: int, expected: int) -> InvalidInput:
    """The error for a row with another number of columns than the header."""
    return InvalidInput(
        f"{place} line {line}",
        f"this row has {found} {'column' if found == 1 else 'columns'}, the header has {expected}",
        "give every row the same number of columns and put quotes around cells that hold the separator",
    )


def explain(file: ListedFile, header: Header, error: Exception) -> InvalidInput:
    """Why duckdb could not read a CSV file, found by reading it again in Python."""
    line = 0
    try:
        for line, row in _rows(file, header.separator):
            if row and len(row) != len(header.names):
                return uneven_row(file.name, line, found=len(row), expected=len(header.names))
    except csv.Error:
        return _missing_quote(file.name, line + 1)
    except InvalidInput as broken:
        return broken
    if "invalid state" in str(error) or "unterminated" in str(error).lower():
        return InvalidInput(
            file.name,
            "its line ends differ, or there is a quote inside a cell",
            "use one kind of line end, and double every quote inside a quoted cell",
        )
    return InvalidInput(file.name, "it cannot be read as CSV", "write it as RFC 4180 describes, in UTF-8")


def _separator(head: str) -> str:
    first_line = head.split("\n", 1)[0]
    if "," in first_line:
        return ","
    return max(";\t", key=first_line.count) if any(sign in first_line for sign in ";\t") else ","


def _first_rows(
    head: str, separator: str, *, whole: bool, limit: int, place: str
) -> tuple[list[list[str]], list[int]]:
    rows: list[list[str]] = []
    lines: list[int] = []
    reader = csv.reader(io.StringIO(head, newline=""), delimiter=separator, strict=True)
    csv.field_size_limit(_CELL_LIMIT)
    try:
        for row in reader:
            if row or not rows:
                rows.append(row)
                lines.append(reader.line_num)
            if len(rows) == limit:
                return rows, lines
    except csv.Error as error:
        if whole or not rows:
            raise _missing_quote(place, (lines[-1] if lines else 0) + 1) from error
        return rows, lines
    return (rows, lines) if whole else (rows[:-1], lines[:-1])


def _names(first: Sequence[str], levels: Sequence[tuple[str, ...]], index_name: str) -> tuple[str, ...]:
    if not levels:
        return tuple(first)
    names = ["|".join(join_header(column)) for column in levels]
    names[0] = index_name or levels[0][0]
    return tuple(names)


def _refuse_doubles(names: Sequence[str], place: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidInput(
                place,
                f"two columns have the same name {quote(name)}",
                f"name each column once, or set `header_rows` in {SETTINGS_NAME} where there are several",
            )
        seen.add(name)


def _refuse_no_header(first: Sequence[str], depth: int, place: str) -> None:
    """Refuse a first line with a time and a number, since it is a row of data."""
    timed = [cell for cell in first if is_instant(cell) or unit_of_text(cell) or form_of([cell])]
    numbers = [cell for cell in first if is_number(cell) and cell not in timed]
    if depth == 1 and timed and numbers:
        raise InvalidInput(
            f"{place} line 1",
            f"it holds a time ({quote(timed[0])}) and a number ({quote(numbers[0])}), so it is no header",
            "write the names of the columns above it, such as time,entity,signal,value",
        )


def _refuse_deeper_header(body: Sequence[Sequence[str]], depth: int, place: str) -> None:
    """Refuse rows of words above rows of numbers or times, since they look like further header rows."""
    wordy = 0
    for row in body:
        if any(is_number(cell) or is_instant(cell) for cell in row):
            break
        wordy += 1
    else:
        return
    if 0 < wordy <= 3 and len(body[0]) > 1:
        index_name = bool(body[wordy - 1][0].strip()) and all(
            is_missing(cell) for cell in body[wordy - 1][1:]
        )
        rows = depth + wordy - (1 if index_name and wordy + depth > 1 else 0)
        if rows > depth:
            raise InvalidInput(
                place,
                f"it seems to have {rows} header rows, {depth} is expected",
                f"set `header_rows = {min(rows, 3)}` under {files_table(place)} in {SETTINGS_NAME}",
            )


def _refuse_other_content(file: ListedFile, head: str) -> None:
    if not head.strip():
        raise InvalidInput(file.name, "it is empty", "write a header row and rows of data, or remove it")
    start = head.lstrip()
    if start[0] in "[{" and '"' in start[:200] and plain_key(start[:50]):
        raise InvalidInput(
            file.name,
            "it holds JSON, not CSV",
            "name it .json (an array of objects) or .jsonl (an object a line)",
        )
    if "\0" in head[:10_000]:
        raise InvalidInput(file.name, "it holds zero bytes, so it is not a text file", "save it as UTF-8 CSV")


def _missing_quote(place: str, line: int) -> InvalidInput:
    return InvalidInput(
        f"{place} line {line}",
        "a quoted cell is not closed properly, or a cell is too long",
        'close every quote, and double every quote inside a quoted cell ("")',
    )


@contextmanager
def _text(file: ListedFile) -> Iterator[TextIO]:
    with open_bytes(file) as content, io.TextIOWrapper(content, encoding="utf-8-sig", newline="") as text:
        yield text


def _rows(file: ListedFile, separator: str) -> Iterator[tuple[int, list[str]]]:
    """All rows, each with the line on which it ends."""
    with _text(file) as text:
        reader = csv.reader(text, delimiter=separator, strict=True)
        for row in reader:
            yield reader.line_num, row


def _line_of_row(file: ListedFile, header: Header, row: int) -> str:
    """The line of a data row, as an editor counts lines."""
    seen = -1
    for line, cells in _rows(file, header.separator):
        if line > header.skipped_lines and cells:
            seen += 1
            if seen == row:
                return f"line {line}"
    return f"data row {row + 1}"
