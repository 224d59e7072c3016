"""Spans that a recording lost everywhere blame nobody; who lost more than the others is found."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from diagnosis_harness.analysis.clue import Modality
from diagnosis_harness.analysis.span_findings import call_gap_groups, call_pattern_groups, self_time_groups
from diagnosis_harness.analysis.spans import SpanColumns, calls_between, self_time
from diagnosis_harness.toolbox.clues import SpanGroups, span_clues
from diagnosis_harness.toolbox.span_table import SpanView

TRACES, NORMAL = 240, 160
CALLERS = ("web", "cart", "orders", "search")


def who_stopped(kept: Mapping[str, float]) -> set[str]:
    """Whom calls that are no longer made speak against, where callers keep such shares of them."""
    rng = np.random.default_rng(7)
    rows: list[tuple[int, int, int, float, float]] = []
    for trace in range(TRACES):
        at_s = 10.0 * trace
        for place, caller in enumerate(CALLERS):
            rows.append((-1, place, 2 * place, at_s, 0.2))
            if trace < NORMAL or rng.random() < kept.get(caller, 1.0):
                rows.append((len(rows) - 1, place, 2 * place + 1, at_s, 0.1))
    parent, entity, operation, start_s, duration_s = (np.array(c) for c in zip(*rows, strict=True))
    columns = SpanColumns(parent, entity, operation, start_s, duration_s, None)
    own_s, calls = self_time(columns), calls_between(columns)
    fault, recording = columns.start_s >= 10.0 * NORMAL, np.zeros(len(columns), np.int8)
    names = tuple(f"{each} {part}" for each in CALLERS for part in ("serves", "asks"))
    view = SpanView(CALLERS, names, columns, own_s, calls, fault, recording)
    groups = SpanGroups(
        self_time_groups(columns, own_s, fault, recording),
        call_gap_groups(columns, calls, fault, recording),
        None,
        None,
        call_pattern_groups(columns, fault, recording),
    )
    return {c.entity for c in span_clues(view, groups) if c.modality is Modality.ERRORS and c.excess > 0}


def test_calls_that_are_missing_everywhere_blame_nobody() -> None:
    """Half of the spans of all are gone: nobody broke that many at once."""
    assert who_stopped(dict.fromkeys(CALLERS, 0.5)) == set()


def test_who_lost_all_calls_while_others_lost_some_is_found() -> None:
    """The loss of spans explains as much as everybody lost."""
    assert who_stopped({**dict.fromkeys(CALLERS, 0.6), "cart": 0.0}) == {"cart"}


def test_one_that_stops_alone_is_found() -> None:
    """Nothing is missing elsewhere."""
    assert who_stopped({"cart": 0.4}) == {"cart"}


def test_two_of_four_that_stop_are_no_loss_of_spans() -> None:
    """Most callers go on as before."""
    assert who_stopped({"cart": 0.6, "orders": 0.6}) == {"cart", "orders"}
