"""Which checked claims answer a question that asks for no cause."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.question_form import FormRead, QuestionForm, Topic
from diagnosis_harness.guards.answering import answering_claims, claims_about
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.testing.evidence import WINDOW, ready_record
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind

QUIET = EvidenceItem(
    "i1",
    ItemKind.SIGNAL_CHANGE,
    "latency of checkout stayed",
    entity="checkout",
    signal="latency_ms",
    direction=Direction.FLAT,
    window=WINDOW,
    attributes={"kind": "latency"},
)
LOUD = replace(
    QUIET, item_id="i2", signal="errors", direction=Direction.UP, attributes={"kind": "errors", "bad": True}
)


def asks(form: FormRead) -> Inquiry:
    """A question of this form."""
    asked = inquiry("checkout")
    return replace(asked, reading=replace(asked.reading, form=form))


def says(predicate: Predicate, entity: str = "checkout", item: str = "i1") -> Claim:
    """A claim that passed."""
    return Claim(f"{predicate}-{entity}", predicate, entity, (EvidenceRef("t1", item),), window=WINDOW)


HEALTH = asks(FormRead(QuestionForm.HEALTH, "checkout"))


def test_what_stayed_normal_answers_whether_an_entity_is_as_usual() -> None:
    """Of that entity alone."""
    own, other = says(Predicate.NORMAL), says(Predicate.NORMAL, "payment")

    assert answering_claims(HEALTH, (other, own), (ready_record(QUIET),)) == (own,)
    assert answering_claims(HEALTH, (other,), (ready_record(QUIET),)) == ()


def test_nothing_is_as_usual_where_a_record_holds_worse() -> None:
    """Whether a claim says so or not: what was seen is not left out of the answer."""
    assert answering_claims(HEALTH, (says(Predicate.NORMAL),), (ready_record(QUIET, LOUD),)) == ()


@pytest.mark.parametrize(
    ("kind", "value", "unit", "well"),
    [
        ("availability", 0.0, None, False),
        ("availability", 1.0, None, True),
        ("traffic", 0.0, "1/s", False),
        ("traffic", 3.0, "1/s", True),
        ("errors", 0.95, None, False),
        ("errors", 0.05, None, False),
        ("errors", 0.049, None, True),
        ("errors", 5.0, "percent", False),
        ("errors", 4.9, "percent", True),
        ("errors", 12.0, "1/s", True),  # of how many, nobody knows
        ("disk", 100.0, "percent", False),
        ("disk", 60.0, "percent", True),
        ("latency", 9.0, "s", True),  # what is slow for a service only its normal operation tells
    ],
)
def test_what_was_never_well_is_not_as_usual(kind: str, value: float, unit: str | None, well: bool) -> None:
    """Down, failing or full throughout moves no further than it always did."""
    steady = replace(QUIET, item_id="i2", value=value, unit=unit, attributes={"kind": kind})
    answer = answering_claims(HEALTH, (says(Predicate.NORMAL),), (ready_record(QUIET, steady),))
    assert bool(answer) is well


def test_an_end_that_a_policy_chose_answers_nothing() -> None:
    """Up to two minutes before the trouble all was as usual; that is no answer to how it is."""
    chosen = ready_record(QUIET, scope=f'{{"until": {WINDOW.start_s + 60.0}}}')
    assert answering_claims(HEALTH, (says(Predicate.NORMAL),), (chosen,)) == ()
    assert answering_claims(HEALTH, (says(Predicate.NORMAL),), (ready_record(QUIET),)) != ()


@pytest.mark.parametrize(("scope", "answers"), [("{}", True), ('{"entities": ["checkout"]}', False)])
def test_the_whole_is_as_usual_only_where_all_of_it_was_looked_at(scope: str, *, answers: bool) -> None:
    """A look at one service says nothing of the others."""
    record = ready_record(QUIET, tool_name="find_changed_signals", scope=scope)
    found = answering_claims(asks(FormRead(QuestionForm.HEALTH)), (says(Predicate.NORMAL),), (record,))
    assert bool(found) is answers


def test_an_alerting_entity_is_not_called_as_usual() -> None:
    """Its threshold may have been passed all the time that was recorded."""
    alerting = replace(HEALTH, alert_entity="checkout")
    assert answering_claims(alerting, (says(Predicate.NORMAL),), (ready_record(QUIET),)) == ()


def test_what_got_worse_comes_before_what_stayed() -> None:
    """One claim is the answer."""
    worse = says(Predicate.CHANGED, item="i2")

    assert answering_claims(HEALTH, (says(Predicate.NORMAL), worse), (ready_record(QUIET, LOUD),)) == (worse,)


@pytest.mark.parametrize(
    ("attributes", "direction"),
    [
        ({"bad": True, "z": 2.4}, Direction.UP),  # a hint
        ({"bad": False, "z": 40.0}, Direction.UP),  # no harm
        ({"bad": True, "z": 40.0, "as_far": 3, "normal_windows": 7}, Direction.UP),  # normal windows show it
    ],
)
def test_a_hint_or_a_harmless_move_is_neither_unusual_nor_as_usual(
    attributes: dict[str, Scalar], direction: Direction
) -> None:
    """A calm service shows moves as well; they settle nothing, and the claim is what can be said."""
    item = replace(LOUD, direction=direction, attributes=attributes)
    moved, records = says(Predicate.CHANGED, item="i2"), (ready_record(QUIET, item),)

    assert answering_claims(HEALTH, (moved, says(Predicate.NORMAL)), records) == ()
    assert claims_about("checkout", HEALTH, (says(Predicate.NORMAL), moved))[0] == moved


def test_what_moved_as_far_as_a_finding_is_unusual() -> None:
    """Three widths of normal operation, and harm."""
    item = replace(LOUD, attributes={"bad": True, "z": 3.0})
    moved = says(Predicate.CHANGED, item="i2")

    assert answering_claims(HEALTH, (moved,), (ready_record(item),)) == (moved,)


@pytest.mark.parametrize(
    ("predicate", "affected", "attributes", "answers"),
    [
        (Predicate.HAPPENED, "current", {"bad": True}, True),
        (Predicate.HAPPENED, "over", {"bad": False}, False),
        (Predicate.HAPPENED, "current", {"bad": False}, False),
        (Predicate.LOGGED, None, {"bad": True, "z": 9.0}, True),
        (Predicate.LOGGED, None, {"bad": False, "z": 9.0}, False),
        (Predicate.BROKE_OFF, "stored", {"bad": True, "z": -9.0}, True),
    ],
)
def test_platform_events_and_log_patterns_say_how_an_entity_is(
    predicate: Predicate, affected: str | None, attributes: dict[str, Scalar], *, answers: bool
) -> None:
    """What still lasts, and lines that say that something fails."""
    kind = ItemKind.PLATFORM_EVENT if predicate is Predicate.HAPPENED else ItemKind.LOG_PATTERN
    item = replace(LOUD, kind=kind, attributes=attributes)
    claim = replace(says(predicate, item="i2"), affected=affected)

    assert answering_claims(HEALTH, (claim,), (ready_record(item),)) == ((claim,) if answers else ())
    assert claims_about("checkout", HEALTH, (claim,)) == [claim]


def test_lines_that_an_entity_writes_of_another_are_about_it() -> None:
    """A call or a deploy shows no state."""
    wrote = replace(says(Predicate.LOGGED, "payment"), affected="checkout")

    every = (wrote, says(Predicate.CALLS), says(Predicate.DEPLOYED))
    assert claims_about("checkout", HEALTH, every) == [wrote]


def test_the_same_is_said_once() -> None:
    """Two claims that differ only in the call that they cite."""
    form = asks(FormRead(QuestionForm.SHOW, "checkout", topic=Topic.ANY))
    one = says(Predicate.NORMAL)
    again = replace(one, claim_id="k9", refs=(EvidenceRef("t2", "i1"),))

    assert answering_claims(form, (one, again), ()) == (one,)


def test_a_comparison_is_answered_of_both_or_not_at_all() -> None:
    """How one of them is says nothing of the other."""
    form = asks(FormRead(QuestionForm.COMPARE, "checkout", "payment"))
    one, other = says(Predicate.NORMAL), says(Predicate.CHANGED, "payment", "i2")
    records = (ready_record(QUIET, replace(LOUD, entity="payment")),)

    assert answering_claims(form, (one, other), records) == (one, other)
    assert answering_claims(form, (one,), records) == ()


def test_a_comparison_of_times_is_of_the_time_that_is_asked() -> None:
    """What changed at another time says nothing of it."""
    form = asks(FormRead(QuestionForm.COMPARE_TIMES))
    moved = says(Predicate.CHANGED)

    def at(at_s: float) -> Inquiry:
        reading = form.reading
        return replace(form, reading=replace(reading, time=replace(reading.time, at_s=at_s)))

    assert answering_claims(at(WINDOW.start_s), (moved,), ()) == (moved,)
    assert answering_claims(at(WINDOW.start_s - 1_800.0), (moved,), ()) == ()
    assert answering_claims(at(WINDOW.start_s), (replace(moved, window=None),), ()) == ()


def test_when_is_answered_by_the_earliest_beginning() -> None:
    """Claims in the order of time."""
    form = asks(FormRead(QuestionForm.WHEN))
    late = replace(says(Predicate.BEGAN), onset_s=WINDOW.start_s + 60.0)
    early = replace(says(Predicate.BEGAN, "payment"), onset_s=WINDOW.start_s)

    assert answering_claims(form, (late, early, says(Predicate.NORMAL)), ()) == (early, late)

    many = [replace(late, onset_s=WINDOW.start_s + 60.0 * place) for place in range(1, 9)]
    assert answering_claims(form, (*many, early), ())[0] == early


def test_what_is_shown_is_what_was_asked_for() -> None:
    """Errors by what they measure, changes by what they are, logs by the tool that read them."""
    items = (ready_record(QUIET, LOUD),)
    errors, latency = says(Predicate.CHANGED, item="i2"), says(Predicate.NORMAL)
    deployed = says(Predicate.DEPLOYED, item="i9")
    every = (errors, latency, deployed)

    def show(topic: Topic) -> tuple[Claim, ...]:
        return answering_claims(asks(FormRead(QuestionForm.SHOW, "checkout", topic=topic)), every, items)

    assert show(Topic.ERRORS) == (errors,)
    assert show(Topic.LATENCY) == (latency,)
    assert show(Topic.CHANGES) == (deployed,)
    assert show(Topic.LOGS) == ()
    assert show(Topic.ANY) == every


def test_a_conclusion_is_not_a_fact_and_an_unknown_name_has_no_answer() -> None:
    """Who is hit is said with a judged conclusion alone."""
    assert answering_claims(HEALTH, (says(Predicate.AFFECTED),), ()) == ()
    assert answering_claims(inquiry("checkout"), (says(Predicate.NORMAL),), ()) == ()  # it asks for the cause
