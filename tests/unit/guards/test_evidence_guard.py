"""EvidenceGuard: a truthful claim passes; if one part is altered, the guard names that part."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, Claim, EvidenceRef, FaultKind, Predicate, Quote
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.guards.evidence_guard import check_claims, check_draft
from diagnosis_harness.guards.verdict import FindingCode
from diagnosis_harness.guards.wording import WordingCode
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.testing.evidence import (
    ONSET_S,
    cause_claim,
    cause_item,
    change_claim,
    change_item,
    error_record,
    projecting_record,
    ready_record,
)
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord


def codes(claim: Claim, *records: EvidenceRecord, run_id: str = "r1") -> list[FindingCode]:
    """The findings on one claim, as codes in order."""
    verdict = check_draft(DiagnosisDraft((), (claim,)), records, run_id=run_id, inquiry=inquiry())
    assert verdict.valid == (claim.claim_id in verdict.passed)
    return [finding.code for finding in verdict.findings]


def test_a_truthful_claim_passes() -> None:
    """Every part of the claim is in the item that it cites."""
    assert codes(change_claim(), ready_record(change_item())) == []


@pytest.mark.parametrize(
    ("bent", "code"),
    [
        ({"entity": "cart"}, FindingCode.ENTITY_NOT_SUPPORTED),
        ({"signal": "latency_p50"}, FindingCode.SIGNAL_NOT_SUPPORTED),
        ({"value": 3.3}, FindingCode.VALUE_NOT_SUPPORTED),
        ({"value": 3.21}, FindingCode.VALUE_NOT_SUPPORTED),
        ({"unit": "ms"}, FindingCode.VALUE_NOT_SUPPORTED),
        ({"unit": None}, FindingCode.VALUE_NOT_SUPPORTED),
        ({"baseline": 0.2}, FindingCode.BASELINE_NOT_SUPPORTED),
        ({"direction": Direction.DOWN}, FindingCode.DIRECTION_NOT_SUPPORTED),
        ({"window": TimeWindow(ONSET_S - 60, ONSET_S)}, FindingCode.WINDOW_NOT_SUPPORTED),
        ({"onset_s": ONSET_S + 61}, FindingCode.ONSET_NOT_SUPPORTED),
        ({"affected": "cart"}, FindingCode.AFFECTED_NOT_SUPPORTED),
        ({"predicate": Predicate.SLOWED}, FindingCode.PREDICATE_NOT_SUPPORTED),
        ({"predicate": Predicate.SATURATED}, FindingCode.PREDICATE_NOT_SUPPORTED),
    ],
)
def test_one_bent_part_is_named(bent: dict[str, object], code: FindingCode) -> None:
    """A claim that differs from its item in one part is refused for that part."""
    claim = replace(change_claim(), **bent)  # type: ignore[arg-type]  # the table names fields of the claim
    assert code in codes(claim, ready_record(change_item()))


@pytest.mark.parametrize(("value", "unit"), [(3.2, "s"), (3204.0, "ms"), (3200.0, "ms"), (0.0534, "min")])
def test_rounding_and_conversion_say_the_same(value: float, unit: str) -> None:
    """`3.2 s` states 3,204 ms; so do the other ways to write it."""
    claim = replace(change_claim(), value=value, unit=unit, baseline=None)
    assert codes(claim, ready_record(change_item())) == []


def test_the_right_number_on_the_wrong_entity_finds_no_bearer() -> None:
    """Parts supported by two different items do not add up to one claim."""
    other = replace(change_item("i2", "cart"), value=9.0, line="cart latency_p90 rose from 0.21 s to 9 s")
    record = ready_record(change_item(), other)
    refs = (EvidenceRef("t1", "i1"), EvidenceRef("t1", "i2"))
    claim = replace(change_claim(), value=9.0, refs=refs, quotes=())
    assert codes(claim, record) == [FindingCode.VALUE_NOT_SUPPORTED]


def test_a_reference_to_nothing_of_this_run_is_unknown() -> None:
    """A record of another run, and a call that never was, are the same: unknown."""
    assert codes(change_claim(), ready_record(change_item(), run_id="r2")) == [
        FindingCode.REF_UNKNOWN,
        FindingCode.QUOTE_NOT_CITED,
    ]
    assert FindingCode.REF_UNKNOWN in codes(change_claim())


def test_only_ready_records_may_be_cited() -> None:
    """PROJECTING and ERROR records support nothing."""
    assert codes(replace(change_claim(), quotes=()), projecting_record()) == [FindingCode.REF_NOT_READY]
    assert codes(replace(change_claim(), quotes=()), error_record()) == [FindingCode.REF_ERROR]


def test_an_item_that_is_not_there_is_named() -> None:
    """A reference into a record must name one of its items."""
    claim = replace(change_claim(), refs=(EvidenceRef("t1", "i9"),), quotes=())
    assert codes(claim, ready_record(change_item())) == [FindingCode.ITEM_UNKNOWN]


def test_a_claim_without_references_is_refused() -> None:
    """Nothing is true because it was said."""
    claim = replace(change_claim(), refs=(), quotes=())
    assert codes(claim, ready_record(change_item())) == [FindingCode.NO_REFS]


@pytest.mark.parametrize(
    ("quote", "code"),
    [
        (Quote(EvidenceRef("t1", "i1"), "rose from 0.21 s to 3.205 s"), FindingCode.QUOTE_NOT_VERBATIM),
        (Quote(EvidenceRef("t1", "i1"), " "), FindingCode.QUOTE_NOT_VERBATIM),
        (Quote(EvidenceRef("t1", "i2"), "rose"), FindingCode.QUOTE_NOT_CITED),
    ],
)
def test_a_quote_is_verbatim_and_cited(quote: Quote, code: FindingCode) -> None:
    """A quote that is not in the line, or whose item the claim does not cite, is refused."""
    record = ready_record(change_item(), change_item("i2", "cart"))
    assert codes(replace(change_claim(), quotes=(quote,)), record) == [code]


def make_change(as_far: int, windows: int, direction: Direction = Direction.UP) -> EvidenceItem:
    """A change of which so many normal windows show the like."""
    attributes: dict[str, bool | str | int | float | None] = {
        "bad": True,
        "kind": "latency",
        "as_far": as_far,
        "normal_windows": windows,
    }
    return replace(change_item(), direction=direction, attributes=attributes)


@pytest.mark.parametrize(
    ("item", "is_supported"),
    [
        (make_change(3, 40), True),
        (make_change(2, 40), False),
        (make_change(1, 9), True),
        (make_change(0, 9), False),
        (make_change(0, 0), False),
        (make_change(0, 40, Direction.FLAT), True),
        (change_item(), False),
    ],
)
def test_normal_means_that_normal_operation_shows_it_as_well(
    item: EvidenceItem, *, is_supported: bool
) -> None:
    """More than one window in twenty moved as far; where no normal operation is known nothing is normal."""
    claim = replace(change_claim(item), predicate=Predicate.NORMAL)
    assert codes(claim, ready_record(item)) == ([] if is_supported else [FindingCode.PREDICATE_NOT_SUPPORTED])


@pytest.mark.parametrize("predicate", [Predicate.NORMAL, Predicate.CHANGED, Predicate.BEGAN])
def test_an_unsettled_signal_is_neither_normal_nor_begun(predicate: Predicate) -> None:
    """It seems to have moved before the asked time, and that may be chance."""
    calm = replace(make_change(3, 19), onset_s=1000.0)
    unsettled = replace(calm, attributes={**calm.attributes, "unsettled": True})
    claim = replace(change_claim(calm), predicate=predicate, onset_s=None)

    assert (codes(claim, ready_record(calm)) == []) is (predicate is Predicate.NORMAL)
    assert codes(claim, ready_record(unsettled)) == [FindingCode.PREDICATE_NOT_SUPPORTED]


def failing(**attributes: str) -> EvidenceItem:
    """Spans that fail, or end without a call."""
    line = "share of failing payment POST /pay spans rose from 0 ratio to 0.4 ratio"
    return replace(
        change_item("i1", "payment"),
        kind=ItemKind.SPAN_ERRORS,
        line=line,
        signal="POST /pay",
        value=0.4,
        baseline=0.0,
        unit="ratio",
        attributes=attributes,
    )


@pytest.mark.parametrize(
    ("predicate", "affected", "item", "is_supported"),
    [
        (Predicate.FAILED, None, failing(), True),
        (Predicate.FAILED, None, failing(without="charge"), False),
        (Predicate.DROPPED, "charge", failing(without="charge"), True),
        (Predicate.DROPPED, "refund", failing(without="charge"), False),
        (Predicate.DROPPED, "charge", failing(), False),
        (Predicate.CHANGED, None, failing(), False),
    ],
)
def test_failing_and_leaving_out_a_call_are_two_things(
    predicate: Predicate, affected: str | None, item: EvidenceItem, *, is_supported: bool
) -> None:
    """Each is supported by its own findings, and the call that is missing is named rightly."""
    claim = replace(change_claim(item), predicate=predicate, affected=affected)
    assert (codes(claim, ready_record(item)) == []) is is_supported


@pytest.mark.parametrize(
    ("method", "is_supported"), [("estimated", True), ("alert", False), ("argument", False)]
)
def test_a_time_that_somebody_stated_is_not_an_observation(method: str, *, is_supported: bool) -> None:
    """That it began then is supported by an estimate from the data, not by the alert's own time."""
    onset = replace(
        change_item(),
        kind=ItemKind.ONSET,
        line="onset",
        value=None,
        baseline=None,
        attributes={"method": method},
    )
    claim = Claim("b1", Predicate.BEGAN, "checkout", (EvidenceRef("t1", "i1"),), onset_s=ONSET_S)
    assert (codes(claim, ready_record(onset)) == []) is is_supported


