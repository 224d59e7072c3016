"""Finds operations that still run but no longer write a line that each of their spans used to write.

Such an operation fails before it reaches the line. If it fails at its very start it writes no line at all,
so the order of lines does not show it; its spans do.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from diagnosis_harness.analysis.arrays import Flags, Floats, Ints
from diagnosis_harness.analysis.clue import NOISE_FLOOR, Clue, Modality
from diagnosis_harness.analysis.log_order import LEAST_BREAK
from diagnosis_harness.analysis.log_patterns import SLICES, slice_of
from diagnosis_harness.analysis.spans import share_shift
from diagnosis_harness.toolbox.log_clues import NULL_SHARE, region_of_pattern
from diagnosis_harness.toolbox.log_view import LogView
from diagnosis_harness.toolbox.span_table import SpanView

EVERY_SPAN: Final = 0.1
"""Share of the lines by which lines and spans may differ, added up over all slices of normal operation, and
still be one for each: the edges of slices and recordings cut a few. One in twenty of the sum alone, which
was tried too, took lines of other operations for those of one that was called as often."""
LEAST_PAIRS: Final = 20
"""Number of normal spans from which an equal number of lines in every slice is hardly a coincidence."""


def silent_line_clues(logs: LogView, view: SpanView) -> Iterator[Clue]:
    """One clue for each line that an operation used to write every time and now writes much more rarely.

    A line that the operations of other entities lack too is missing from the recording, and is no finding.
    """
    counts = _count_spans(view, logs)
    place, pair = _lines_of_operations(logs, view, counts)
    if not len(place):
        return
    usual, spans = counts.normal.sum(axis=1)[pair], counts.late[pair]
    lines = np.minimum(logs.shift.after[place], spans)
    missing = 1.0 - lines / np.maximum(spans, 1)
    missing -= _missing_elsewhere(missing, pair, counts.entity)
    lines = np.rint(np.clip(1.0 - missing, 0.0, 1.0) * spans).astype(np.int64)
    found = share_shift(np.minimum(logs.shift.before[place], usual), usual, lines, spans)
    null = logs.order.null
    noise = max(NOISE_FLOOR, float(np.quantile(null, NULL_SHARE))) if len(null) else NOISE_FLOOR
    for row in np.flatnonzero((missing >= LEAST_BREAK) & (found.z < 0)).tolist():
        pattern, operation = logs.patterns[place[row]], view.operations[counts.operation[pair[row]]]
        yield Clue(
            pattern.entity,
            Modality.LOG,
            -float(found.z[row]),
            noise,
            f"{operation} runs without its line “{region_of_pattern(pattern)}”",
            "ERRORS",
            null_windows=len(null),
        )


@dataclass(frozen=True, slots=True)
class _SpanCounts:
    """Spans by pair of entity and operation, ordered by entity; only pairs that occur.

    Attributes:
        entity, operation: the pair.
        sends: whether it is the sending side of a call, which writes no lines of its own.
        normal: spans of each slice of normal operation, pairs by slices.
        late: spans in the judged window.
    """

    entity: Ints
    operation: Ints
    sends: Flags
    normal: Ints
    late: Ints


def _lines_of_operations(logs: LogView, view: SpanView, counts: _SpanCounts) -> tuple[Ints, Ints]:
    """Patterns that each span of an operation used to write, with the pair of entity and operation."""
    codes = {name: code for code, name in enumerate(view.entities)}
    bounds = np.searchsorted(counts.entity, np.arange(len(view.entities) + 1))
    usual_of = counts.normal.sum(axis=1)
    rows: list[tuple[int, int]] = []
    for place, pattern in enumerate(logs.patterns):
        lines, entity = int(logs.shift.before[place]), codes.get(pattern.entity)
        if entity is None or pattern.fails or lines < LEAST_PAIRS:
            continue
        own = np.arange(bounds[entity], bounds[entity + 1])
        own = own[~counts.sends[own] & (np.abs(usual_of[own] - lines) <= EVERY_SPAN * lines)]
        stray = np.abs(counts.normal[own] - logs.shift.counts[place]).sum(axis=1)
        rows += [(place, pair) for pair in own[stray <= EVERY_SPAN * lines].tolist()]
    places, pairs = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    return places, pairs


def _missing_elsewhere(missing: Floats, pair: Ints, entity_of: Ints) -> Floats:
    """For each line the median share that operations of other entities lack; 0 without others.

    Each operation counts once, by the median of its lines, so that one with many lines does not dominate.
    """
    pairs, inverse = np.unique(pair, return_inverse=True)
    of_pair = np.array([np.median(missing[inverse == one]) for one in range(len(pairs))])
    entity = entity_of[pairs]
    elsewhere = {
        one: float(np.median(others)) if len(others := of_pair[entity != one]) else 0.0
        for one in np.unique(entity).tolist()
    }
    return np.array([elsewhere[one] for one in entity[inverse].tolist()])


def _count_spans(view: SpanView, logs: LogView) -> _SpanCounts:
    """Spans by pair, in the slices of the lines; baseline spans count only if it has lines too."""
    start_s, recording = view.spans.start_s, view.recording
    early_s = max(0.0, logs.window.start_s - logs.begins_s[0])
    part = np.full(len(start_s), -1, dtype=np.int64)
    early, other = ~view.fault & (recording == 0), recording == 1
    part[early] = slice_of(start_s[early], logs.begins_s[0], logs.normal_s, 0.0)
    if np.isfinite(logs.begins_s[1]):
        part[other] = slice_of(start_s[other], logs.begins_s[1], logs.normal_s, early_s)
    part[view.fault & (start_s < logs.window.end_s)] = SLICES
    width = max(len(view.operations), 1)
    code = view.spans.entity * np.int64(width) + view.spans.operation
    used = np.flatnonzero(part >= 0)
    codes, pair = np.unique(code[used], return_inverse=True)
    count = np.bincount(pair * (SLICES + 1) + part[used], minlength=len(codes) * (SLICES + 1))
    count = count.reshape(-1, SLICES + 1).astype(np.int64)
    entity, operation = np.divmod(codes, width)
    sends = np.isin(codes, code[view.calls.caller_row])
    return _SpanCounts(entity, operation, sends, count[:, :SLICES], count[:, SLICES])
