"""Symptoms explained along calls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.analysis.graph import graph_of
from diagnosis_harness.analysis.meaning import SYMPTOMS, SignalKind
from diagnosis_harness.analysis.symptom import SymptomRow, correlation, strengths, symptom_clues

RISING = np.array([1.0, 1.1, 4.0, 5.0, 4.5])
FLAT = np.array([1.0, 1.2, 1.0, 1.2, 1.0])


def row(entity: str, z: float, course: np.ndarray[tuple[int], np.dtype[np.float64]] = RISING) -> SymptomRow:
    """A latency of an entity."""
    return SymptomRow(entity, "latency", SignalKind.LATENCY, z, course, null_windows=20)


@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(-50, 50)), min_size=4, max_size=20))
def test_correlation_is_pearson_s(pairs: list[tuple[int, int]]) -> None:
    """Equal to numpy's where both vary; 0 where one does not."""
    x, y = (np.array(side, dtype=np.float64) for side in zip(*pairs, strict=True))
    if x.std() == 0 or y.std() == 0:
        assert correlation(x, y) == 0.0
    else:
        assert correlation(x, y) == pytest.approx(float(np.corrcoef(x, y)[0, 1]), abs=1e-9)


def test_too_few_common_points_correlate_with_nothing() -> None:
    """Three points correlate by chance."""
    assert correlation(np.array([1.0, 2.0, 3.0, np.nan]), np.array([1.0, 2.0, 3.0, 4.0])) == 0.0


def test_the_callee_outranks_the_caller_it_explains() -> None:
    """Both are strange; the caller waits for the callee."""
    found = strengths([row("caller", 60.0), row("callee", 50.0)], indicator=RISING, kinds=SYMPTOMS)
    clues = symptom_clues(found, graph_of([("caller", "callee")]), noise=5.0, indicated=True)
    by_name = {clue.entity: clue for clue in clues}
    assert by_name["callee"].excess > by_name["caller"].excess > 0
    assert by_name["caller"].explained_by == "callee"


def test_a_symptom_that_does_not_move_with_the_indicator_is_weak() -> None:
    """Strange all the time is strange for another reason."""
    found = strengths([row("a", 50.0, FLAT), row("b", 20.0)], indicator=RISING, kinds=SYMPTOMS)
    assert found["b"].value > found["a"].value


def test_below_three_widths_nothing_suspects_or_explains() -> None:
    """A calm callee leaves its caller to itself."""
    found = strengths([row("caller", 60.0), row("callee", 2.0)], indicator=RISING, kinds=SYMPTOMS)
    clues = symptom_clues(found, graph_of([("caller", "callee")]), noise=5.0, indicated=True)
    assert {clue.entity: clue.explained_by for clue in clues} == {"caller": None, "callee": None}


def test_without_an_indicator_the_noise_of_all_series_counts() -> None:
    """The strangest of hundreds is strange by chance."""
    found = strengths([row("a", 10.0)], indicator=None, kinds=SYMPTOMS)
    alone = symptom_clues(found, graph_of([]), noise=15.0, indicated=False)
    assert alone[0].excess < 0
