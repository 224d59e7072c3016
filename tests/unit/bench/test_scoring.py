"""One run against its truth: ties count against us, and a wrong release is never hidden."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from diagnosis_harness.bench.case import BenchRun, Case, Loud, Ranked, RunResult, Truth
from diagnosis_harness.bench.scoring import LEVELS_IN_ORDER, judge, place_of
from diagnosis_harness.diagnosis.draft import CauseLevel
from diagnosis_harness.simulator.hard.scene import TruthLevel

Named = tuple[str, float | None]
A = Truth(entities=("a",), fault_kind="cpu")
NOTHING = Truth(entities=(), fault_kind="none")


def ranking(*named: Named) -> tuple[Ranked, ...]:
    """Entities with scores, as a run names them."""
    return tuple(Ranked(entity=entity, fault_kind="CPU", score=value) for entity, value in named)


def run_of(
    *,
    causes: tuple[Named, ...] = (),
    candidates: tuple[Named, ...] = (),
    owners: dict[str, str] | None = None,
    left_out: frozenset[str] = frozenset(),
    alert: str | None = None,
) -> BenchRun:
    """A finished run over ten entities; a success where it names a cause."""
    case = Case(
        incident_id="i",
        group="g",
        folder=Path("folder"),
        baseline=None,
        entities=tuple("abcdefghij"),
        owners=owners or {},
        left_out=left_out,
        alert_entity=alert,
    )
    outcome = "SUCCESS" if causes else "FALLBACK"
    return BenchRun(case, RunResult(outcome, ranking(*causes), ranking(*candidates)))


def saying(*, concluded: str = "", text: str = "") -> BenchRun:
    """A success that blames `a` in these words."""
    run = run_of(causes=(("a", 1.0),))
    return replace(run, result=replace(run.result, concluded=concluded, said=f"{concluded}\n{text}"))


def blaming(cause: Ranked, *others: Ranked) -> BenchRun:
    """A success with these causes."""
    run = run_of()
    return replace(run, result=RunResult("SUCCESS", (cause, *others), ()))


def test_causes_come_before_candidates() -> None:
    """A released cause is first, whatever score the candidates have."""
    run = run_of(causes=(("a", 0.1),), candidates=(("b", 9.0), ("c", 8.0)))
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
    """Proven causes rank above unproven candidates, even with equal scores."""
    assert place_of("a", run_of(causes=(("a", 2.0),), candidates=(("b", 2.0),))) == 1


def test_instances_count_as_their_service_once() -> None:
    """Two pods of one service take one place, the better one; a truth may name a pod as well."""
    run = run_of(candidates=(("a-1", 3.0), ("a-2", 2.0), ("b", 1.0)), owners={"a-1": "a", "a-2": "a"})
    assert (place_of("a", run), place_of("b", run)) == (1, 2)
    assert judge(run, Truth(entities=("a-2",), fault_kind="cpu")).place == 1


def test_left_out_entities_take_no_place() -> None:
    """The alerting node is skipped."""
    run = run_of(candidates=(("front", 3.0), ("b", 1.0)), left_out=frozenset({"front"}))
    assert place_of("b", run) == 1
    assert place_of("front", run) is None


def test_releasing_a_left_out_entity_is_still_wrong() -> None:
    """A release that blames the alerting node is wrong, though the ranking skips it."""
    run = run_of(causes=(("front", 3.0),), candidates=(("b", 1.0),), left_out=frozenset({"front"}))
    outcome = judge(run, Truth(entities=("b",), fault_kind="cpu"))
    assert (outcome.place, outcome.wrong, outcome.standing) == (1, True, "released, wrong")


def test_a_fallback_is_neither_right_nor_wrong() -> None:
    """Also where nothing was wrong: to say nothing is not to say that there is nothing."""
    quiet = judge(run_of(candidates=(("b", 1.0),)), NOTHING)
    assert (quiet.right, quiet.wrong, quiet.false_alarm, quiet.standing) == (
        None,
        False,
        False,
        "nothing released",
    )
    assert judge(run_of(candidates=(("a", 1.0),)), A).right is None


def test_where_nothing_was_wrong_a_release_that_says_so_is_right() -> None:
    """A success without a cause, or with a kind that is no fault; any other cause is a false alarm."""
    calm = replace(run_of(), result=RunResult("SUCCESS", (), (), nothing_unusual=True))
    assert judge(calm, NOTHING).right
    assert judge(calm, NOTHING).standing == "released, right"
    surge = replace(NOTHING, fault_kind="surge", kinds=frozenset({"TRAFFIC"}))
    assert judge(blaming(Ranked("web", "TRAFFIC")), surge).right
    loud = judge(blaming(Ranked("web", "CPU")), surge)
    assert (loud.right, loud.false_alarm, loud.standing) == (False, True, "false alarm")


def test_a_success_that_says_nothing_is_not_right_where_nothing_was_wrong() -> None:
    """Neither empty nor about something else; it blames nobody either, so it is no false alarm."""
    for result in (RunResult("SUCCESS", (), ()), RunResult("SUCCESS", (), (), concluded="web calls db")):
        for truth in (NOTHING, replace(NOTHING, kinds=frozenset({"TRAFFIC"}))):
            outcome = judge(replace(run_of(), result=result), truth)
            assert (outcome.right, outcome.wrong, outcome.false_alarm) == (False, False, False)
            assert outcome.standing == "nothing released"


def test_further_kinds_count_beside_the_frozen_ones() -> None:
    """A kind that is right as well counts in the one figure and not in the other."""
    full = replace(A, kinds=frozenset({"LATENCY"}), also_kinds=frozenset({"SATURATION"}))
    for kind, right, frozen in (("SATURATION", True, False), ("LATENCY", True, True), ("CPU", False, False)):
        outcome = judge(blaming(Ranked("a", kind)), full)
        assert (outcome.kind_right, outcome.kind_as_frozen) == (right, frozen)
    only_further = replace(A, also_kinds=frozenset({"CODE"}))
    outcome = judge(blaming(Ranked("a", "CODE")), only_further)
    assert (outcome.kind_right, outcome.kind_as_frozen) == (True, None)


def test_innocent_entities_that_look_guilty_are_counted_by_themselves() -> None:
    """First of the answer, and released; their instances stand for them."""
    truth = replace(A, decoy_entities=("b",))
    named = judge(run_of(candidates=(("b-1", 2.0), ("a", 1.0)), owners={"b-1": "b"}), truth)
    assert (named.decoy_first, named.decoy_concluded) == (True, False)
    released = judge(run_of(causes=(("a", 2.0), ("b", 1.0))), truth)
    assert (released.decoy_first, released.decoy_concluded) == (False, True)
    assert (judge(run_of(), A).decoy_first, judge(run_of(), A).decoy_concluded) == (None, None)


def test_luck_follows_from_the_telemetry_where_the_set_names_no_entities() -> None:
    """Of own incidents: what the product reads in the folder, instances as their service."""
    run = run_of(owners={"a-1": "a", "a-2": "a"})
    run = replace(run, case=replace(run.case, entities=()), known=("a", "a-1", "a-2", "b", "c", "d"))
    assert judge(run, A).chance == pytest.approx({1: 0.25, 3: 0.75, 5: 1.0})
    assert judge(replace(run, known=()), A).chance == {}


def test_who_has_most_events_is_loudest_where_events_are_published() -> None:
    """However large the steps are that stand for them."""
    run = replace(run_of(), loudest=(Loud("b", 100.0),))
    run = replace(run, case=replace(run.case, events={"a": 3, "b": 2}))
    assert judge(run, A).loudest_right is True
    tied = replace(run, case=replace(run.case, events={"a": 2, "b": 2}))
    assert judge(tied, A).loudest_right is False


def test_a_success_without_a_cause_is_wrong_where_something_broke() -> None:
    """It says that nothing was wrong."""
    assert judge(replace(run_of(), result=RunResult("SUCCESS", (), ())), A).wrong


def test_several_causes_are_scored_as_a_set() -> None:
    """One of two named, beside an innocent one: half precise, half complete, and a wrong release."""
    both = Truth(entities=("a", "b"), fault_kind="two")
    outcome = judge(run_of(causes=(("b", 2.0), ("c", 1.0))), both)
    assert (outcome.precision, outcome.recall, outcome.right, outcome.place) == (0.5, 0.5, False, 1)
    quiet = judge(run_of(candidates=(("a", 1.0),)), both)
    assert (quiet.precision, quiet.recall) == (None, 0.0)
    assert judge(run_of(causes=(("a", 1.0),)), A).recall is None


def test_the_kind_counts_where_the_first_named_is_right() -> None:
    """Not where the entity is wrong, nor where the data set names no kind."""
    cpu = replace(A, kinds=frozenset({"CPU"}))
    assert judge(run_of(candidates=(("a", 1.0),)), cpu).kind_right is True
    assert (
        judge(run_of(candidates=(("a", 1.0),)), replace(A, kinds=frozenset({"MEMORY"}))).kind_right is False
    )
    assert judge(run_of(candidates=(("b", 2.0), ("a", 1.0))), cpu).kind_right is None
    assert judge(run_of(candidates=(("a", 1.0),)), A).kind_right is None


def test_the_level_counts_of_right_releases_that_carry_one() -> None:
    """Too far is as wrong as too short."""
    truth = replace(A, level="LOCALISED")
    for level, right in (("LOCALISED", True), ("EXPLAINED", False), ("", None)):
        assert judge(blaming(Ranked("a", "CPU", level=level)), truth).level_right is right


@pytest.mark.parametrize(
    ("allowed", "claimed", "scope", "right", "overstated"),
    [
        ("TRIGGER", "EXPLAINED", (), False, False),
        ("EXPLAINED", "TRIGGER", (), False, True),
        ("SCOPED", "LOCALISED", ("b",), True, False),
        ("SCOPED", "LOCALISED", (), False, True),
        ("LOCALISED", "LOCALISED", ("b",), False, False),
    ],
)
def test_a_level_is_exact_short_or_overstated(
    allowed: str, claimed: str, scope: tuple[str, ...], right: bool, overstated: bool
) -> None:
    """A scoped release says less than where it starts, whatever level its cause carries."""
    outcome = judge(blaming(Ranked("a", "CPU", level=claimed, scope=scope)), replace(A, level=allowed))
    assert (outcome.level_right, outcome.level_overstated) == (right, overstated)


def test_every_level_has_its_place_among_the_levels() -> None:
    """Those that a cause can carry, and those that a truth can have."""
    assert {level.value for level in (*CauseLevel, *TruthLevel)} == set(LEVELS_IN_ORDER)


def test_an_explanation_counts_of_all_incidents_with_a_fault() -> None:
    """A fallback explains nothing, nor does a wrong release."""
    assert judge(blaming(Ranked("a", "CPU", level="TRIGGER")), A).explained is True
    assert judge(blaming(Ranked("a", "CPU", level="LOCALISED")), A).explained is False
    assert judge(blaming(Ranked("b", "CPU", level="EXPLAINED")), A).explained is False
    assert judge(run_of(candidates=(("a", 1.0),)), A).explained is False
    assert judge(run_of(), NOTHING).explained is None


def test_a_cause_counts_as_named_first_or_within_a_right_scope() -> None:
    """The second of a scope is not the first named, and all the same what the release holds."""
    assert judge(blaming(Ranked("b", "CPU", scope=("a",))), A).named_or_scoped is True
    assert judge(blaming(Ranked("b", "CPU")), A).named_or_scoped is False
    assert judge(run_of(candidates=(("a", 1.0),)), A).named_or_scoped is True
    assert judge(run_of(), NOTHING).named_or_scoped is None


@pytest.mark.parametrize(
    ("named", "right"),
    [
        (Ranked("a", "CPU", region="GET /pay"), True),
        (Ranked("a", "CPU", region="a: get /pay"), True),
        (Ranked("a", "CPU", region="GET /payments"), False),
        (Ranked("a", "CPU"), False),
        (Ranked("b", "CPU", region="GET /pay"), None),
    ],
)
def test_the_region_counts_where_the_first_named_is_right(named: Ranked, right: bool | None) -> None:
    """Whole words of it, in either direction; a longer name is another place."""
    assert judge(blaming(named), replace(A, region="GET /pay")).region_right is right


def test_an_instance_named_for_its_service_is_a_region() -> None:
    """The service alone is not."""
    run = run_of(causes=(("a-1", 1.0),), owners={"a-1": "a"})
    truth = replace(A, region="a-1")
    assert judge(run, truth).region_right is True
    assert judge(run_of(causes=(("a", 1.0),)), truth).region_right is False


def test_a_scope_of_at_most_three_with_the_truth_in_it_is_right() -> None:
    """Four entities narrow nothing down, and a scope without the truth is wrong."""
    judged = judge(blaming(Ranked("b", "CPU", scope=("a", "c"))), A)
    assert (judged.scoped_right, judged.right, judged.wrong) == (True, True, False)
    for scope in (("a", "c", "d"), ("c",)):
        outcome = judge(blaming(Ranked("b", "CPU", scope=scope)), A)
        assert (outcome.scoped_right, outcome.wrong) == (False, True)
    assert judge(blaming(Ranked("a", "CPU")), A).scoped_right is None
    unseen = Truth(entities=("unseen",), fault_kind="untraced", level="SCOPED", scope=("b",))
    assert judge(blaming(Ranked("b", "CPU", scope=("unseen-or-other",))), unseen).right is True
    assert judge(blaming(Ranked("b", "CPU")), unseen).wrong


def test_a_mechanism_counts_with_a_word_of_each_group_and_no_forbidden_one() -> None:
    """In the conclusion; elsewhere only its words are counted."""
    truth = replace(A, mechanism=(("pool", "connections"), ("exhausted", "full")), forbidden=("memory",))
    assert judge(saying(concluded="Connections exhausted"), truth).mechanism is True
    assert judge(saying(concluded="connections exhausted, memory low"), truth).mechanism is False
    half = judge(saying(concluded="the pool", text="is full"), truth)
    assert (half.mechanism, half.mechanism_words) == (False, True)
    assert judge(saying(concluded="x"), A).mechanism is None


def test_baselines_stand_beside_the_answer() -> None:
    """Luck, the alert's own entity, and whose metrics changed most; who ties is not found."""
    run = replace(run_of(alert="a"), loudest=(Loud("b", 9.0), Loud("a", 8.0)))
    outcome = judge(run, A)
    assert outcome.chance == pytest.approx({1: 0.1, 3: 0.3, 5: 0.5})
    assert (outcome.alert_right, outcome.loudest_right) == (True, False)
    tied = replace(run_of(), loudest=(Loud("a", 9.0), Loud("b", 9.0)))
    assert judge(tied, A).loudest_right is False
    closer = replace(run_of(), loudest=(Loud("a", 9.0, 12.0), Loud("b", 9.0, 11.0)))
    assert judge(closer, A).loudest_right is True
    skipped = replace(run_of(left_out=frozenset({"b"})), loudest=(Loud("b", 9.0), Loud("a", 8.0)))
    assert judge(skipped, A).loudest_right is True
    assert judge(run_of(), A).alert_right is None


