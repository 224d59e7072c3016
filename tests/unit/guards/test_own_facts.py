"""STATE, COUNT and PLATFORM_EVENT: facts that no statistics stand behind, checked by the same table."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate
from diagnosis_harness.guards.evidence_guard import check_claims
from diagnosis_harness.guards.statement import state_claim
from diagnosis_harness.guards.support import objections
from diagnosis_harness.guards.verdict import FindingCode
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.testing.evidence import ONSET_S, WINDOW, ready_record
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind

FLAG = EvidenceItem(
    "s1",
    ItemKind.STATE,
    "flag new-pricing of checkout is on",
    entity="checkout",
    signal="flag new-pricing",
    window=WINDOW,
    onset_s=ONSET_S,
    attributes={"state": "on"},
)
LIMIT = replace(FLAG, item_id="s2", signal="memory_limit", value=2e9, unit="bytes", attributes={})
RESTARTS = EvidenceItem(
    "n1",
    ItemKind.COUNT,
    "12 restarts of checkout, 3 are normal",
    entity="checkout",
    signal="restarts",
    value=12.0,
    baseline=3.0,
    direction=Direction.UP,
    window=WINDOW,
)
KILLED = EvidenceItem(
    "p1",
    ItemKind.PLATFORM_EVENT,
    "checkout-0: OOMKilled 3 times, current",
    entity="checkout-0",
    signal="OOMKilled",
    value=3.0,
    window=WINDOW,
    onset_s=WINDOW.start_s,
    attributes={"state": "current", "owner": "checkout", "bad": True},
)
_PREDICATES = {
    ItemKind.STATE: Predicate.IN_STATE,
    ItemKind.COUNT: Predicate.COUNTED,
    ItemKind.PLATFORM_EVENT: Predicate.HAPPENED,
}


def truth(item: EvidenceItem) -> Claim:
    """The claim that says all that the item says."""
    return state_claim(_PREDICATES[item.kind], item, claim_id="k1", refs=(EvidenceRef("t1", item.item_id),))


@pytest.mark.parametrize("item", [FLAG, LIMIT, RESTARTS, KILLED], ids=["text", "number", "count", "event"])
def test_a_true_claim_about_an_own_fact_passes(item: EvidenceItem) -> None:
    """Without a change in any guard."""
    claim = truth(item)

    assert objections(claim, item) == ()
    checked = check_claims((claim,), (ready_record(item),), run_id="r1", inquiry=inquiry())
    assert checked.standing == (claim,)


@pytest.mark.parametrize(
    ("item", "lie", "code"),
    [
        (FLAG, {"affected": "off"}, FindingCode.AFFECTED_NOT_SUPPORTED),
        (FLAG, {"affected": None}, FindingCode.AFFECTED_NOT_SUPPORTED),  # which state it was in is left out
        (FLAG, {"entity": "payment"}, FindingCode.ENTITY_NOT_SUPPORTED),
        (FLAG, {"signal": "flag old-pricing"}, FindingCode.SIGNAL_NOT_SUPPORTED),
        (FLAG, {"onset_s": ONSET_S - 60}, FindingCode.ONSET_NOT_SUPPORTED),
        (FLAG, {"window": TimeWindow(ONSET_S - 600, ONSET_S)}, FindingCode.WINDOW_NOT_SUPPORTED),
        (FLAG, {"predicate": Predicate.COUNTED, "value": 1.0}, FindingCode.PREDICATE_NOT_SUPPORTED),
        (LIMIT, {"value": 4e9}, FindingCode.VALUE_NOT_SUPPORTED),
        (LIMIT, {"unit": "kB"}, FindingCode.VALUE_NOT_SUPPORTED),
        (RESTARTS, {"value": 13.0}, FindingCode.VALUE_NOT_SUPPORTED),
        (RESTARTS, {"baseline": 12.0}, FindingCode.BASELINE_NOT_SUPPORTED),
        (RESTARTS, {"direction": Direction.DOWN}, FindingCode.DIRECTION_NOT_SUPPORTED),
        (RESTARTS, {"affected": "payment"}, FindingCode.AFFECTED_NOT_SUPPORTED),
        (RESTARTS, {"predicate": Predicate.CHANGED}, FindingCode.PREDICATE_NOT_SUPPORTED),
        (RESTARTS, {"predicate": Predicate.CAUSED}, FindingCode.PREDICATE_NOT_SUPPORTED),
        (KILLED, {"affected": "over"}, FindingCode.AFFECTED_NOT_SUPPORTED),
        (KILLED, {"affected": None}, FindingCode.AFFECTED_NOT_SUPPORTED),  # whether it lasts is left out
        (KILLED, {"signal": "Evicted"}, FindingCode.SIGNAL_NOT_SUPPORTED),
        (KILLED, {"value": 4.0}, FindingCode.VALUE_NOT_SUPPORTED),
        (KILLED, {"entity": "payment"}, FindingCode.ENTITY_NOT_SUPPORTED),
        (KILLED, {"window": TimeWindow(ONSET_S - 600, ONSET_S)}, FindingCode.WINDOW_NOT_SUPPORTED),
        (KILLED, {"predicate": Predicate.SATURATED}, FindingCode.PREDICATE_NOT_SUPPORTED),
        (KILLED, {"predicate": Predicate.CAUSED}, FindingCode.PREDICATE_NOT_SUPPORTED),
    ],
)
def test_a_false_claim_about_an_own_fact_is_refused_for_what_is_false(
    item: EvidenceItem, lie: dict[str, object], code: FindingCode
) -> None:
    """Whatever an agent bends."""
    claim = replace(truth(item), **lie)  # type: ignore[arg-type]  # a test names the fields

    assert code in objections(claim, item)


@pytest.mark.parametrize(
    "item",
    [
        replace(FLAG, attributes={}),  # no state at all
        replace(FLAG, attributes={"state": " "}),
        replace(FLAG, attributes={"state": True}),
        replace(FLAG, value=1.0),  # two states at once
        replace(LIMIT, baseline=1e9),  # that is a change
        replace(FLAG, onset_s=WINDOW.end_s + 1),  # it was seen before it began
        replace(FLAG, window=None),  # nobody knows when
        replace(FLAG, signal=None),
        replace(FLAG, entity=None),
        replace(RESTARTS, value=2.5),
        replace(RESTARTS, value=-1.0, direction=Direction.DOWN),
        replace(RESTARTS, value=None),
        replace(RESTARTS, direction=Direction.DOWN),  # its own numbers say otherwise
        replace(RESTARTS, baseline=12.0),
        replace(RESTARTS, baseline=-3.0),
        replace(RESTARTS, baseline=None),  # up from what?
        replace(RESTARTS, unit="s"),
        replace(RESTARTS, window=None),
        replace(FLAG, peer="frontend"),  # what holds of one caller's calls alone
        replace(RESTARTS, peer="frontend"),
        replace(RESTARTS, value=2.0**53 + 2),  # digits that nobody counted
        replace(KILLED, attributes={}),  # nobody knows whether it lasts
        replace(KILLED, attributes={"state": "perhaps"}),
        replace(KILLED, value=0.0),
        replace(KILLED, value=2.5),
        replace(KILLED, unit="s"),
        replace(KILLED, window=None),
        replace(KILLED, peer="frontend"),
        replace(KILLED, signal=None),
    ],
)
def test_a_tool_that_contradicts_itself_supports_no_claim(item: EvidenceItem) -> None:
    """What a tool says of itself is checked before anything is said with it."""
    claim = truth(item)

    assert objections(claim, item)[0] is FindingCode.PREDICATE_NOT_SUPPORTED
    checked = check_claims((claim,), (ready_record(item),), run_id="r1", inquiry=inquiry())
    assert checked.standing == ()


@pytest.mark.parametrize("end_s", [ONSET_S + 600, ONSET_S + 601])
def test_a_state_may_begin_up_to_the_end_of_its_window(end_s: float) -> None:
    """At its last instant it can still have been seen."""
    item = replace(FLAG, onset_s=ONSET_S + 600, window=TimeWindow(ONSET_S, end_s))

    assert objections(truth(item), item) == ()


@pytest.mark.parametrize(
    ("value", "baseline", "direction"),
    [
        (12.0, 3.0, Direction.UP),
        (1.0, 3.0, Direction.DOWN),
        (3.0, 3.0, Direction.FLAT),
        (0.0, 0.0, Direction.FLAT),
        (12.0, 0.4, Direction.UP),
        (12.0, 3.0, None),
        (12.0, None, None),
    ],
)
def test_a_count_agrees_with_its_direction(
    value: float, baseline: float | None, direction: Direction | None
) -> None:
    """A mean of normal operation need not be whole."""
    item = replace(RESTARTS, value=value, baseline=baseline, direction=direction)

    assert objections(truth(item), item) == ()


def test_an_own_fact_of_another_time_is_not_of_the_incident() -> None:
    """A count of yesterday says nothing of today."""
    asked = inquiry(onset_s=ONSET_S + 86_400)

    checked = check_claims((truth(RESTARTS),), (ready_record(RESTARTS),), run_id="r1", inquiry=asked)

    assert [finding.code for finding in checked.refused[0].findings] == [FindingCode.NOT_OF_INCIDENT]


def test_no_wording_of_an_agent_is_shown_for_an_own_fact() -> None:
    """Nobody thought through which words may be said of a fact that only its tool knows."""
    claim = replace(truth(FLAG), wording="checkout was on")

    checked = check_claims((claim,), (ready_record(FLAG),), run_id="r1", inquiry=inquiry())

    assert checked.standing == (truth(FLAG),)
    assert [refused.wording for refused in checked.refused_wordings] == ["checkout was on"]
