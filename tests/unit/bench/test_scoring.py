"""Scores: ties count against us, intervals are Wilson's, a wrong success is never hidden."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.bench.case import Case, Ranked, RunResult, Truth
from diagnosis_harness.bench.scoring import Outcome, Run, judge, place_of, score, score_groups, wilson

Named = tuple[str, float | None]


def ranking(*named: Named) -> tuple[Ranked, ...]:
    """Entities with scores, as a run names them."""
    return tuple(Ranked(entity=entity, fault_kind="CPU", score=value) for entity, value in named)


def run_of(
    *,
    causes: tuple[Named, ...] = (),
    candidates: tuple[Named, ...] = (),
    outcome: str = "FALLBACK",
    group: str = "g",
    scenario: str = "",
    owners: dict[str, str] | None = None,
    left_out: frozenset[str] = frozenset(),
) -> Run:
    """A finished run over ten entities."""
    case = Case(
        incident_id="i",
        group=group,
        scenario=scenario,
        folder=Path("folder"),
        baseline=None,
        entities=tuple("abcdefghij"),
        owners=owners or {},
        left_out=left_out,
    )
    result = RunResult(outcome=outcome, causes=ranking(*causes), candidates=ranking(*candidates))
    return Run(case=case, result=result, elapsed_s=2.0)


def at(place: int | None, *, kind: str = "cpu", group: str = "g", scenario: str = "") -> Outcome:
    """An outcome whose right answer stands at a place."""
    names: tuple[Named, ...] = tuple((f"x{n}", None) for n in range(6))
    if place is not None:
        names = (*names[: place - 1], ("a", None), *names[place - 1 :])
    return judge(
        run_of(candidates=names, group=group, scenario=scenario), Truth(entities=("a",), fault_kind=kind)
    )


def test_causes_come_before_candidates() -> None:
    """A proven cause is first, whatever score the candidates have."""
    run = run_of(causes=(("a", 0.1),), candidates=(("b", 9.0), ("c", 8.0)), outcome="SUCCESS")
    assert (place_of("a", run), place_of("b", run), place_of("c", run)) == (1, 2, 3)


def test_equal_scores_take_the_worst_place() -> None:
    """Three candidates of one score are all third."""
    run = run_of(candidates=(("a", 2.0), ("b", 2.0), ("c", 2.0), ("d", 1.0)))
    assert [place_of(name, run) for name in "abcd"] == [3, 3, 3, 4]


def test_without_scores_the_order_decides() -> None:
    """No score is no tie."""
    run = run_of(candidates=(("a", None), ("b", None)))
    assert (place_of("a", run), place_of("b", run)) == (1, 2)


def test_a_cause_does_not_tie_with_a_candidate() -> None:
    """What was proven stands above what was not, also with equal scores."""
    run = run_of(causes=(("a", 2.0),), candidates=(("b", 2.0),), outcome="SUCCESS")
    assert place_of("a", run) == 1


def test_instances_count_as_their_service_once() -> None:
    """Two pods of one service take one place, the better one."""
    run = run_of(candidates=(("a-1", 3.0), ("a-2", 2.0), ("b", 1.0)), owners={"a-1": "a", "a-2": "a"})
    assert (place_of("a", run), place_of("b", run)) == (1, 2)


def test_left_out_entities_take_no_place() -> None:
    """The alerting node is skipped."""
    run = run_of(candidates=(("front", 3.0), ("b", 1.0)), left_out=frozenset({"front"}))
    assert place_of("b", run) == 1
    assert place_of("front", run) is None


def test_releasing_a_left_out_entity_is_still_wrong() -> None:
    """A success that blames the alerting node is confident and wrong, though the ranking skips it."""
    run = run_of(
        causes=(("front", 3.0),), candidates=(("b", 1.0),), outcome="SUCCESS", left_out=frozenset({"front"})
    )
    outcome = judge(run, Truth(entities=("b",), fault_kind="cpu"))
    assert outcome.place == 1
    assert outcome.confident_and_wrong


def test_what_was_not_named_has_no_place() -> None:
    """An answer that is missing counts in no top-k."""
    assert score("s", [at(None)]).top[5].share == 0.0


def test_sound_system_is_right_without_a_cause_and_wrong_with_one() -> None:
    """Candidates are allowed where nothing is wrong; a released cause is not."""
    nothing = Truth(entities=(), fault_kind="none")
    quiet = judge(run_of(candidates=(("b", 1.0),)), nothing)
    loud = judge(run_of(causes=(("b", 1.0),), outcome="SUCCESS"), nothing)
    assert (quiet.right, quiet.confident_and_wrong) == (True, False)
    assert (loud.right, loud.confident_and_wrong) == (False, True)


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


@given(count=st.integers(1, 500), data=st.data())
def test_interval_holds_its_share(count: int, data: st.DataObject) -> None:
    """The share lies inside its interval, the interval inside zero to one."""
    hits = data.draw(st.integers(0, count))
    interval = wilson(hits, count)
    assert 0.0 <= interval.low <= interval.share + 1e-12
    assert interval.share - 1e-12 <= interval.high <= 1.0


def test_average_at_five_is_the_mean_of_top_one_to_five() -> None:
    """Places 1 and 3: 0.5, 0.5, 1, 1, 1."""
    figures = score("s", [at(1), at(3)])
    assert [figures.top[k].share for k in range(1, 6)] == [0.5, 0.5, 1.0, 1.0, 1.0]
    assert figures.average_at_5 == pytest.approx(0.8)


def test_chance_follows_from_the_number_of_entities() -> None:
    """One of ten by luck, three of ten for the first three."""
    figures = score("s", [at(1)])
    assert [figures.chance[1], figures.chance[3]] == pytest.approx([0.1, 0.3])


def test_places_are_counted_over_faulty_runs_only() -> None:
    """A sound system dilutes no top-k."""
    sound = judge(run_of(), Truth(entities=(), fault_kind="none"))
    figures = score("s", [at(1), sound])
    assert (figures.runs, figures.faulty, figures.top[1].share) == (2, 1, 1.0)


def test_scenarios_of_a_group_are_scored_apart() -> None:
    """A group with several scenarios has a row for each."""
    figures = score_groups([at(1, scenario="high"), at(2, scenario="low"), at(1, scenario="low")])
    assert {one.name: one.top[1].share for one in figures} == {
        "all": pytest.approx(2 / 3),
        "g: high": 1.0,
        "g: low": 0.5,
    }


def test_groups_and_kinds_are_scored_apart() -> None:
    """All, each group, each kind inside a group that has several."""
    names = [
        figures.name
        for figures in score_groups([at(1, group="one"), at(1, kind="net", group="two"), at(2, group="two")])
    ]
    assert names == ["all", "one", "two", "two: cpu", "two: net"]