def test_luck_with_two_at_fault_is_greater() -> None:
    """One of ten or the other: two tenths; any of the first three: 1 - (8·7·6)/(10·9·8)."""
    outcome = judge(run_of(), Truth(entities=("a", "b"), fault_kind="two"))
    assert outcome.chance[1] == pytest.approx(0.2)
    assert outcome.chance[3] == pytest.approx(1 - 336 / 720)


def test_an_innocent_cause_beside_the_guilty_one_makes_a_release_wrong() -> None:
    """Whoever reads it starts with the wrong half; the same of a scoped one among several."""
    assert judge(run_of(causes=(("a", 1.0), ("b", 1.0))), A).standing == "released, wrong"
    assert judge(run_of(causes=(("b", 1.0), ("a", 0.5))), A).wrong
    scoped = Ranked("a", "CPU", scope=("x",))
    assert judge(blaming(scoped, Ranked("b", "CPU")), A).scoped_right is False
    assert judge(blaming(scoped, Ranked("a", "CPU")), A).scoped_right is True
    assert judge(blaming(scoped, Ranked("a", "CPU", scope=("y", "z"))), A).scoped_right is False


def test_kind_and_place_are_those_of_the_first_that_counts() -> None:
    """An entity that the published scoring leaves out is not judged on what the next one is."""
    truth = replace(A, kinds=frozenset({"MEMORY"}))
    run = run_of(causes=(("z", 2.0),), candidates=(("a", 1.0),), left_out=frozenset("z"))
    run = replace(run, result=replace(run.result, candidates=(Ranked("a", "MEMORY", score=1.0),)))
    assert judge(run, truth).kind_right is True


@pytest.mark.parametrize(
    ("word", "text", "holds"),
    [
        ("ttl", "the CPU is throttled", False),
        ("throttl", "the CPU is throttled", True),
        ("miss", "cache_miss_total rose", True),
        ("cas", "in this case", True),
        ("cas retr", "in this case, calls retry", False),
        ("503", "it returned 1503", False),
    ],
)
def test_a_word_of_the_mechanism_begins_where_a_word_begins(word: str, text: str, holds: bool) -> None:
    """Whatever its ending, and not in the middle of another."""
    assert judge(saying(concluded=text), replace(A, mechanism=((word,),))).mechanism is holds
