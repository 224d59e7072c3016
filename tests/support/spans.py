"""Views of spans that tests build row by row, compared as the tools compare them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diagnosis_harness.analysis.clue import Clue
from diagnosis_harness.analysis.span_findings import call_gap_groups, call_pattern_groups, self_time_groups
from diagnosis_harness.analysis.spans import SpanColumns, calls_between, self_time
from diagnosis_harness.toolbox.clues import SpanGroups, span_clues
from diagnosis_harness.toolbox.span_table import SpanView

SpanRow = tuple[int, int, int, float, float]
"""Row of the parent or -1, entity, operation, start in seconds, duration in seconds."""


def clues_of(
    rows: Sequence[SpanRow], entities: tuple[str, ...], operations: tuple[str, ...], *, onset_s: float
) -> list[Clue]:
    """What these spans count against which entity, without failures."""
    parent, entity, operation, start_s, duration_s = (np.array(c) for c in zip(*rows, strict=True))
    columns = SpanColumns(parent, entity, operation, start_s, duration_s, None)
    own_s, calls = self_time(columns), calls_between(columns)
    fault, recording = columns.start_s >= onset_s, np.zeros(len(columns), np.int8)
    groups = SpanGroups(
        self_time_groups(columns, own_s, fault, recording),
        call_gap_groups(columns, calls, fault, recording),
        None,
        None,
        call_pattern_groups(columns, fault, recording),
    )
    return span_clues(SpanView(entities, operations, columns, own_s, calls, fault, recording), groups)
