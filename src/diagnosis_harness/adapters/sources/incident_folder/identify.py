"""Identifies a file by its content: a foreign format that a reader knows, or a table; and its role."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, TextIO

from diagnosis_harness.adapters.sources.incident_folder.binding import (
    ENTITY,
    SIGNAL,
    TIME,
    VALUE,
    find,
)
from diagnosis_harness.adapters.sources.incident_folder.changes import (
    KIND,
    SUMMARY,
    usual_kind,
)
from diagnosis_harness.adapters.sources.incident_folder.content import first_bytes, open_bytes, well_known
from diagnosis_harness.adapters.sources.incident_folder.csv_file import csv_rows, has_mixed_ends, open_csv
from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    FileContent,
    FileHead,
    FileReader,
    OpenText,
    RoleRows,
    read_file_head,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.readers import reader_for
from diagnosis_harness.adapters.sources.incident_folder.json_file import open_json
from diagnosis_harness.adapters.sources.incident_folder.listing import Form, ListedFile, Role
from diagnosis_harness.adapters.sources.incident_folder.logs import LEVEL, MESSAGE, STATE
from diagnosis_harness.adapters.sources.incident_folder.measured import column_with_units
from diagnosis_harness.adapters.sources.incident_folder.names import printable, quote
from diagnosis_harness.adapters.sources.incident_folder.parquet_file import open_parquet
from diagnosis_harness.adapters.sources.incident_folder.rows_inside import rows_inside
from diagnosis_harness.adapters.sources.incident_folder.rows_table import table_of_rows
from diagnosis_harness.adapters.sources.incident_folder.settings_file import (
    SETTINGS_NAME,
    FileSettings,
    files_table,
)
from diagnosis_harness.adapters.sources.incident_folder.span_columns import SPAN, TRACE
from diagnosis_harness.adapters.sources.incident_folder.table import Column, Table, show_columns
from diagnosis_harness.adapters.sources.incident_folder.topology import is_matrix, names_calls
from diagnosis_harness.kernel.errors import InvalidInput

_DOCUMENT_SHARE: Final = 8
"""A document that is parsed at once takes about this many times its size in memory."""

_REVISIONS: Final = re.compile(r"REVISION\s+CHANGE-CAUSE")
"""What `kubectl rollout history` prints."""

_FIELDS_SHOWN: Final = 5
"""Names of fields in a message: enough to recognise the rows."""


@dataclass(frozen=True, slots=True)
class IdentifiedTable:
    """A part of a file, ready to be read according to its role."""

    table: Table
    format_name: str = ""
    """The identified format in words; empty for a table."""
    remark: str = ""
    """The reader's remark on this part alone."""


def open_tables(file: ListedFile, database: Database) -> list[IdentifiedTable]:
    """The content of a file, as tables with a role each.

    Raises:
        InvalidInput: it cannot be read, or its content is unknown.
    """
    what = well_known(first_bytes(file))
    if what == "gzip" and not file.gzipped and file.form is None:
        file, what = replace(file, gzipped=True), None
    if file.form is Form.PARQUET or what == "Parquet":
        return [IdentifiedTable(_with_role(open_parquet(file, database)))]
    if what is not None and "text" not in what and file.form is None:
        raise InvalidInput(
            file.name, f"it holds {what}", "leave it out, or write its data as text or Parquet"
        )
    limit = _head_limit(database)
    reader, head = None, None
    if not _names_columns(file.settings):
        head = read_file_head(file, _opener(file), limit_bytes=limit)
        reader = reader_for(head, file.settings.format, is_table=file.form in {Form.CSV, Form.TSV})
    if reader is None:
        return [IdentifiedTable(_with_role(_plain_table(file, database, head)))]
    return _read_foreign(file, reader, database, limit)


def counts_ages(file: ListedFile, database: Database) -> bool:
    """Whether its times are ages, so that it is to be read after files that have times of their own."""
    if file.form is not None or _names_columns(file.settings):
        return False
    try:
        head = read_file_head(file, _opener(file), limit_bytes=_head_limit(database))
    except InvalidInput:  # reading it says why
        return False
    reader = reader_for(head, file.settings.format, is_table=False)
    return reader is not None and reader.counts_ages


def _head_limit(database: Database) -> int:
    return database.memory_limit_mb * 1_000_000 // _DOCUMENT_SHARE


def _read_foreign(
    file: ListedFile, reader: FileReader, database: Database, limit: int
) -> list[IdentifiedTable]:
    content = FileContent(file, _opener(file), limit_bytes=limit)
    tables = []
    for found in reader.read(content):
        format_name = f"{reader.shown}{f', {found.remark}' if found.remark else ''}"
        tables.append(IdentifiedTable(table_of_rows(file, found, database), format_name, found.remark))
    return tables


def _opener(file: ListedFile) -> OpenText:
    """Opens the text of a file: UTF-16 if its first bytes say so, else UTF-8."""
    coded = "utf-16" if well_known(first_bytes(file)) == "UTF-16 text" else "utf-8-sig"

    @contextmanager
    def open_text() -> Iterator[TextIO]:
        with (
            open_bytes(file, text=True) as content,
            io.TextIOWrapper(content, encoding=coded, errors="replace", newline=None) as text,
        ):
            yield text

    return open_text


def _names_columns(settings: FileSettings) -> bool:
    """Whether incident.toml names columns, so that the file is a table."""
    return any((settings.time, settings.entity, settings.signal, settings.value, settings.layout)) or (
        settings.header_rows is not None
    )