def absent() -> Claim:
    """That something was not seen; what supports it is tried in test_absence.py."""
    return Claim("a1", Predicate.ABSENT, "checkout", (EvidenceRef("t1", WHOLE_RECORD),))


def test_found_evidence_supports_no_absence_and_empty_evidence_nothing_else() -> None:
    """The two kinds of READY record support disjoint kinds of claim."""
    assert codes(absent(), ready_record(change_item())) == [FindingCode.ABSENCE_NEEDS_EMPTY]
    claim = replace(change_claim(), quotes=())
    assert codes(claim, ready_record()) == [FindingCode.EMPTY_SUPPORTS_ONLY_ABSENCE]


def conclude(*, cause: Cause | None = None, direct_entity: str = "payment") -> DiagnosisDraft:
    """A draft that concludes on payment, with its ranking and one directly observed change."""
    return DiagnosisDraft(
        conclusion=(cause or Cause("payment", FaultKind.CPU, ("k0", "k1")),),
        claims=(
            cause_claim(cause_item(), tool_call_id="t2"),
            change_claim(change_item("i1", direct_entity)),
        ),
    )


def records_of(direct_entity: str = "payment") -> tuple[EvidenceRecord, ...]:
    """The records that `conclude` cites."""
    return (
        ready_record(change_item("i1", direct_entity)),
        ready_record(cause_item(), tool_call_id="t2", tool_name="rank_causes"),
    )


