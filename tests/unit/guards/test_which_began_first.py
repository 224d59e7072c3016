"""Which began first, cause or effect: signals are dated, and spans are not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.guards.incident_time import ORDER_SLACK_S
from diagnosis_harness.guards.semantic_guard import build_case
from diagnosis_harness.guards.semantic_rules import case_objections
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.testing.evidence import ONSET_S, cause_claim, cause_item, change_item, ready_record
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind

SEEN = change_item("i1", "payment")
RANKED = cause_item("c1", "payment")
DRAFT = DiagnosisDraft((Cause("payment", FaultKind.CPU, ("k0",)),), (cause_claim(RANKED, tool_call_id="t2"),))
CPU = replace(
    change_item("i3", "payment-7d9f"),
    signal="cpu_percent",
    onset_s=ONSET_S + 400.0,
    attributes={"bad": True, "kind": "cpu", "owner": "payment"},
)
BY_CPU: dict[str, Scalar] = {
    **RANKED.attributes,
    "decided_by": "resource",
    "region": "payment-7d9f/cpu_percent",
    "instance": "payment-7d9f",
}
BY_SPANS: dict[str, Scalar] = {**RANKED.attributes, "decided_by": "self_time", "region": "charge"}
UNDATED = replace(SEEN, item_id="s1", kind=ItemKind.SELF_TIME, signal="charge", onset_s=None, attributes={})
EFFECT = change_item("i2", "checkout")


def reasons_against(
    facts: tuple[EvidenceItem, ...],
    decided: dict[str, Scalar],
    *,
    scope: str = "{}",
    spans: tuple[EvidenceItem, ...] = (UNDATED,),
) -> tuple[SemanticReason, ...]:
    """What is held against payment, ranked by this, given signals and spans that were looked at."""
    looks = (
        ready_record(*facts, tool_call_id="t1", scope=scope),
        ready_record(*spans, tool_call_id="t3", tool_name="compare_spans"),
        ready_record(replace(RANKED, attributes=decided), tool_call_id="t2", tool_name="rank_causes"),
    )
    return case_objections(build_case(DRAFT, looks, inquiry=inquiry()))


def test_spans_beside_a_late_signal_do_not_excuse_it() -> None:
    """The ranking was decided by the CPU, which is dated; that spans have no time hides nothing."""
    on_time = replace(CPU, onset_s=ONSET_S + ORDER_SLACK_S - 1)

    assert reasons_against((CPU, EFFECT), BY_CPU) == (SemanticReason.AFTER_ITS_EFFECT,)
    assert reasons_against((on_time, EFFECT), BY_CPU) == ()


def test_what_decided_a_ranking_says_when_the_cause_began() -> None:
    """Another signal of the same service that moved earlier is not what was judged."""
    assert reasons_against((CPU, SEEN, EFFECT), BY_CPU) == (SemanticReason.AFTER_ITS_EFFECT,)
    assert reasons_against((SEEN, EFFECT), BY_CPU) == ()


def test_a_cause_decided_by_spans_is_not_late_for_signals_that_followed() -> None:
    """What its spans show began somewhere in the window; a queue that fills up later is a consequence."""
    assert reasons_against((CPU, EFFECT), BY_SPANS) == ()
    assert reasons_against((CPU, EFFECT), BY_SPANS, spans=()) == (SemanticReason.AFTER_ITS_EFFECT,)


@pytest.mark.parametrize(("named", "facts"), [("payment", (CPU,)), ("checkout", (EFFECT,))])
def test_a_look_that_dates_nothing_does_not_settle_an_order(
    named: str, facts: tuple[EvidenceItem, ...]
) -> None:
    """Of a ranking that a signal decided: one side compared by spans alone leaves open which began first."""
    spans = (UNDATED, replace(UNDATED, item_id="s2", entity="checkout"))
    scope = f'{{"entities":["{named}"]}}'

    assert reasons_against(facts, BY_CPU, scope=scope, spans=spans) == (SemanticReason.EFFECT_NOT_SEEN,)
    assert reasons_against(facts, BY_SPANS, scope=scope, spans=spans) == ()
    assert reasons_against(facts[:0], BY_CPU, spans=spans) == ()
