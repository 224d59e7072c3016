"""Spans that a recording lost everywhere blame nothing; a service that lost more than the others is found."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from tests.support.spans import SpanRow, clues_of

from diagnosis_harness.analysis.clue import Modality

TRACES, NORMAL = 240, 160
CALLERS = ("web", "cart", "orders", "search")


def who_stopped(kept: Mapping[str, float]) -> set[str]:
    """Whom calls that are no longer made speak against, where callers keep such shares of them."""
    rng = np.random.default_rng(7)
    rows: list[SpanRow] = []
    for trace in range(TRACES):
        at_s = 10.0 * trace
        for place, caller in enumerate(CALLERS):
            rows.append((-1, place, 2 * place, at_s, 0.2))
            if trace < NORMAL or rng.random() < kept.get(caller, 1.0):
                rows.append((len(rows) - 1, place, 2 * place + 1, at_s, 0.1))
    names = tuple(f"{each} {part}" for each in CALLERS for part in ("serves", "asks"))
    found = clues_of(rows, CALLERS, names, onset_s=10.0 * NORMAL)
    return {clue.entity for clue in found if clue.modality is Modality.ERRORS and clue.excess > 0}


def test_calls_that_are_missing_everywhere_blame_nothing() -> None:
    """Half of all spans are missing everywhere: no fault causes that."""
    assert who_stopped(dict.fromkeys(CALLERS, 0.5)) == set()


def test_who_lost_all_calls_while_others_lost_some_is_found() -> None:
    """The loss of spans explains as much as everybody lost."""
    assert who_stopped({**dict.fromkeys(CALLERS, 0.6), "cart": 0.0}) == {"cart"}


def test_one_that_stops_alone_is_found() -> None:
    """Nothing is missing elsewhere."""
    assert who_stopped({"cart": 0.4}) == {"cart"}


def test_two_of_four_that_stop_are_not_a_loss_of_spans() -> None:
    """Most callers go on as before."""
    assert who_stopped({"cart": 0.6, "orders": 0.6}) == {"cart", "orders"}


def test_callers_that_stop_asking_the_same_callee_are_not_a_loss_of_spans() -> None:
    """Each asked it after something that failed; no recording loses only the spans of one callee."""
    rng = np.random.default_rng(7)
    rows: list[SpanRow] = []
    for trace in range(TRACES):
        at_s = 10.0 * trace
        for caller in range(len(CALLERS)):
            rows.append((-1, caller, caller, at_s, 0.2))
            if trace < NORMAL or rng.random() < 0.3:
                rows.append((len(rows) - 1, len(CALLERS), len(CALLERS), at_s, 0.1))
    names = (*(f"{each} serves" for each in CALLERS), "query")
    found = clues_of(rows, (*CALLERS, "store"), names, onset_s=10.0 * NORMAL)

    assert {each.entity for each in found if each.modality is Modality.ERRORS and each.excess > 0} == {
        *CALLERS
    }
