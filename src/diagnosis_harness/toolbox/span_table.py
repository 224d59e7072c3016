"""The spans of an incident and of its baseline as one table, with their self times and calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.analysis.arrays import Flags, Floats
from diagnosis_harness.analysis.span_findings import AFTER_END
from diagnosis_harness.analysis.spans import Calls, SpanColumns, calls_between, crossings, self_time
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.ports import Recording, Sources, SpanTable
from diagnosis_harness.toolbox.span_peers import PeerReader, SpanPeers

_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True, slots=True)
class SpanView:
    """Incident and baseline spans together; entities are owners (services).

    `fault` marks rows at or after the onset; `recording` is 0 for the incident, 1 for the baseline and
    `AFTER_END` for spans after the end of the comparison. Entities that only their callers recorded are
    included.
    """

    entities: tuple[str, ...]
    operations: tuple[str, ...]
    spans: SpanColumns
    self_s: Floats
    calls: Calls
    fault: Flags
    recording: NDArray[np.int8]

    def since(self, onset_s: float, until_s: float | None = None) -> SpanView:
        """The same spans for an onset: marks those of the incident from the onset to an end.

        Later spans are neither trouble nor normal operation.
        """
        begun_s = self.spans.start_s
        fault = (begun_s >= onset_s) & (self.recording == 0)
        if until_s is None:
            return replace(self, fault=fault)
        recording = self.recording.copy()
        recording[(begun_s >= until_s) & (self.recording == 0)] = AFTER_END
        return replace(self, fault=fault & (begun_s < until_s), recording=recording)

    @property
    def normal(self) -> Flags:
        """The rows of normal operation."""
        return np.asarray(~self.fault & (self.recording != AFTER_END), dtype=np.bool_)

    @property
    def untraced(self) -> frozenset[str]:
        """Entities without any span of their own: they are known from client spans alone."""
        written = np.isin(np.arange(len(self.entities)), self.spans.entity)
        return frozenset(name for name, own in zip(self.entities, written.tolist(), strict=True) if not own)

    def edges(self) -> tuple[tuple[str, str], ...]:
        """Calls across entities that occur in either recording, as (caller, callee), ordered."""
        below, caller = crossings(self.spans)
        caller = self.spans.entity[np.concatenate((caller, self.calls.caller_row))]
        callee = np.concatenate((self.spans.entity[below], self.calls.callee))
        width = max(len(self.entities), 1)
        code = caller * np.int64(width) + callee
        return tuple(
            sorted(
                (self.entities[one // width], self.entities[one % width]) for one in np.unique(code).tolist()
            )
        )


def load_span_view(ctx: RunContext, sources: Sources, *, owners: Mapping[str, str]) -> SpanView | None:
    """All spans before an onset is chosen, see `SpanView.since`; None if the incident recording has none."""
    if sources.spans is None:
        return None
    incident = sources.spans.spans(ctx, Recording.INCIDENT)
    if len(incident) == 0:
        return None
    baseline = sources.spans.spans(ctx, Recording.BASELINE)
    parts = (incident, baseline) if len(baseline) else (incident,)
    writers = {owners.get(name, name) for part in parts for name in part.entities}
    known = sources.topology.edges(ctx) if sources.topology is not None else ()
    ends = {name for edge in known for name in (edge.caller, edge.callee)}
    reader = PeerReader(frozenset({*writers, *owners.values(), *ends}), owners)
    peers = [reader.peers_of(part) for part in parts]
    entities = tuple(sorted(writers.union(*(found.names for found in peers))))
    operations = tuple(sorted({name for part in parts for name in part.operations}))
    spans = replace(_join(parts, entities, operations, owners), peer=_peer_codes(peers, entities))
    recording = np.concatenate((np.zeros(len(incident), np.int8), np.ones(len(baseline), np.int8)))
    exclusive = self_time(spans)
    calls = calls_between(spans)
    exclusive[calls.caller_row] = (
        0.0  # a client span waits; its time belongs to the call's gap, not to the caller's work
    )
    fault = np.zeros(len(spans), np.bool_)
    return SpanView(entities, operations, spans, exclusive, calls, fault, recording)


def _peer_codes(peers: Sequence[SpanPeers], entities: tuple[str, ...]) -> NDArray[np.int32] | None:
    if not any(found.names for found in peers):
        return None
    code = {name: place for place, name in enumerate(entities)}
    rows = [
        np.array([*(code[name] for name in found.names), -1], dtype=np.int32)[found.of_span]
        for found in peers
    ]
    return _one(rows)


def _join(
    parts: Sequence[SpanTable],
    entities: tuple[str, ...],
    operations: tuple[str, ...],
    owners: Mapping[str, str],
) -> SpanColumns:
    entity_code = {name: code for code, name in enumerate(entities)}
    operation_code = {name: code for code, name in enumerate(operations)}
    parent, entity, operation = [], [], []
    shift = 0
    for part in parts:
        entity_map = np.array([entity_code[owners.get(name, name)] for name in part.entities], dtype=np.int32)
        operation_map = np.array([operation_code[name] for name in part.operations], dtype=np.int32)
        moved = np.where(part.parent >= 0, part.parent + np.int32(shift), np.int32(-1))
        parent.append(moved if shift else part.parent)
        entity.append(entity_map[part.entity] if len(part) else np.zeros(0, np.int32))
        operation.append(operation_map[part.operation] if len(part) else np.zeros(0, np.int32))
        shift += len(part)
    stated = all(part.error is not None for part in parts if len(part))
    errors = [part.error for part in parts if part.error is not None]
    return SpanColumns(
        _one(parent),
        _one(entity),
        _one(operation),
        _one([part.start_s for part in parts]),
        _one([np.nan_to_num(np.maximum(part.duration_s, 0.0)) for part in parts]),
        _one(errors) if stated and errors else None,
        _clients(parts),
    )


def _clients(parts: Sequence[SpanTable]) -> Flags | None:
    """Which spans send a request; None if no recording states it."""
    if all(part.client is None for part in parts):
        return None
    return _one([np.zeros(len(part), np.bool_) if part.client is None else part.client for part in parts])


def _one(columns: Sequence[NDArray[_Number]]) -> NDArray[_Number]:
    """The concatenated columns; a single one unchanged, since copying millions of spans is expensive."""
    return columns[0] if len(columns) == 1 else np.concatenate(columns)