def cause_codes(draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...]) -> list[FindingCode]:
    """Findings on a draft, as codes."""
    return [finding.code for finding in check_draft(draft, records, run_id="r1", inquiry=inquiry()).findings]


def test_a_cause_with_ranking_and_direct_evidence_passes() -> None:
    """A ranking names it, and something was observed of it."""
    assert cause_codes(conclude(), records_of()) == []


def test_a_ranking_alone_is_not_a_cause() -> None:
    """What was observed concerns somebody else."""
    found = cause_codes(conclude(direct_entity="cart"), records_of("cart"))
    assert found == [FindingCode.SUPPORT_OF_ANOTHER, FindingCode.CAUSE_WITHOUT_DIRECT_EVIDENCE]


@pytest.mark.parametrize(
    ("cause", "code"),
    [
        (Cause("cart", FaultKind.CPU, ("k0", "k1")), FindingCode.CAUSE_WITHOUT_CLAIM),
        (Cause("payment", FaultKind.CPU, ()), FindingCode.CAUSE_WITHOUT_CLAIM),
        (Cause("payment", FaultKind.MEMORY, ("k0", "k1")), FindingCode.FAULT_KIND_NOT_SUPPORTED),
        (Cause("payment", FaultKind.CPU, ("k0", "k1"), region="db"), FindingCode.REGION_NOT_SUPPORTED),
    ],
)
def test_a_cause_says_no_more_than_its_claims(cause: Cause, code: FindingCode) -> None:
    """Entity, kind and region of a conclusion are in the cited ranking."""
    assert code in cause_codes(conclude(cause=cause), records_of())


def test_cause_and_victim_swapped_find_no_bearer() -> None:
    """Valid references, wrong way round."""
    claim = replace(cause_claim(cause_item(), tool_call_id="t2"), entity="checkout", affected="payment")
    found = codes(claim, records_of()[1])
    assert found[:2] == [FindingCode.ENTITY_NOT_SUPPORTED, FindingCode.AFFECTED_NOT_SUPPORTED]


