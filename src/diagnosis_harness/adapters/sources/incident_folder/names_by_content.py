"""Finds the columns that name services and signals where no heading says so, in any language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.metrics_columns import is_signal_name
from diagnosis_harness.adapters.sources.incident_folder.names import plain_key, quote
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME, files_table
from diagnosis_harness.adapters.sources.incident_folder.table import Column, Kind, Table

_NAME: Final = re.compile(r"(?!/)[\w.:@/-]{1,80}")
"""A name is one word of some length, and no path of a URL."""
_LABEL_VALUES: Final = re.compile(
    r"\d+|[1-5]xx|true|false|yes|no|ok|error|get|put|post|patch|delete|head|options|p\d+|avg|min|max|mean|sum",
    re.IGNORECASE,
)
"""What a label of a series holds, and no name of a service is."""
_LABEL_WORDS: Final = frozenset({
    "az", "browser", "city", "class", "cluster", "code", "country", "cpu", "currency", "customer",
    "datacenter", "device", "direction", "disk", "endpoint", "env", "environment", "interface", "kind",
    "language", "level", "method", "mode", "mount", "namespace", "operation", "os", "partition", "path",
    "percentile", "phase", "quantile", "query", "queue", "reason", "region", "result", "route", "stage",
    "stat", "state", "statistic", "status", "tenant", "topic", "type", "url", "user", "version", "zone",
})  # fmt: skip
"""Headings of labels, in which no service is looked for."""
_ROWS_PER_NAME: Final = 3
"""Names repeat: with fewer rows for each, a column numbers the rows."""
_NAMES_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class NameColumns:
    """The columns that name the entity and the signal of a row, and what a reader is told of them."""

    entity: Column | None = None
    signal: Column | None = None
    remark: str = ""


def find_name_columns(table: Table, rest: Sequence[Column], *, values: int) -> NameColumns:
    """The columns of few repeated names beside columns of numbers, if it is clear what each of them names.

    Args:
        rest: columns that are neither times nor numbers.
        values: how many columns of numbers there are; with several, they are the signals.
    """
    named = [column for column in rest if _holds_names(column)]
    signals = [column for column in named if _holds_signals(column)] if values == 1 else []
    owners = [column for column in named if column not in signals]
    owners = [column for column in owners if len(set(column.present)) > 1] or owners
    if len(owners) > 1 or len(signals) > 1:
        shown = ", ".join(quote(column.name) for column in named)
        return NameColumns(
            remark=f"several columns may name the services ({shown}): set {_settings(table, 'entity')}"
        )
    entity, signal = owners[0] if owners else None, signals[0] if signals else None
    told = [
        f"column {quote(column.name)} read as the {what} by its content ({_names_in(column)})"
        for column, what in ((entity, "service"), (signal, "signal"))
        if column is not None
    ]
    if told:
        told.append(f"{_settings(table, 'columns', 'signals')} reads it otherwise")
    return NameColumns(entity, signal, "; ".join(told))


def _settings(table: Table, key: str, value: str = "…") -> str:
    return f'`{key} = "{value}"` under {files_table(table.place)} in {SETTINGS_NAME}'


def _holds_names(column: Column) -> bool:
    cells = column.present
    names = set(cells)
    return (
        column.kind is Kind.TEXT
        and plain_key(column.name) not in _LABEL_WORDS
        and len(cells) >= _ROWS_PER_NAME * len(names) > 0
        and all(_NAME.fullmatch(name.strip()) is not None for name in names)
        and not all(_LABEL_VALUES.fullmatch(name.strip()) is not None for name in names)
    )


def _holds_signals(column: Column) -> bool:
    names = set(column.present)
    return 2 * sum(map(is_signal_name, names)) > len(names)


def _names_in(column: Column) -> str:
    names = list(dict.fromkeys(column.present))
    more = len(names) - _NAMES_SHOWN
    return ", ".join(map(quote, names[:_NAMES_SHOWN])) + (f" and {more} more" if more > 0 else "")
