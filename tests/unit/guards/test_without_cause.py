"""When a claim that names no cause answers a question for it: by all records of the run, not by one item."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.guards.evidence_guard import check_claims
from diagnosis_harness.guards.without_cause import claims_without_cause
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.testing.evidence import ONSET_S, WINDOW, cause_item, change_item, ready_record
from diagnosis_harness.tools.evidence import Circumstance, Direction, EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

NAMED = inquiry(onset_s=ONSET_S)
ASKED = replace(NAMED, inventory=replace(NAMED.inventory, edges=()))  # nobody recorded calls checkout


def circumstance(which: Circumstance, **more: object) -> EvidenceItem:
    """An item that says how the trouble of checkout stands."""
    item = EvidenceItem(
        "k", ItemKind.CIRCUMSTANCE, which.value, "checkout", attributes={"circumstance": which}, window=WINDOW
    )
    return replace(item, **more)  # type: ignore[arg-type] # the fields of one dataclass


LOAD = circumstance(
    Circumstance.MORE_REQUESTS, signal="requests", value=100.0, baseline=40.0, direction=Direction.UP
)
FEWER = circumstance(
    Circumstance.FEWER_REQUESTS, signal="requests", value=10.0, baseline=40.0, direction=Direction.DOWN
)
OVER = circumstance(Circumstance.OVER, onset_s=ONSET_S + 200)
EARLIER = EvidenceItem(
    "k", ItemKind.ONSET, "earlier", "checkout", onset_s=ONSET_S - 1800,
    attributes={"method": "estimated", "used": False},
)  # fmt: skip
SLOW = ready_record(change_item(), tool_call_id="t5")
LOOKS = (
    ready_record(tool_call_id="t1"),
    ready_record(tool_call_id="t2", tool_name="compare_spans"),
    ready_record(tool_call_id="t3", tool_name="compare_logs"),
)
WEAK = cause_item()
UNSURE = ready_record(replace(WEAK, attributes={**WEAK.attributes, "strength": 0.1}), tool_call_id="t8")
SURE = ready_record(
    replace(WEAK, attributes={**WEAK.attributes, "effect": "shown", "path": "known"}), tool_call_id="t8"
)


def is_answer(
    predicate: Predicate, item: EvidenceItem, *others: EvidenceRecord, asked: Inquiry = ASKED
) -> bool:
    """Whether the claim passes, and answers the question."""
    records = (ready_record(item, tool_call_id="t9", tool_name="rank_causes"), *others)
    claim = Claim("k0", predicate, item.entity or "", (EvidenceRef("t9", "k"),))
    standing = check_claims([claim], records, run_id="r1", inquiry=asked).standing
    return bool(claims_without_cause(asked, standing, records))


def test_more_load_is_an_answer_if_nothing_stands_out() -> None:
    """The entity shows trouble, nobody recorded calls it, and no ranking names a cause."""
    assert is_answer(Predicate.FOLLOWS_LOAD, LOAD, SLOW)
    assert is_answer(Predicate.FOLLOWS_LOAD, LOAD, SLOW, UNSURE)


@pytest.mark.parametrize(
    ("item", "others"),
    [
        (LOAD, ()),  # nobody is in trouble
        (LOAD, (SLOW, SURE)),  # a cause stands out
        (replace(LOAD, value=59.0), (SLOW,)),  # less than half as many again
        (replace(LOAD, entity="catalog"), (SLOW,)),  # not the entity that was asked about
    ],
)
def test_more_load_explains_no_trouble_that_a_record_explains_better(
    item: EvidenceItem, others: tuple[EvidenceRecord, ...]
) -> None:
    """Whatever the draft cites."""
    assert not is_answer(Predicate.FOLLOWS_LOAD, item, *others)


def test_requests_of_a_recorded_caller_do_not_come_from_outside() -> None:
    """Then it is that caller that sends more of them, or fewer."""
    called = replace(ASKED, inventory=replace(ASKED.inventory, edges=(("web", "checkout"),)))

    assert not is_answer(Predicate.FOLLOWS_LOAD, LOAD, SLOW, asked=called)
    assert not is_answer(Predicate.FROM_OUTSIDE, FEWER, *LOOKS, asked=called)


def test_fewer_requests_come_from_outside_if_all_was_looked_at_and_is_calm() -> None:
    """Harm inside, or telemetry that nobody looked at, may be what keeps requests away."""
    assert is_answer(Predicate.FROM_OUTSIDE, FEWER, *LOOKS)
    assert not is_answer(Predicate.FROM_OUTSIDE, FEWER, *LOOKS[1:])
    worse = replace(change_item(), attributes={"bad": True, "kind": "latency", "z": 9.0})
    assert not is_answer(Predicate.FROM_OUTSIDE, FEWER, *LOOKS, ready_record(worse, tool_call_id="t5"))
    assert not is_answer(Predicate.FROM_OUTSIDE, FEWER, *LOOKS, SURE)


def test_trouble_is_over_if_it_was_calm_for_as_long() -> None:
    """Four minutes of it and six of calm; harm after that contradicts it."""
    again = replace(change_item(), onset_s=ONSET_S + 400)

    assert is_answer(Predicate.IS_OVER, OVER)
    assert not is_answer(Predicate.IS_OVER, replace(OVER, onset_s=ONSET_S + 400))
    assert not is_answer(Predicate.IS_OVER, OVER, ready_record(again, tool_call_id="t5"))


def test_it_began_earlier_if_nothing_got_worse_at_the_stated_time() -> None:
    """By five minutes at least: people round, and a minute more or less corrects nobody."""
    worse = replace(change_item(), attributes={"bad": True, "kind": "latency", "z": 9.0})

    assert is_answer(Predicate.BEGAN_BEFORE, EARLIER)
    assert not is_answer(Predicate.BEGAN_BEFORE, replace(EARLIER, onset_s=ONSET_S - 240))
    assert not is_answer(Predicate.BEGAN_BEFORE, EARLIER, ready_record(worse, tool_call_id="t5"))
    by_alert = inquiry(alert_entity="checkout", alert_at_s=ONSET_S)
    assert not is_answer(Predicate.BEGAN_BEFORE, EARLIER, asked=by_alert)  # the tools correct it themselves


def test_it_began_before_the_recording_if_nothing_before_was_recorded() -> None:
    """Neither in it nor in a baseline, and no tool compared anything."""
    short = TimeWindow(ONSET_S + 20, ONSET_S + 2_000)
    item = circumstance(Circumstance.NOTHING_BEFORE, onset_s=ONSET_S, window=short)
    asked = inquiry(onset_s=ONSET_S, incident=short)
    baseline = replace(asked, inventory=replace(asked.inventory, baseline=TimeWindow(0.0, 1.0)))
    long = inquiry(onset_s=ONSET_S, incident=TimeWindow(ONSET_S - 600, ONSET_S + 2_000))

    assert is_answer(Predicate.BEGAN_BEFORE, item, asked=asked)
    assert not is_answer(Predicate.BEGAN_BEFORE, item, asked=baseline)
    assert not is_answer(Predicate.BEGAN_BEFORE, item, asked=long)
    assert not is_answer(Predicate.BEGAN_BEFORE, item, SLOW, asked=asked)
