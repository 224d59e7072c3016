"""The query that would contradict a cause: asked by the run, found by code, and never an agent's word."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry
from tests.support.judged import causes_of

from diagnosis_harness.analysis.meaning import SYMPTOMS
from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.draft import (
    Cause,
    CauseLevel,
    Challenge,
    DiagnosisDraft,
    Disproof,
    DisproofResult,
)
from diagnosis_harness.diagnosis.inquiry import Inventory, KnownEntity, Telemetry
from diagnosis_harness.guards.answering import CLEAR_Z
from diagnosis_harness.guards.disproof import challengers_of, disproof_of
from diagnosis_harness.guards.harm import SYMPTOM_KINDS
from diagnosis_harness.guards.incident_time import EARLY_S, ORDER_SLACK_S
from diagnosis_harness.guards.levels import level_after_test
from diagnosis_harness.guards.semantic_guard import build_case
from diagnosis_harness.guards.semantic_rules import case_objections
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.testing.evidence import ONSET_S, cause_claim, cause_item, change_item, ready_record
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

NAMED = cause_item("c1", "payment")
RIVAL = replace(cause_item("c2", "ledger"), score=1.0)
OWN = replace(change_item("i1", "payment"), attributes={"bad": True, "z": 9.0, "kind": "cpu"})
RANKING = ready_record(NAMED, RIVAL, tool_call_id="t2", tool_name="rank_causes")


def both_with(*kinds: Telemetry) -> Inventory:
    """Both challengers, with telemetry of these kinds."""
    return Inventory(tuple(KnownEntity(name, telemetry=frozenset(kinds)) for name in ("ledger", "checkout")))


METRICS, SPANS = both_with(Telemetry.METRICS), both_with(Telemetry.SPANS)


def worse_signal(entity: str, onset_s: float, **attributes: Scalar) -> EvidenceItem:
    """A signal of an entity that clearly got worse at this time."""
    return replace(
        change_item("j1", entity), onset_s=onset_s, attributes={"bad": True, "z": 9.0, **attributes}
    )


def look(
    entity: str, *items: EvidenceItem, tool: str = "find_changed_signals", rest: str = ""
) -> EvidenceRecord:
    """The answer to a query about one entity alone."""
    scope = f'{{"entities":["{entity}"]{rest}}}'
    return ready_record(*items, tool_call_id=f"look-{entity}", tool_name=tool, scope=scope)


def challenges(item: EvidenceItem, *, tool: str = "find_changed_signals") -> tuple[EvidenceRecord, ...]:
    """The looks at both challengers; that at the one which the item is of finds it, else the first."""
    own = item.attributes.get("owner") or item.entity
    found = own if own in ("ledger", "checkout") else "ledger"
    return tuple(look(name, *([item] if name == found else []), tool=tool) for name in ("ledger", "checkout"))


def result_of(
    *records: EvidenceRecord, own: EvidenceItem = OWN, inventory: Inventory = METRICS
) -> DisproofResult:
    """What came of it, by these records."""
    return disproof_of(NAMED, records, [own], inventory).result


LEDGER, CHECKOUT = look("ledger"), look("checkout", worse_signal("checkout", ONSET_S + 5.0))


def test_the_next_candidate_and_the_affected_entity_are_looked_at() -> None:
    """The strongest other candidate with any evidence; the cause itself if it is the only one."""
    nothing = replace(RIVAL, score=0.0)
    alone = cause_item("c1", "checkout")
    assert challengers_of(NAMED, [NAMED, RIVAL]) == ("ledger", "checkout")
    assert challengers_of(NAMED, [NAMED, nothing]) == ("checkout",)
    assert challengers_of(alone, [alone]) == ("checkout",)


def test_a_cause_that_nothing_contradicts_holds() -> None:
    """What the others show came with the cause, or after it; each of them says by which call it was seen."""
    assert disproof_of(NAMED, (RANKING, LEDGER, CHECKOUT), [OWN], METRICS) == Disproof(
        DisproofResult.HELD,
        (Challenge("ledger", "look-ledger", 7), Challenge("checkout", "look-checkout", 7)),
    )
    assert result_of(LEDGER, RANKING, CHECKOUT) is DisproofResult.HELD  # in whatever order


@pytest.mark.parametrize("entity", ["ledger", "checkout"])
def test_what_was_clearly_worse_before_the_cause_contradicts_it(entity: str) -> None:
    """By more than onsets are known to, as far as a finding moves, and in a way that does harm."""
    began_s = OWN.onset_s or ONSET_S
    early_s = began_s - ORDER_SLACK_S - 1.0
    for item, due in (
        (worse_signal(entity, early_s), DisproofResult.DISPROVED),
        (worse_signal(entity, began_s - ORDER_SLACK_S), DisproofResult.HELD),
        (worse_signal(entity, early_s, bad=False), DisproofResult.HELD),
        (worse_signal("catalog", early_s), DisproofResult.HELD),
    ):
        assert result_of(RANKING, *challenges(item)) is due


@pytest.mark.parametrize(
    ("before_s", "z", "due"),
    [
        (-10.0, CLEAR_Z, DisproofResult.DISPROVED),
        (-10.0, CLEAR_Z - 0.1, DisproofResult.HELD),
        (ORDER_SLACK_S, CLEAR_Z - 0.1, DisproofResult.HELD),
        (ORDER_SLACK_S + 1.0, CLEAR_Z - 0.1, DisproofResult.DISPROVED),
    ],
)
def test_a_signal_contradicts_by_a_clear_score_or_by_a_step_before_what_was_compared(
    before_s: float, z: float, due: DisproofResult
) -> None:
    """Only a clear step dates a signal before the onset, and the minutes since then blur its score."""
    late = replace(OWN, onset_s=ONSET_S + 400.0)
    item = worse_signal("checkout", ONSET_S - before_s, z=z)
    assert result_of(RANKING, *challenges(item), own=late) is due


def test_a_step_long_before_contradicts_however_calm_it_looks_around_the_onset() -> None:
    """Its score compares the time after the onset with the minutes before, when it had long moved."""
    symptom: dict[str, Scalar] = {"z": 0.3, "began_before": True, "kind": "latency"}
    for entity, before_s, attributes, due in (
        ("checkout", 900.0, {}, DisproofResult.DISPROVED),
        ("checkout", 2 * EARLY_S, {}, DisproofResult.DISPROVED),
        ("checkout", 900.0, {"kind": "memory"}, DisproofResult.HELD),
        ("checkout", 900.0, {"bad": False}, DisproofResult.HELD),
        ("checkout", 900.0, {"began_before": False, "unsettled": True}, DisproofResult.HELD),
        ("ledger", 900.0, {"kind": "memory"}, DisproofResult.DISPROVED),
        ("ledger", 2 * EARLY_S, {"kind": "memory"}, DisproofResult.HELD),
    ):
        item = worse_signal(entity, ONSET_S - before_s, **{**symptom, **attributes})
        assert result_of(RANKING, *challenges(item)) is due, (entity, attributes)


def test_the_kinds_of_symptoms_are_those_that_signals_have() -> None:
    """One list for items and for what the tools know."""
    assert {each.value for each in SYMPTOMS} == SYMPTOM_KINDS


def test_one_answer_that_contradicts_is_enough() -> None:
    """Nobody hides it by not asking about the other one."""
    early = look("ledger", worse_signal("ledger", ONSET_S - 900.0))
    assert result_of(RANKING, early) is DisproofResult.DISPROVED


def test_a_signal_that_followed_does_not_date_a_cause_that_spans_show() -> None:
    """What the spans show may have begun with the onset; only what was there before that contradicts."""
    spans = replace(OWN, item_id="s1", kind=ItemKind.SELF_TIME, onset_s=None)
    late = replace(OWN, onset_s=ONSET_S + 400.0)
    for onset_s, due in (
        (ONSET_S + 10.0, DisproofResult.HELD),
        (ONSET_S - ORDER_SLACK_S - 1.0, DisproofResult.DISPROVED),
    ):
        records = (RANKING, *challenges(worse_signal("checkout", onset_s)))
        assert disproof_of(NAMED, records, [late, spans], METRICS).result is due
    soon = challenges(worse_signal("checkout", ONSET_S + 10.0))
    assert result_of(RANKING, *soon, own=late) is DisproofResult.DISPROVED


def test_where_nothing_is_dated_more_of_the_same_contradicts() -> None:
    """Spans of the other candidate that show more of what the cause shows; of the affected one they must."""
    own = replace(OWN, kind=ItemKind.SELF_TIME, onset_s=None, score=4.0)
    part = replace(
        own, item_id="s1", entity="checkout-7d9f", attributes={**own.attributes, "owner": "checkout"}
    )
    for item, due in (
        (replace(own, item_id="s1", entity="ledger", score=5.0), DisproofResult.DISPROVED),
        (replace(own, item_id="s1", entity="ledger", score=3.0), DisproofResult.HELD),
        (replace(own, item_id="s1", entity="checkout", score=5.0), DisproofResult.HELD),
        (replace(part, score=9.0), DisproofResult.HELD),
    ):
        spans = challenges(item, tool="compare_spans")
        assert result_of(RANKING, *spans, own=own, inventory=SPANS) is due


@pytest.mark.parametrize(
    "other",
    [
        None,
        look("catalog"),
        ready_record(
            tool_call_id="both", tool_name="find_changed_signals", scope='{"entities":["checkout","ledger"]}'
        ),
        ready_record(tool_call_id="all", tool_name="find_changed_signals", scope="{}"),
        look("ledger", rest=',"onset":1'),
        look("ledger", rest=',"until":1'),
        look("ledger", tool="walk_topology"),
        look("ledger", tool="compare_spans"),
    ],
)
def test_any_other_query_tests_nothing(other: EvidenceRecord | None) -> None:
    """About others or more than one, of another time, or of a tool that compares nothing of it."""
    found = disproof_of(NAMED, [RANKING, CHECKOUT, *([other] if other else [])], [OWN], METRICS)
    assert found.result is DisproofResult.NOT_TESTED
    assert found.challenges[0] == Challenge("ledger")
    assert found.challenges[1].tool_call_id == "look-checkout"


def test_a_query_that_saw_nothing_of_it_or_left_something_out_tests_nothing() -> None:
    """It neither confirms the cause nor contradicts it; a limit that cut nothing changes nothing."""
    early = look("ledger", worse_signal("ledger", ONSET_S - 900.0), rest=',"limit":1')
    assert early.projection is not None
    blind = replace(early, projection=replace(early.projection, looked_at=0))
    cut = replace(early, projection=replace(early.projection, omitted=1))
    assert result_of(RANKING, blind, CHECKOUT) is DisproofResult.NOT_TESTED
    assert result_of(RANKING, cut, CHECKOUT) is DisproofResult.NOT_TESTED
    assert result_of(RANKING, early, CHECKOUT) is DisproofResult.DISPROVED


def test_code_decides_which_telemetry_is_asked_and_up_to_when() -> None:
    """Spans have no times and can hardly contradict: they count where no metrics hold the entity."""
    spans = (look("ledger", tool="compare_spans"), look("checkout", tool="compare_spans"))
    assert result_of(RANKING, *spans, inventory=SPANS) is DisproofResult.HELD
    assert result_of(RANKING, *spans, inventory=METRICS) is DisproofResult.NOT_TESTED
    assert result_of(RANKING, *spans, inventory=Inventory()) is DisproofResult.NOT_TESTED

    ended = ready_record(NAMED, RIVAL, tool_call_id="t2", tool_name="rank_causes", scope='{"until":9}')
    up_to = (look("ledger", rest=',"until":9'), look("checkout", rest=',"until":9'))
    assert result_of(ended, LEDGER, CHECKOUT) is DisproofResult.NOT_TESTED
    assert result_of(ended, *up_to) is DisproofResult.HELD


def test_what_was_not_tested_is_only_localised() -> None:
    """The level is lowered by code, whatever else explains the cause."""
    for level in CauseLevel:
        assert level_after_test(level, Disproof(DisproofResult.HELD)) is level
        assert level_after_test(level, Disproof(DisproofResult.NOT_TESTED)) is CauseLevel.LOCALISED


def test_a_released_cause_says_what_came_of_it_and_a_disproved_one_is_refused() -> None:
    """From the records of the run: a draft says nothing of it, and cannot."""
    named = replace(NAMED, attributes={**NAMED.attributes, "origin": "resource", "open": False})
    ranking = ready_record(named, RIVAL, tool_call_id="t2", tool_name="rank_causes")
    facts = ready_record(OWN, tool_call_id="t1")
    draft = DiagnosisDraft(
        (Cause("payment", FaultKind.CPU, ("k0",)),), (cause_claim(named, tool_call_id="t2"),)
    )
    early = look("ledger", worse_signal("ledger", (OWN.onset_s or ONSET_S) - 300.0))
    of = replace(inquiry(), inventory=METRICS)
    for records, result, objects in (
        ((facts, ranking), DisproofResult.NOT_TESTED, False),
        ((facts, ranking, LEDGER, CHECKOUT), DisproofResult.HELD, False),
        ((facts, ranking, early), DisproofResult.DISPROVED, True),
    ):
        (scored,) = causes_of(draft, records, inquiry=of)
        assert scored.disproof is not None
        assert scored.disproof.result is result
        objections = case_objections(build_case(draft, records, inquiry=of))
        assert (SemanticReason.DISPROVED in objections) is objects
