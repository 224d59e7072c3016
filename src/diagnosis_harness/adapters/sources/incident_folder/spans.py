"""The spans of a recording as columns: codes instead of names, parents found by 8-byte keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.adapters.sources.incident_folder.database import Database
from diagnosis_harness.adapters.sources.incident_folder.names import printable
from diagnosis_harness.adapters.sources.incident_folder.recording_parts import RecordingParts
from diagnosis_harness.adapters.sources.incident_folder.spans_file import SpanFile
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.ports import Recording, SpanTable

_CALLEE_SQL: Final = "coalesce(peer, '') AS peer, coalesce(client, false) AS client"
"""Callee of a span and whether it is a client: many spans share these, so each stores one code for them."""
_Number = TypeVar("_Number", bound=np.generic)
_SPANS_PER_MEGABYTE: Final = 12_000
"""A span takes about 80 bytes during the search for its parent, and 29 afterwards."""
_NO_KEY: Final = 0
"""The key of a missing parent."""


class FolderSpans:
    """`SpanSource` over files. The table of a recording is built once."""

    def __init__(self, database: Database, recordings: Mapping[Recording, RecordingParts[SpanFile]]) -> None:
        self._database = database
        self._recordings = dict(recordings)
        self._tables: dict[Recording, SpanTable] = {}
        self._lock = Lock()

    def spans(self, ctx: RunContext, recording: Recording, *, window: TimeWindow | None = None) -> SpanTable:
        """The spans that start inside the window; None means all. The table is empty if there are none.

        A parent is only searched in the span's own trace; it is -1 if it is missing or outside the window.

        Raises:
            MemoryLimit: the spans do not fit into memory.
            ToolFailure: a file can no longer be read.
        """
        del ctx
        with self._lock:  # two builds at once would need twice the memory
            table = self._tables.get(recording)
            if table is None:
                table = self._tables[recording] = self._build(
                    self._recordings.get(recording, RecordingParts())
                )
        return table if window is None else _inside(table, window)

    def _build(self, recording_parts: RecordingParts[SpanFile]) -> SpanTable:
        files = [file for file in recording_parts.parts if file.spans]
        if not files:
            return _empty()
        count = sum(file.spans for file in files)
        if count > self._database.memory_limit_mb * _SPANS_PER_MEGABYTE:
            raise self._database.too_much(f"its {count:,} spans do")
        rows = f"({' UNION ALL BY NAME '.join(f'SELECT * FROM {file.source}' for file in files)})"
        bounds: list[object] = []
        if recording_parts.window is not None:
            rows = f"(SELECT * FROM {rows} WHERE start_s >= ? AND start_s < ?)"
            bounds = [recording_parts.window.start_s, recording_parts.window.end_s]
        kinds = self._database.tuples(
            f"SELECT DISTINCT entity, operation, {_CALLEE_SQL} FROM {rows} ORDER BY ALL", bounds
        )
        columns = self._database.arrays(
            f"WITH kinds AS (SELECT CAST(unnest(range({len(kinds)})) AS INTEGER) AS kind, "
            "unnest(?::VARCHAR[]) AS entity, unnest(?::VARCHAR[]) AS operation, "
            "unnest(?::VARCHAR[]) AS peer, unnest(?::BOOLEAN[]) AS client) "
            "SELECT hash(s.trace, s.span) AS key, "
            f"CASE WHEN s.parent <> s.span THEN hash(s.trace, s.parent) ELSE {_NO_KEY} END AS parent_key, "
            "k.kind AS kind, s.start_s AS start_s, s.duration_s AS duration_s, "
            f"s.error AS error FROM (SELECT * REPLACE ({_CALLEE_SQL}) FROM {rows}) s "
            "JOIN kinds k USING (entity, operation, peer, client)",
            [*([row[column] for row in kinds] for column in range(4)), *bounds],
        )
        start_s, order = _in_order(np.ma.getdata(columns.pop("start_s")).astype(np.float64, copy=False))
        key, parent_key = (np.ma.getdata(columns.pop(name))[order] for name in ("key", "parent_key"))
        parent = _find_parents(key, parent_key)
        del key, parent_key
        entities, entity = _codes([str(name) for name, *_ in kinds])
        operations, operation = _codes([str(name) for _, name, *_ in kinds])
        peers, peer = _codes([str(name) for _, _, name, _ in kinds])
        sends = np.array([bool(client) for *_, client in kinds], dtype=np.bool_)
        kind = np.ma.getdata(columns.pop("kind"))[order]
        error = np.ma.getdata(columns.pop("error"))[order]
        return SpanTable(
            entities=entities,
            operations=operations,
            parent=_freeze(parent),
            entity=_freeze(entity[kind]),
            operation=_freeze(operation[kind]),
            start_s=_freeze(start_s),
            duration_s=_freeze(np.ma.getdata(columns.pop("duration_s"))[order]),
            error=_freeze(error.astype(np.bool_, copy=False)) if any(f.has_errors for f in files) else None,
            client=_freeze(sends[kind]) if any(file.has_kinds for file in files) else None,
            peers=tuple(name for name in peers if name),
            # The empty name, if any, comes first and means no entity.
            peer=_freeze((peer - ("" in peers))[kind]) if any(peers) else None,
        )


def _in_order(start_s: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64] | slice]:
    """The sorted starts, and the index that sorts other columns in the same way."""
    if not np.any(start_s[1:] < start_s[:-1]):
        return start_s, slice(None)  # most files are sorted
    order = np.argsort(start_s, kind="stable")
    return start_s[order], order


def _find_parents(key: NDArray[np.uint64], parent_key: NDArray[np.uint64]) -> NDArray[np.int32]:
    """The row of each span's parent; -1 if there is none. Among spans with the same id the first counts.

    Keys are 64-bit hashes of a trace and a span: among five million spans, the probability that any two
    collide is one in a million.
    """
    order = np.argsort(key, kind="stable")
    known = key[order]
    parent = np.full(len(key), -1, dtype=np.int32)
    children = np.flatnonzero(parent_key != _NO_KEY)
    children = children[
        np.argsort(parent_key[children])
    ]  # sorted keys make good use of the processor's cache
    wanted = parent_key[children]
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    found = known[place] == wanted
    parent[children[found]] = order[place[found]]
    return parent


def _codes(names: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Distinct printable names in order, and the index of each given name among them."""
    shown = [printable(name) for name in names]
    ordered = sorted(set(shown))
    place = {name: at for at, name in enumerate(ordered)}
    return tuple(ordered), np.array([place[name] for name in shown], dtype=np.int32)


def _freeze(array: NDArray[_Number]) -> NDArray[_Number]:
    array.setflags(write=False)
    return array


def _inside(table: SpanTable, window: TimeWindow) -> SpanTable:
    low, high = np.searchsorted(table.start_s, (window.start_s, window.end_s), side="left")
    parent = table.parent[low:high]
    inside = (parent >= low) & (parent < high)
    return SpanTable(
        entities=table.entities,
        operations=table.operations,
        parent=_freeze(np.where(inside, parent - low, -1).astype(np.int32)),
        entity=table.entity[low:high],
        operation=table.operation[low:high],
        start_s=table.start_s[low:high],
        duration_s=table.duration_s[low:high],
        error=None if table.error is None else table.error[low:high],
        client=None if table.client is None else table.client[low:high],
        peers=table.peers,
        peer=None if table.peer is None else table.peer[low:high],
    )


def _empty() -> SpanTable:
    return SpanTable(
        entities=(),
        operations=(),
        parent=np.empty(0, np.int32),
        entity=np.empty(0, np.int32),
        operation=np.empty(0, np.int32),
        start_s=np.empty(0, np.float64),
        duration_s=np.empty(0, np.float64),
        error=None,
    )
