"""Operations whose every span used to write a line and no longer does: they end before it, and write nothing.

An exception at the very start of an operation leaves no line that another could follow, so the order of lines
does not show it; the spans say that the operation ran all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from diagnosis_harness.analysis.arrays import Flags, Ints
from diagnosis_harness.analysis.clue import NOISE_FLOOR, Clue, Modality
from diagnosis_harness.analysis.log_order import LEAST_BREAK
from diagnosis_harness.analysis.spans import share_shift
from diagnosis_harness.toolbox.log_clues import NULL_SHARE, region_of_pattern
from diagnosis_harness.toolbox.log_view import LogView
from diagnosis_harness.toolbox.span_table import SpanView

EVERY_SPAN: Final = 0.05
"""How far the lines may differ from the spans in normal operation and still be one for each: the edges of a
recording cut a few. No other value was tried."""
LEAST_PAIRS: Final = 20
"""Spans of normal operation from which on as many lines as spans are hardly a coincidence: within one in
twenty means within one of twenty."""


def silent_line_clues(logs: LogView, view: SpanView) -> Iterator[Clue]:
    """One clue for each line that an operation used to write every time, and now writes much more seldom.

    Where all such lines get fewer alike, lines are missing from the recording, and that part is no finding.
    """
    codes = {name: code for code, name in enumerate(view.entities)}
    normal, late = _spans_of(view, logs)
    rows: list[tuple[int, int, int]] = []
    for place, pattern in enumerate(logs.patterns):
        lines, entity = int(logs.shift.before[place]), codes.get(pattern.entity)
        if entity is None or pattern.fails or lines < LEAST_PAIRS:
            continue
        near = np.abs(normal[entity] - lines) <= EVERY_SPAN * lines
        rows += [(place, entity, operation) for operation in np.flatnonzero(near).tolist()]
    if not rows:
        return
    place, entity, operation = np.array(rows, dtype=np.int64).T
    usual, spans = normal[entity, operation], late[entity, operation]
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
    """Spans by entity and operation: of normal operation, and of the time whose lines are judged."""
    shape = (len(view.entities), len(view.operations))
    judged = view.fault & (view.spans.start_s < logs.window.end_s)

    def count(rows: Flags) -> Ints:
        cell = view.spans.entity[rows] * np.int64(shape[1]) + view.spans.operation[rows]
        return np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape).astype(np.int64)

    return count(~view.fault), count(judged)
