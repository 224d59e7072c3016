"""The query that would contradict a cause: asked by the run, found by code, and never an agent's word."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.draft import Cause, CauseLevel, DiagnosisDraft, Disproof, DisproofResult
from diagnosis_harness.diagnosis.inquiry import Inventory, KnownEntity, Telemetry
from diagnosis_harness.guards.answering import CLEAR_Z
from diagnosis_harness.guards.disproof import challengers_of, disproof_of
from diagnosis_harness.guards.incident_time import ORDER_SLACK_S
from diagnosis_harness.guards.levels import level_after_test
from diagnosis_harness.guards.semantic_guard import build_case
from diagnosis_harness.guards.semantic_rules import case_objections
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.release.standing import score_causes
from diagnosis_harness.testing.evidence import ONSET_S, cause_claim, cause_item, change_item, ready_record
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

NAMED = cause_item("c1", "payment")
RIVAL = replace(cause_item("c2", "ledger"), score=1.0)
OWN = replace(change_item("i1", "payment"), attributes={"bad": True, "z": 9.0, "kind": "cpu"})
RANKING = ready_record(NAMED, RIVAL, tool_call_id="t2", tool_name="rank_causes")
NOTHING_KNOWN = Inventory()
ASKED = '{"entities":["ledger","checkout"]}'


def worse_signal(entity: str, onset_s: float, **attributes: Scalar) -> EvidenceItem:
    """A signal of an entity that clearly got worse at this time."""
    return replace(
        change_item("j1", entity), onset_s=onset_s, attributes={"bad": True, "z": 9.0, **attributes}
    )


def look(*items: EvidenceItem, scope: str = ASKED, tool: str = "find_changed_signals") -> EvidenceRecord:
    """The answer to a query about named entities."""
    return ready_record(*items, tool_call_id="t3", tool_name=tool, scope=scope)


def result_of(
    *records: EvidenceRecord, own: EvidenceItem = OWN, inventory: Inventory = NOTHING_KNOWN
) -> DisproofResult:
    """What came of it, by these records."""
    return disproof_of(NAMED, records, [own], inventory).result


CALM = look(worse_signal("checkout", ONSET_S + 5.0))


def test_whoever_would_be_named_instead_and_whoever_is_affected_are_looked_at() -> None:
    """The strongest other candidate that anything speaks for; the cause itself where it is all there is."""
    nothing = replace(RIVAL, score=0.0)
    alone = cause_item("c1", "checkout")
    assert challengers_of(NAMED, [NAMED, RIVAL]) == ("ledger", "checkout")
    assert challengers_of(NAMED, [NAMED, nothing]) == ("checkout",)
    assert challengers_of(alone, [alone]) == ("checkout",)


def test_a_cause_that_nothing_contradicts_holds() -> None:
    """What the others show came with the cause, or after it."""
    assert result_of(RANKING, CALM) is DisproofResult.HELD
    assert disproof_of(NAMED, (RANKING, CALM), [OWN], NOTHING_KNOWN) == Disproof(
        DisproofResult.HELD, "t3", ("ledger", "checkout")
    )


@pytest.mark.parametrize("entity", ["ledger", "checkout"])
def test_what_was_clearly_worse_before_the_cause_contradicts_it(entity: str) -> None:
    """By more than onsets are known to, as far as a finding moves, and in a way that does harm."""
    began_s = OWN.onset_s or ONSET_S
    early_s = began_s - ORDER_SLACK_S - 1.0
    before = replace(worse_signal(entity, early_s), attributes={"bad": True, "z": 9.0, "began_before": True})
    assert result_of(RANKING, look(worse_signal(entity, early_s))) is DisproofResult.DISPROVED
    assert result_of(RANKING, look(before)) is DisproofResult.DISPROVED
    assert result_of(RANKING, look(worse_signal(entity, began_s - ORDER_SLACK_S))) is DisproofResult.HELD
    assert result_of(RANKING, look(worse_signal(entity, early_s, z=CLEAR_Z - 0.1))) is DisproofResult.HELD
    assert result_of(RANKING, look(worse_signal(entity, early_s, bad=False))) is DisproofResult.HELD
    assert result_of(RANKING, look(worse_signal("catalog", early_s))) is DisproofResult.HELD


def test_a_signal_that_followed_does_not_date_a_cause_that_spans_show() -> None:
    """What the spans show may have begun with the onset; only what was there before that contradicts."""
    spans = replace(OWN, item_id="s1", kind=ItemKind.SELF_TIME, onset_s=None)
    late = replace(OWN, onset_s=ONSET_S + 400.0)
    for onset_s, due in (
        (ONSET_S + 10.0, DisproofResult.HELD),
        (ONSET_S - ORDER_SLACK_S - 1.0, DisproofResult.DISPROVED),
    ):
        records = (RANKING, look(worse_signal("checkout", onset_s)))
        assert disproof_of(NAMED, records, [late, spans], NOTHING_KNOWN).result is due
    assert (
        result_of(RANKING, look(worse_signal("checkout", ONSET_S + 10.0)), own=late)
        is DisproofResult.DISPROVED
    )


def test_where_nothing_is_dated_more_of_the_same_contradicts() -> None:
    """Spans of the other candidate that show more of what the cause shows; of the affected one they must."""
    own = replace(OWN, kind=ItemKind.SELF_TIME, onset_s=None, score=4.0)
    for entity, score, due in (
        ("ledger", 5.0, DisproofResult.DISPROVED),
        ("ledger", 3.0, DisproofResult.HELD),
        ("checkout", 5.0, DisproofResult.HELD),
    ):
        spans = look(replace(own, item_id="s1", entity=entity, score=score), tool="compare_spans")
        assert result_of(RANKING, spans, own=own) is due
    part = replace(
        own, item_id="s1", entity="checkout-7d9f", attributes={**own.attributes, "owner": "checkout"}
    )
    assert result_of(RANKING, look(replace(part, score=9.0)), own=own) is DisproofResult.HELD


@pytest.mark.parametrize(
    "records",
    [
        (RANKING,),
        (CALM, RANKING),  # before anybody was named
        (RANKING, look(worse_signal("checkout", ONSET_S), scope='{"entities":["checkout"]}')),
        (
            RANKING,
            look(worse_signal("checkout", ONSET_S), scope='{"entities":["catalog","checkout","ledger"]}'),
        ),
        (RANKING, look(worse_signal("checkout", ONSET_S), scope="{}")),
        (RANKING, look(worse_signal("checkout", ONSET_S), scope=ASKED[:-1] + ',"limit":1}')),
        (RANKING, look(worse_signal("checkout", ONSET_S), scope=ASKED[:-1] + ',"onset":1}')),
        (RANKING, look(worse_signal("checkout", ONSET_S), tool="walk_topology")),
    ],
)
def test_any_other_query_tests_nothing(records: tuple[EvidenceRecord, ...]) -> None:
    """Too early, about others, cut, of another time, or of a tool that compares nothing."""
    assert result_of(*records) is DisproofResult.NOT_TESTED


def test_a_query_that_saw_nothing_of_them_tests_nothing() -> None:
    """No telemetry of that kind holds these entities, so nothing in it could have contradicted."""
    assert CALM.projection is not None
    blind = replace(CALM, projection=replace(CALM.projection, looked_at=0))
    cut = replace(CALM, projection=replace(CALM.projection, omitted=1))
    assert result_of(RANKING, blind) is DisproofResult.NOT_TESTED
    assert result_of(RANKING, cut) is DisproofResult.NOT_TESTED


def test_code_decides_which_telemetry_is_asked_and_up_to_when() -> None:
    """Spans have no times and can hardly contradict: they count where no metrics hold these entities."""
    calm = worse_signal("checkout", ONSET_S + 5.0)
    blind = look(replace(calm, kind=ItemKind.SELF_TIME, onset_s=None), tool="compare_spans")

    def ledger_with(*kinds: Telemetry) -> Inventory:
        return Inventory((KnownEntity("ledger", telemetry=frozenset(kinds)), KnownEntity("checkout")))

    assert result_of(RANKING, blind, inventory=ledger_with(Telemetry.SPANS)) is DisproofResult.HELD
    assert result_of(RANKING, blind, inventory=ledger_with(Telemetry.METRICS)) is DisproofResult.NOT_TESTED
    assert result_of(RANKING, blind, CALM, inventory=ledger_with(Telemetry.METRICS)) is DisproofResult.HELD

    ended = ready_record(NAMED, RIVAL, tool_call_id="t2", tool_name="rank_causes", scope='{"until":9}')
    assert result_of(ended, CALM) is DisproofResult.NOT_TESTED
    assert result_of(ended, look(calm, scope=ASKED[:-1] + ',"until":9}')) is DisproofResult.HELD


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
    early = look(worse_signal("ledger", (OWN.onset_s or ONSET_S) - 300.0))
    for records, result, objects in (
        ((facts, ranking), DisproofResult.NOT_TESTED, False),
        ((facts, ranking, CALM), DisproofResult.HELD, False),
        ((facts, ranking, early), DisproofResult.DISPROVED, True),
    ):
        (scored,) = score_causes(draft, records, inquiry=inquiry())
        assert scored.disproof is not None
        assert scored.disproof.result is result
        held = case_objections(build_case(draft, records, inquiry=inquiry()))
        assert (SemanticReason.DISPROVED in held) is objects
