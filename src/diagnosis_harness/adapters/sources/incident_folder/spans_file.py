"""Reads and checks one traces file: spans, with times and durations in seconds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING, Final

from diagnosis_harness.adapters.sources.incident_folder.binding import (
    check_times,
    find_unused_columns,
)
from diagnosis_harness.adapters.sources.incident_folder.database import Database, text_sql
from diagnosis_harness.adapters.sources.incident_folder.names import (
    plain_key,
    printable,
    quote,
    time_unit_of,
)
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME, files_table
from diagnosis_harness.adapters.sources.incident_folder.span_columns import (
    SpanFileColumns,
    find_span_columns,
    peer_sql,
    sends_sql,
)
from diagnosis_harness.adapters.sources.incident_folder.table import (
    Column,
    Table,
    number_sql,
    show_columns,
    text_cell_sql,
)
from diagnosis_harness.adapters.sources.incident_folder.times import UNITS
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.toolbox.ports import FileNote

if TYPE_CHECKING:  # a slow import, made only by runs that read spans
    import numpy as np
    from numpy.typing import NDArray

_FAILED: Final = frozenset(
    {"error", "err", "fail", "failed", "failure", "exception", "timeout", "status_code_error"}
)
_FINE: Final = frozenset(
    {"ok", "unset", "success", "succeeded", "none", "status_code_ok", "status_code_unset"}
)
_STATUS_LIMIT: Final = 200
_ENTITIES_LIMIT: Final = 100_000
_FIT_SHARE: Final = 0.9
_FIT_PAIRS: Final = 3


@dataclass(frozen=True, slots=True)
class SpanFile:
    """Content of one traces file."""

    source: str
    """SQL to select from: trace, span, parent, entity, operation, start_s, duration_s, error, client,
    peer."""
    spans: int
    entities: tuple[str, ...]
    """Printable."""
    peers: tuple[str, ...]
    """Callees that client spans name; printable."""
    has_errors: bool
    has_kinds: bool
    first_s: float
    last_s: float
    note: FileNote


def read_spans(table: Table, database: Database, zone: tzinfo) -> SpanFile:
    """Read and check one traces file.

    Raises:
        InvalidInput: a column that spans need is missing, times or durations are impossible, or the unit of
                the durations is unknown.
    """
    columns = find_span_columns(table, database, zone)
    mapping = _status_values(table, database, columns.status)
    duration = number_sql(columns.duration) if columns.duration is not None else "NULL"
    end = columns.end.sql if columns.end is not None else "NULL"
    source = table.read(
        database,
        f"{_id_sql(columns.trace)} AS trace, {_id_sql(columns.span)} AS span, "
        f"{_id_sql(columns.parent) if columns.parent else 'NULL'} AS parent, "
        f"{text_cell_sql(columns.entity)} AS entity, "
        f"coalesce({text_cell_sql(columns.operation)}, '') AS operation, "
        f"{columns.start.sql} AS start_s, {duration} AS duration, {end} AS end_s, "
        f"{_error_sql(columns.status, mapping)} AS error, "
        f"{sends_sql(columns)} AS client, {peer_sql(columns)} AS peer",
    )
    _check_values(table, database, columns, source)
    seconds, shown = _duration_sql(table, database, columns, source)
    whole = "trace IS NOT NULL AND span IS NOT NULL AND entity IS NOT NULL AND start_s IS NOT NULL"
    good = f"{whole} AND isfinite({seconds}) AND {seconds} >= 0"
    kept = (
        f"(SELECT trace, span, parent, entity, operation, start_s, {seconds} AS duration_s, "
        f"error, client, peer FROM {source} WHERE {good})"
    )
    return _result(table, database, columns, (kept, source), shown=shown, statuses_known=mapping is not None)


def duration_unit(
    parent: NDArray[np.float64], child: NDArray[np.float64], offset_s: NDArray[np.float64]
) -> str | None:
    """The smallest unit in which 90% of the children fit into their parents; None if there is none.

    A child that starts `offset_s` after its parent and lasts `child` should end before the parent, which
    lasts `parent`. If the unit is too small, hardly any child does, in any system. At least three pairs are
    needed.
    """
    import numpy as np  # heavy

    if len(offset_s) < _FIT_PAIRS:
        return None
    spare = parent - child
    for unit in ("ns", "us", "ms", "s"):
        if np.mean(offset_s <= spare / UNITS[unit] + 1e-9) >= _FIT_SHARE:
            return unit
    return None


def status_is_error(values: Sequence[str], key: str) -> dict[str, bool] | None:
    """Whether each status value is an error; None if one of them is unknown.

    Known are words; booleans; codes of OpenTelemetry (0, 1, 2: 2 is an error), of HTTP (from 100: 5xx is an
    error), and 0 or 1 in a column whose name says `error`.
    """
    known: dict[str, bool] = {}
    numbers: dict[str, float] = {}
    for value in values:
        word = value.strip().lower()
        if word in _FAILED or word in _FINE or word in {"true", "false"}:
            known[value] = word in _FAILED or word == "true"
            continue
        try:
            numbers[value] = float(word)
        except ValueError:
            return None
    if not numbers:
        return known
    least, greatest = min(numbers.values()), max(numbers.values())
    if "error" in key and {*numbers.values()} <= {0.0, 1.0}:
        return known | {value: number == 1.0 for value, number in numbers.items()}
    if least >= 100 and greatest < 600:
        return known | {value: number >= 500 for value, number in numbers.items()}
    if {*numbers.values()} <= {0.0, 1.0, 2.0} and "http" not in key:
        return known | {value: number == 2.0 for value, number in numbers.items()}
    return None


def _id_sql(column: Column) -> str:
    """SQL for an id as text; `12.0`, as pandas writes whole numbers in a column with gaps, becomes `12`.

    Only ids with spaces are trimmed: trimming every id would take longer than the rest of reading spans.
    """
    text = f"CAST({column.ref} AS VARCHAR)"
    trimmed = f"CASE WHEN contains({text}, ' ') THEN trim({text}) ELSE {text} END"
    return f"nullif(CASE WHEN suffix({trimmed}, '.0') THEN ({trimmed})[:-3] ELSE {trimmed} END, '')"


def _status_values(table: Table, database: Database, status: Column | None) -> Mapping[str, bool] | None:
    if status is None:
        return None
    rows = table.ask(
        database,
        f"SELECT DISTINCT CAST({status.ref} AS VARCHAR) AS value FROM {table.scan} "
        f"WHERE value IS NOT NULL AND trim(value) <> '' LIMIT {_STATUS_LIMIT + 1}",
    )
    if len(rows) > _STATUS_LIMIT:
        return None
    return status_is_error([str(row[0]) for row in rows], plain_key(status.name))


def _error_sql(status: Column | None, mapping: Mapping[str, bool] | None) -> str:
    failed = [value for value, is_error in (mapping or {}).items() if is_error]
    if status is None or not failed:
        return "false"
    values = ", ".join(text_sql(value) for value in failed)
    return f"coalesce(CAST({status.ref} AS VARCHAR) IN ({values}), false)"


def _check_values(table: Table, database: Database, columns: SpanFileColumns, source: str) -> None:
    row = table.ask(
        database,
        "SELECT count(*), count(start_s), min(start_s), max(start_s), count(end_s), min(end_s), max(end_s), "
        f"count(duration) FROM {source}",
    )[0]
    check_times(table, database, columns.start, row[:4])
    if columns.end is not None:
        check_times(table, database, columns.end, (row[0], *row[4:7]))
    duration = columns.duration
    if duration is not None and row[7] != row[0] and table.count_text(database, [duration])[0]:
        raise table.refuse_text(database, duration)


def _duration_sql(table: Table, database: Database, columns: SpanFileColumns, source: str) -> tuple[str, str]:
    """SQL for the duration in seconds, and how its unit was found."""
    if columns.duration is None:
        return "(end_s - start_s)", "durations from start to end"
    unit: str | None = table.file.settings.duration_unit
    how = f"by {SETTINGS_NAME}"
    if unit is None:
        unit, how = time_unit_of(columns.duration.name)[1], "by the column's name"
    if unit is None:
        unit, how = _unit_by_fit(database, source), "since children then fit into their parents"
    if unit is None:
        raise InvalidInput(
            table.place,
            f"the unit of column {quote(columns.duration.name)} is not known",
            f'set `duration_unit = "ms"` (or s, us, ns) under {files_table(table.place)} in {SETTINGS_NAME}',
        )
    return f"(duration / {UNITS[unit]!r})", f"durations in {unit}, {how}"


def _unit_by_fit(database: Database, source: str) -> str | None:
    import numpy as np  # heavy

    pairs = database.arrays(
        f"SELECT p.duration AS parent, c.duration AS child, c.start_s - p.start_s AS offset_s "
        f"FROM {source} c JOIN {source} p ON c.trace = p.trace AND c.parent = p.span AND c.span <> p.span "
        f"WHERE p.duration > 0 AND c.duration >= 0 AND c.start_s > p.start_s LIMIT 20000"
    )
    parent, child, offset_s = (np.ma.filled(pairs[name], np.nan) for name in ("parent", "child", "offset_s"))
    return duration_unit(parent, child, offset_s)


def _result(
    table: Table,
    database: Database,
    columns: SpanFileColumns,
    sources: tuple[str, str],
    *,
    shown: str,
    statuses_known: bool,
) -> SpanFile:
    source, everything = sources
    rows = int(str(table.ask(database, f"SELECT count(*) FROM {everything}")[0][0]))
    counted = table.ask(
        database,
        f"SELECT entity, count(*), min(start_s), max(start_s + duration_s) FROM {source} GROUP BY entity",
    )
    spans = sum(int(str(count)) for _, count, _, _ in counted)
    first_s = min((float(str(first)) for _, _, first, _ in counted), default=math.nan)
    last_s = max((float(str(last)) for _, _, _, last in counted), default=math.nan)
    entities = tuple(sorted({printable(str(name)) for name, *_ in counted[:_ENTITIES_LIMIT]}))
    called = table.ask(
        database, f"SELECT DISTINCT peer FROM {source} WHERE peer IS NOT NULL LIMIT {_ENTITIES_LIMIT}"
    )
    peers = tuple(sorted({printable(str(name)) for (name,) in called}))
    remarks = [
        f"{spans} spans, starts in column {quote(columns.start.column.name)} ({columns.start.shown})",
        shown,
    ]
    if spans < rows:
        remarks.append(
            f"{rows - spans} rows left out: without trace, span, entity, start or a duration of 0 or more"
        )
    if columns.parent is None:
        remarks.append("no parent column, so no span is known to have called another")
    if columns.status is None:
        remarks.append("no status column, so errors are not known")
    elif not statuses_known:
        remarks.append(
            f"values of column {quote(columns.status.name)} are not understood, so errors are not known"
        )
    unused = find_unused_columns(table, columns.used)
    if unused:
        remarks.append(f"columns not used: {show_columns(unused)}")
    note = FileNote(file=table.place, role="traces", rows=rows, note="; ".join(remarks) + ".")
    return SpanFile(
        source, spans, entities, peers, statuses_known, columns.kind is not None, first_s, last_s, note
    )