def test_check_claims_keeps_the_supported_ones_in_order_and_says_why_the_others_are_refused() -> None:
    """What a draft without a conclusion may still show, and what an embedder can report to its author."""
    record = ready_record(change_item(), change_item("i2", "cart"))
    good = change_claim()
    false = replace(good, claim_id="k2", value=7.0)
    other = change_claim(change_item("i2", "cart"), claim_id="k3")

    checked = check_claims((good, false, other), (record,), run_id="r1", inquiry=inquiry())

    assert checked.standing == (good, other)
    (refused,) = checked.refused
    assert refused.claim == false
    assert [finding.code for finding in refused.findings] == [FindingCode.VALUE_NOT_SUPPORTED]
    assert checked.refused_wordings == ()


@pytest.mark.parametrize(
    ("wording", "code"),
    [
        ("checkout latency_p90 rose to 9 s", WordingCode.NUMBER_NOT_CITED),
        ("payment latency_p90 rose to 3.2 s", WordingCode.WORD_NOT_KNOWN),
        ("checkout latency_p90 rose to 3.2 s, all fine", WordingCode.WIDER_THAN_CLAIMED),
    ],
)
def test_check_claims_lets_no_unchecked_wording_stand(wording: str, code: WordingCode) -> None:
    """The claim is kept without the agent's own sentence, and the reason names what is not grounded."""
    claim = replace(change_claim(), wording=wording)

    checked = check_claims((claim,), (ready_record(change_item()),), run_id="r1", inquiry=inquiry())

    assert checked.standing == (replace(claim, wording=None),)
    (refused,) = checked.refused_wordings
    assert (refused.claim_id, refused.wording) == (claim.claim_id, wording)
    assert code in {finding.code for finding in refused.findings}


def test_check_claims_keeps_a_wording_that_the_evidence_grounds() -> None:
    """Every word of it was checked."""
    claim = replace(change_claim(), wording="checkout latency_p90 rose to 3.2 s")

    checked = check_claims((claim,), (ready_record(change_item()),), run_id="r1", inquiry=inquiry())

    assert checked.standing == (claim,)
    assert checked.refused_wordings == ()


def test_check_claims_publishes_what_the_evidence_says() -> None:
    """A claim that leaves fields out says all the same from where to where, and when."""
    item = change_item()
    bare = Claim("k1", Predicate.CHANGED, "checkout", (EvidenceRef("t1", "i1"),), value=3.2, unit="s")

    (standing,) = check_claims((bare,), (ready_record(item),), run_id="r1", inquiry=inquiry()).standing

    assert (standing.value, standing.baseline, standing.signal) == (item.value, item.baseline, item.signal)
    assert standing.window == item.window


def test_a_unit_of_no_number_is_not_supported() -> None:
    """Published it would read as a statement."""
    claim = replace(change_claim(), value=None, baseline=None, unit="furlongs")

    assert codes(claim, ready_record(change_item())) == [FindingCode.UNIT_WITHOUT_NUMBER]


@pytest.mark.parametrize(
    ("value", "unit", "at_limit"),
    [(97.0, "percent", True), (0.97, "ratio", True), (43.0, "percent", False), (97.0, "cores", False)],
)
def test_saturated_means_near_the_whole(value: float, unit: str, at_limit: bool) -> None:
    """A processor that rose to 43% does not run at its limit; for cores the number is unknown."""
    item = replace(change_item(), value=value, unit=unit, baseline=0.1, attributes={"kind": "cpu"})
    claim = replace(change_claim(item), predicate=Predicate.SATURATED)

    assert (codes(claim, ready_record(item)) == []) == at_limit


@pytest.mark.parametrize("kind", [ItemKind.EDGE_GAP, ItemKind.SPAN_ERRORS])
def test_what_was_seen_on_a_way_is_said_of_both_ends(kind: ItemKind) -> None:
    """Calls from one caller that fail are no failures of the callee at large."""
    item = replace(change_item(), kind=kind, peer="web", attributes={})
    predicate = Predicate.SLOWED if kind is ItemKind.EDGE_GAP else Predicate.FAILED
    claim = replace(change_claim(item), predicate=predicate)

    assert codes(replace(claim, affected="web"), ready_record(item)) == []
    assert codes(claim, ready_record(item)) == [FindingCode.AFFECTED_NOT_SUPPORTED]
