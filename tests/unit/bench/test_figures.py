"""Figures over outcomes: their intervals, splits and calibration."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.bench.test_scoring import NOTHING, A, Named, blaming, run_of

from diagnosis_harness.bench.calibration import measure_calibration
from diagnosis_harness.bench.case import Ranked, Truth
from diagnosis_harness.bench.interval import bootstrap, mean, wilson
from diagnosis_harness.bench.measures import score, score_splits
from diagnosis_harness.bench.scoring import Outcome, judge


def at(place: int | None, *, kind: str = "cpu", group: str = "g", scenario: str = "") -> Outcome:
    """An outcome whose right answer is at a given place among the candidates."""
    names: tuple[Named, ...] = tuple((f"x{n}", None) for n in range(6))
    if place is not None:
        names = (*names[: place - 1], ("a", None), *names[place - 1 :])
    run = run_of(candidates=names)
    run = replace(run, case=replace(run.case, group=group, scenario=scenario))
    return judge(run, Truth(entities=("a",), fault_kind=kind))


def release(entity: str, confidence: float) -> Outcome:
    """A release that blames an entity; `a` is at fault."""
    return judge(blaming(Ranked(entity, "CPU", confidence=confidence, decided_by="error")), A)


@pytest.mark.parametrize(
    ("hits", "count", "low", "high"),
    [(0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (5, 10, 0.2366, 0.7634), (81, 263, 0.2553, 0.3662)],
)
def test_interval_agrees_with_published_values(hits: int, count: int, low: float, high: float) -> None:
    """Wilson's interval at 95%; the last row is Newcombe's (1998) example."""
    interval = wilson(hits, count)
    assert [interval.low, interval.high] == pytest.approx([low, high], abs=5e-5)


def test_nothing_measured_leaves_the_whole_range() -> None:
    """No run, no knowledge."""
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)
    assert (bootstrap([], mean).low, bootstrap([], mean).high) == (0.0, 1.0)


@given(count=st.integers(1, 500), data=st.data())
def test_interval_holds_its_share(count: int, data: st.DataObject) -> None:
    """The share lies inside its interval, the interval inside zero to one."""
    hits = data.draw(st.integers(0, count))
    interval = wilson(hits, count)
    assert 0.0 <= interval.low <= interval.share + 1e-12
    assert interval.share - 1e-12 <= interval.high <= 1.0


def test_bootstrap_is_the_same_each_time_and_agrees_with_theory() -> None:
    """Of a hundred numbers with a mean of 4.95 and a deviation of 2.87: some 1.96 · 0.287 to each side."""
    rows = [[float(n % 10 + n // 50)] for n in range(100)]
    first, second = bootstrap(rows, mean), bootstrap(rows, mean)
    assert first == second
    assert first.share == pytest.approx(5.0)
    assert [first.low, first.high] == pytest.approx([5.0 - 0.57, 5.0 + 0.57], abs=0.08)


def test_what_was_not_named_has_no_place() -> None:
    """An answer that is missing counts in no top-k, and in the number all the same."""
    figures = score("all", "all", [at(None), at(1)]).figures
    assert [(figures[name].share, figures[name].count) for name in ("top1", "top5")] == [(0.5, 2)] * 2


def test_places_are_counted_over_faulty_runs_only() -> None:
    """A sound system dilutes no top-k; a figure of nothing is left out."""
    figures = score("all", "all", [at(1), judge(run_of(), NOTHING)]).figures
    assert (figures["top1"].share, figures["top1"].count) == (1.0, 1)
    assert (figures["false_alarm"].share, figures["false_alarm"].count) == (0.0, 1)
    assert "wrong" not in figures


def test_wrong_is_a_share_of_what_was_released() -> None:
    """One wrong of two released, whatever number of runs released nothing."""
    figures = score("all", "all", [release("a", 0.9), release("b", 0.9), *[at(1)] * 8]).figures
    assert (figures["wrong"].share, figures["wrong"].count) == (0.5, 2)
    assert (figures["right"].share, figures["released"].share) == (0.5, 0.2)


def test_chance_follows_from_the_number_of_entities() -> None:
    """One of ten by luck, three of ten for the first three."""
    figures = score("all", "all", [at(1)]).figures
    assert [figures["chance"].share, figures["chance3"].share] == pytest.approx([0.1, 0.3])


def test_splits_go_by_group_scenario_kind_and_evidence() -> None:
    """Kinds and scenarios inside of their group; a split into one part says nothing new."""
    outcomes = [at(1, group="one"), at(1, kind="net", group="two"), at(2, group="two"), release("b", 0.9)]
    names = [(one.split, one.name) for one in score_splits(outcomes)]
    assert names == [
        ("all", "all"),
        ("group", "g"),
        ("group", "one"),
        ("group", "two"),
        ("fault kind", "g: cpu"),
        ("fault kind", "one: cpu"),
        ("fault kind", "two: cpu"),
        ("fault kind", "two: net"),
        ("decided by", "error"),
        ("decided by", "nothing"),
    ]
    assert [one.name for one in score_splits([at(1)])] == ["all"]
    scenarios = score_splits([at(1, scenario="high"), at(2, scenario="low")])
    assert [(one.name, one.figures["top1"].share) for one in scenarios if one.split == "scenario"] == [
        ("g: high", 1.0),
        ("g: low", 0.0),
    ]


def test_calibration_holds_a_confidence_against_what_was_right() -> None:
    """Three of four right at 0.75 is honest: Brier's score is that of the base rate."""
    found = measure_calibration([*[release("a", 0.75)] * 3, release("b", 0.75), at(1)])
    assert found is not None
    assert (found.brier.share, found.base.share, found.brier.count) == (0.1875, 0.1875, 4)
    (only,) = found.bins
    assert (only.low, only.high, only.confidence, only.right.share) == (0.7, 0.8, 0.75, 0.75)
    assert measure_calibration([at(1)]) is None


def test_full_confidence_is_in_the_last_bin() -> None:
    """The last bin holds its upper end."""
    found = measure_calibration([release("a", 1.0), release("a", 0.9)])
    assert found is not None
    assert [one.right.count for one in found.bins] == [2]
