"""The spans of a recording, parents found, as columns."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.names import printable
from diagnosis_harness.adapters.sources.incident_folder.recording_parts import RecordingParts
from diagnosis_harness.adapters.sources.incident_folder.spans_file import SpanFile
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.ports import Recording, SpanTable

_Number = TypeVar("_Number", bound=np.generic)


class FolderSpans:
    """`SpanSource` over files. The table of a recording is built once."""

    def __init__(self, database: Database, recordings: Mapping[Recording, RecordingParts[SpanFile]]) -> None:
        self._database = database
        self._recordings = dict(recordings)
        self._tables: dict[Recording, SpanTable] = {}
        self._lock = Lock()

    def spans(self, ctx: RunContext, recording: Recording, *, window: TimeWindow | None = None) -> SpanTable:
        """The spans that start inside the window; None means all. Empty table where there are none.

        A parent is looked for inside the span's own trace; one that is not there or outside the window is -1.

        Raises:
            ToolFailure: the spans do not fit into memory, or a file can no longer be read.
        """
        del ctx
        with self._lock:  # building twice at once would need the memory twice
            table = self._tables.get(recording)
            if table is None:
                table = self._tables[recording] = self._build(
                    self._recordings.get(recording, RecordingParts())
                )
        return table if window is None else _inside(table, window)

    def _build(self, held: RecordingParts[SpanFile]) -> SpanTable:
        files = [file for file in held.parts if file.spans]
        if not files:
            return _empty()
        says_errors = any(file.says_errors for file in files)
        union = " UNION ALL BY NAME ".join(f"SELECT * FROM {file.source}" for file in files)
        numbered = (
            "SELECT *, row_number() OVER (ORDER BY trace, start_s, span) - 1 AS place, "
            f"dense_rank() OVER (ORDER BY trace) - 1 AS trace_number FROM ({union})"
        )
        arrays = self._database.arrays(
            f"WITH spans AS MATERIALIZED ({numbered}), "
            "firsts AS (SELECT trace, span, min(place) AS place FROM spans GROUP BY trace, span) "
            "SELECT s.trace_number AS trace, coalesce(p.place, -1) AS parent, s.place AS place, "
            "s.entity AS entity, s.operation AS operation, s.start_s AS start_s, s.duration_s AS duration_s, "
            "s.error AS error FROM spans s LEFT JOIN firsts p ON s.trace = p.trace AND s.parent = p.span "
            "AND s.parent <> s.span ORDER BY s.place"
        )
        entities, entity = _index_names(arrays["entity"])
        operations, operation = _index_names(arrays["operation"])
        table = SpanTable(
            entities=entities,
            operations=operations,
            trace=_column(arrays["trace"], np.int64),
            parent=_column(arrays["parent"], np.int64),
            entity=entity,
            operation=operation,
            start_s=_column(arrays["start_s"], np.float64),
            duration_s=_column(arrays["duration_s"], np.float64),
            error=_column(arrays["error"], np.bool_) if says_errors else None,
        )
        return table if held.window is None else _inside(table, held.window)


def _index_names(names: NDArray[np.object_]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Distinct printable names in order, and per row the index of its own."""
    raw, inverse = np.unique(np.ma.getdata(names).astype(object), return_inverse=True)
    shown = [printable(str(name)) for name in raw]
    ordered = sorted(set(shown))
    place = {name: at for at, name in enumerate(ordered)}
    indexes = np.array([place[name] for name in shown], dtype=np.int32)[inverse]
    indexes.setflags(write=False)
    return tuple(ordered), indexes


def _column(array: NDArray[Any], kind: type[_Number]) -> NDArray[_Number]:
    column: NDArray[_Number] = np.ma.getdata(array).astype(kind)
    column.setflags(write=False)
    return column


def _inside(table: SpanTable, window: TimeWindow) -> SpanTable:
    keep = np.flatnonzero((table.start_s >= window.start_s) & (table.start_s < window.end_s))
    place = np.full(len(table) + 1, -1, dtype=np.int64)  # the last entry answers for parent -1
    place[keep] = np.arange(len(keep))
    return SpanTable(
        entities=table.entities,
        operations=table.operations,
        trace=_column(table.trace[keep], np.int64),
        parent=_column(place[table.parent[keep]], np.int64),
        entity=_column(table.entity[keep], np.int32),
        operation=_column(table.operation[keep], np.int32),
        start_s=_column(table.start_s[keep], np.float64),
        duration_s=_column(table.duration_s[keep], np.float64),
        error=None if table.error is None else _column(table.error[keep], np.bool_),
    )


def _empty() -> SpanTable:
    return SpanTable(
        entities=(),
        operations=(),
        trace=np.empty(0, np.int64),
        parent=np.empty(0, np.int64),
        entity=np.empty(0, np.int32),
        operation=np.empty(0, np.int32),
        start_s=np.empty(0, np.float64),
        duration_s=np.empty(0, np.float64),
        error=None,
    )