def _plain_table(file: ListedFile, database: Database, head: FileHead | None) -> Table:
    form = file.form
    if form is None and head is not None:
        form = _form_of(head)
    if form is None:
        if head is not None and any(map(_REVISIONS.match, head.lines[:2])):
            raise InvalidInput(
                file.name,
                "it lists revisions of a workload, and none of them says when it was made",
                "save `kubectl get replicasets -o json` instead",
            )
        raise InvalidInput(
            file.name,
            "its content is in no known format",
            "leave it out, or write what it says as rows of CSV or JSON with a time in each",
        )
    inside = None if head is None or form is not Form.JSON or file.role is Role.ALERT else rows_inside(head)
    if inside is not None:
        return replace(table_of_rows(file, inside, database), file=replace(file, form=form))
    if head is not None and form is Form.JSON and file.role is not Role.ALERT:
        _check_object(file, head)
    file = replace(file, form=form)
    if form in {Form.JSON, Form.JSONL}:
        return open_json(file, database)
    if has_mixed_ends(file):
        header, rows = csv_rows(file)
        found = RoleRows(Role.METRICS, header.names, rows)
        return replace(table_of_rows(file, found, database), file=file)
    return open_csv(file)


def _check_object(file: ListedFile, head: FileHead) -> None:
    """Refuse one object that no reader knows, naming the lists in it.

    Raises:
        InvalidInput: its content, and what can be done about it.
    """
    lists = {printable(str(key)): value for key, value in head.lone.items() if isinstance(value, list)}
    if not lists:
        if head.lone and not any(isinstance(value, dict | list) for value in head.lone.values()):
            problem = f"it is one object with the fields {_first_fields(head.lone)}, and holds no rows"
            raise InvalidInput(file.name, problem, "leave it out: there is nothing in it to compare")
        return
    key, rows = max(lists.items(), key=lambda one: len(one[1]))
    if not rows:
        raise InvalidInput(file.name, f"its list '{key}' is empty: nothing was recorded", "leave it out")
    shown = _first_fields(rows[0]) if isinstance(rows[0], dict) else "plain values"
    problem = f"it is one object with {len(rows)} rows in '{key}' ({shown}), and none of them says when"
    raise InvalidInput(file.name, problem, "leave it out: what has no time cannot be compared")


def _first_fields(fields: Iterable[object]) -> str:
    return ", ".join(printable(str(field)) for field in islice(fields, _FIELDS_SHOWN)) or "plain values"


def _form_of(head: FileHead) -> Form | None:
    """The form of a file with another extension: JSON, or lines with equally many separators."""
    if head.objects:
        return Form.JSON if head.is_array else Form.JSONL
    lines = head.lines[:20] if len(head.lines) > 2 else []
    for sign, form in (("\t", Form.TSV), (",", Form.CSV), (";", Form.CSV)):
        counts = {line.count(sign) for line in lines[:-1]}
        if len(counts) == 1 and counts != {0}:
            return form
    return None


def _with_role(table: Table) -> Table:
    """The table with the role given by incident.toml, its name or else its columns.

    Raises:
        InvalidInput: none of them gives a role.
    """
    role = table.file.role or _role_of(table)
    state = find(table, STATE) if role in {None, Role.STATES} and not _is_timed(table) else None
    if state is not None and table.file.settings.time is None:
        raise InvalidInput(
            table.place,
            f"it holds states (column {quote(state.name)}), and no column says when they were so",
            "leave it out, or add a column `time` and give it a name that begins with `states`",
        )
    if role is None and not _is_timed(table):
        raise InvalidInput(
            table.place,
            "no column says when, so nothing in it can be compared "
            f"(its columns: {show_columns(table.columns)})",
            "leave it out, add a column `time`, or name the column that holds it by "
            f'`time = "COLUMN"` under {files_table(table.place)} in {SETTINGS_NAME}',
        )
    if role is None:
        raise InvalidInput(
            table.place,
            f"neither name nor columns say what it holds (its columns: {show_columns(table.columns)})",
            f'set `role = "metrics"` (or another role) under {files_table(table.place)} in {SETTINGS_NAME}',
        )
    return replace(table, file=replace(table.file, role=role))


def _is_timed(table: Table) -> bool:
    return find(table, TIME) is not None or any(column.looks_like_timestamps for column in table.columns)


def _role_of(table: Table) -> Role | None:
    """The role of a table with columns of these names."""
    if find(table, TRACE) is not None and find(table, SPAN) is not None:
        return Role.TRACES
    if find(table, ("caller",)) is not None and find(table, ("callee",)) is not None:
        return Role.TOPOLOGY
    if not _is_timed(table):
        return Role.TOPOLOGY if names_calls(table) or is_matrix(table) else None
    message, value = find(table, MESSAGE), find(table, VALUE)
    if value is None and find(table, LEVEL) is None and _are_changes(table, message):
        return Role.CHANGES
    if message is not None and value is None and not message.looks_numeric:
        return Role.LOGS
    kind, summary = find(table, KIND), find(table, SUMMARY[:4])
    if kind is not None and summary is not None and value is None:
        return Role.CHANGES
    keys = (find(table, ENTITY), find(table, SIGNAL))
    others = (column for column in table.columns if column not in keys)
    numbers = [one for one in others if one.looks_numeric or column_with_units(one) is not None]
    return Role.METRICS if value is not None or numbers else None


def _are_changes(table: Table, message: Column | None) -> bool:
    """Whether rows are changes: commits with a message; deploys and flags with an entity and no numbers."""
    usual = usual_kind(table)
    if usual == "commit":
        return True
    measured = any(column.looks_numeric for column in table.columns if find(table, TIME) != column)
    return usual is not None and message is None and find(table, ENTITY) is not None and not measured
