"""Operations whose every span used to write a line and no longer does: they end before it, and write nothing.

An exception at the very start of an operation leaves no line that another could follow, so the order of lines
does not show it; the spans say that the operation ran all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from diagnosis_harness.analysis.arrays import Ints
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
"""Spans of normal operation from which on as many lines in every slice are hardly a coincidence."""


def silent_line_clues(logs: LogView, view: SpanView) -> Iterator[Clue]:
    """One clue for each line that an operation used to write every time, and now writes much more seldom.

    Where all such lines get fewer alike, lines are missing from the recording, and that part is no finding.
    """
    codes = {name: code for code, name in enumerate(view.entities)}
    normal, late = _spans_of(view, logs)
    usual_of, clients = normal.sum(axis=2), np.zeros(late.shape, np.bool_)
    sends = view.calls.caller_row
    clients[view.spans.entity[sends], view.spans.operation[sends]] = True
    rows: list[tuple[int, int, int]] = []
    for place, pattern in enumerate(logs.patterns):
        lines, entity = int(logs.shift.before[place]), codes.get(pattern.entity)
        if entity is None or pattern.fails or lines < LEAST_PAIRS:
            continue
        stray = np.abs(normal[entity] - logs.shift.counts[place]).sum(axis=1)
        near = (stray <= EVERY_SPAN * lines) & ~clients[entity]
        rows += [(place, entity, operation) for operation in np.flatnonzero(near).tolist()]
    if not rows:
        return
    place, entity, operation = np.array(rows, dtype=np.int64).T
    usual, spans = usual_of[entity, operation], late[entity, operation]
    lines = np.minimum(logs.shift.after[place], spans)
    missing = 1.0 - lines / np.maximum(spans, 1)
    missing -= float(np.median(missing))
    lines = np.rint(np.clip(1.0 - missing, 0.0, 1.0) * spans).astype(np.int64)
    found = share_shift(np.minimum(logs.shift.before[place], usual), usual, lines, spans)
    null = logs.order.null
    noise = max(NOISE_FLOOR, float(np.quantile(null, NULL_SHARE))) if len(null) else NOISE_FLOOR
    for row in np.flatnonzero((missing >= LEAST_BREAK) & (found.z < 0)).tolist():
        pattern = logs.patterns[place[row]]
        region = f"{view.operations[operation[row]]} before {region_of_pattern(pattern)}"
        yield Clue(
            pattern.entity,
            Modality.LOG,
            -float(found.z[row]),
            noise,
            region,
            "ERRORS",
            null_windows=len(null),
        )


def _spans_of(view: SpanView, logs: LogView) -> tuple[Ints, Ints]:
    """Spans by entity and operation: of each slice of normal operation, and of the time that is judged.

    Slices are those of the lines.
    """
    start_s, recording = view.spans.start_s, view.recording
    early_s = max(0.0, logs.window.start_s - logs.begins_s[0])
    part = np.full(len(start_s), SLICES, dtype=np.int64)
    early, other = ~view.fault & (recording == 0), recording == 1
    part[early] = slice_of(start_s[early], logs.begins_s[0], logs.normal_s, 0.0)
    if np.isfinite(logs.begins_s[1]):
        part[other] = slice_of(start_s[other], logs.begins_s[1], logs.normal_s, early_s)
    used = np.flatnonzero(~view.fault | (start_s < logs.window.end_s))
    count = np.zeros((len(view.entities), len(view.operations), SLICES + 1), dtype=np.int64)
    np.add.at(count, (view.spans.entity[used], view.spans.operation[used], part[used]), 1)
    return count[:, :, :SLICES], count[:, :, SLICES]
