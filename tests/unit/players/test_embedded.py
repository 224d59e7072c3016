"""The embedded players: what they do follows from the records, and they hold the same bar."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import EvidenceRef, Predicate
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyView
from diagnosis_harness.guards.evidence_guard import check_draft
from diagnosis_harness.guards.evidence_repair import admit_repair
from diagnosis_harness.guards.incident_time import ORDER_SLACK_S
from diagnosis_harness.guards.rankings import LEAST_STRENGTH
from diagnosis_harness.guards.semantic_guard import build_case
from diagnosis_harness.guards.verdict import SemanticReason, SemanticVerdict
from diagnosis_harness.guards.weaknesses import (
    DEPENDENCY_SHARE,
    LEAST_MARGIN,
    stands_out,
)
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.players.embedded.analyst import next_answer
from diagnosis_harness.players.embedded.judge import verdict_on
from diagnosis_harness.players.embedded.repairer import repair_draft
from diagnosis_harness.testing.evidence import ONSET_S, cause_item, change_claim, change_item, ready_record
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.spec import ToolSpec

TOOLS = tuple(
    ToolSpec(name, "A tool.")
    for name in (
        "describe_sources",
        "estimate_onset",
        "find_changed_signals",
        "compare_spans",
        "list_changes",
        "rank_causes",
        "inspect_signal",
        "walk_topology",
    )
)


def view(*records: EvidenceRecord, due: frozenset[str] = frozenset(), stop: bool = False) -> PolicyView:
    """What a policy sees after these records."""
    return PolicyView("why?", ONSET_S, TOOLS, records, (), due, stop_required=stop)


def inventory(*telemetry: str) -> EvidenceRecord:
    """What there is."""
    items = (
        EvidenceItem(f"n{place}", ItemKind.INVENTORY, f"{kind}: some", attributes={"telemetry": kind})
        for place, kind in enumerate(telemetry)
    )
    return ready_record(*items, tool_call_id="t1", tool_name="describe_sources")


def make_records(**attributes: Scalar) -> tuple[EvidenceRecord, ...]:
    """Inventory, the changes of cause and victim, and a ranking with these attributes bent."""
    ranked = cause_item()
    bent: dict[str, Scalar] = {**ranked.attributes, **attributes}
    return (
        inventory("metrics"),
        ready_record(
            change_item("i1", "payment"),
            change_item("i2"),
            tool_call_id="t2",
            tool_name="find_changed_signals",
        ),
        ready_record(replace(ranked, attributes=bent), tool_call_id="t3", tool_name="rank_causes"),
    )


def draft_from(*records: EvidenceRecord) -> DiagnosisDraft:
    """The draft that the analyst gives when it may not ask any more."""
    answer = next_answer(view(*records, stop=True))
    assert isinstance(answer, GiveDraft)
    assert answer.draft is not None
    return answer.draft


def names(*records: EvidenceRecord) -> list[str]:
    """The tools that the analyst asks for next."""
    answer = next_answer(view(*records))
    return [call.tool_name for call in answer.calls] if isinstance(answer, AskTools) else []


def test_it_looks_at_what_there_is_then_broadly_then_ranks_then_closely_then_drafts() -> None:
    """Each stage follows from the records of the one before; telemetry that is absent is not asked for."""
    onset = ready_record(tool_call_id="t0", tool_name="estimate_onset")
    assert names() == ["describe_sources", "estimate_onset"]
    assert names(inventory("metrics"), onset) == ["find_changed_signals"]
    assert "compare_spans" in names(inventory("metrics", "spans"), onset)
    assert names(*make_records()[:2], onset) == ["rank_causes"]
    assert names(*make_records(), onset) == ["inspect_signal", "walk_topology"]
    scopes = {
        "inspect_signal": '{"entity":"payment","signal":"latency_p90"}',
        "walk_topology": '{"direction":"callers","entity":"payment"}',
    }
    close = [ready_record(tool_call_id=f"c{n}", tool_name=n, scope=scopes[n]) for n in scopes]
    asked = next_answer(view(*make_records(), onset, *close))
    assert isinstance(asked, AskTools)
    assert asked.calls[0].arguments["entities"] == ["checkout"]
    call = asked.calls[0]
    scope = json.dumps(dict(call.arguments))
    tried = ready_record(change_item("i2"), tool_call_id="d1", tool_name=call.tool_name, scope=scope)
    assert isinstance(next_answer(view(*make_records(), onset, *close, tried)), GiveDraft)


def test_the_alerting_signal_is_looked_at_whatever_comes_of_it() -> None:
    """The question is about it; a different signal is looked at closely later, the same one is not again."""
    alert = EvidenceItem(
        "alert",
        ItemKind.INVENTORY,
        "alert checkout latency p99",
        entity="checkout",
        signal="latency",
        attributes={"telemetry": "alert", "alert_statistic": "p99"},
    )
    onset = ready_record(tool_call_id="t0", tool_name="estimate_onset")
    answer = next_answer(view(ready_record(alert, tool_call_id="t1", tool_name="describe_sources"), onset))
    assert isinstance(answer, AskTools)
    asked = {call.tool_name: call.arguments for call in answer.calls}
    assert asked["inspect_signal"] == {
        "entity": "checkout",
        "signal": "latency",
        "statistic": "p99",
        "onset": ONSET_S,
    }


def test_a_move_that_normal_operation_shows_as_well_is_reported_as_normal() -> None:
    """Three of forty normal windows moved as far: no change, and no harm."""
    attributes: dict[str, Scalar] = {"bad": True, "kind": "latency", "as_far": 3, "normal_windows": 40}
    calm = ready_record(
        replace(change_item(), attributes=attributes), tool_call_id="t2", tool_name="inspect_signal"
    )
    answer = next_answer(view(inventory("metrics"), calm, due=frozenset({"t2"})))
    (fact,) = answer.assessments[0].facts
    assert fact.predicate is Predicate.NORMAL
    assert check_draft(DiagnosisDraft((), (fact,)), (calm,), run_id="r1", inquiry=inquiry()).valid


@pytest.mark.parametrize(
    ("attributes", "asked"),
    [
        ({"decided_by": "resource", "region": "memory_bytes"}, ("payment", "memory_bytes")),
        (
            {"decided_by": "resource", "region": "payment-7d9f/cpu_percent", "instance": "payment-7d9f"},
            ("payment-7d9f", "cpu_percent"),
        ),
        ({"decided_by": "self_time", "region": "POST /pay"}, ("payment", "latency_p90")),
    ],
)
def test_the_signal_that_decided_is_looked_at_closely(
    attributes: dict[str, Scalar], asked: tuple[str, str]
) -> None:
    """A ranking names it; where no metric decided, the signal that changed most is used."""
    onset = ready_record(tool_call_id="t0", tool_name="estimate_onset")
    answer = next_answer(view(*make_records(**attributes), onset))
    assert isinstance(answer, AskTools)
    arguments = answer.calls[0].arguments
    assert (arguments["entity"], arguments["signal"]) == asked


def test_the_same_records_give_the_same_answer() -> None:
    """No hidden state."""
    assert next_answer(view(*make_records())) == next_answer(view(*make_records()))


def test_it_asks_for_nothing_after_stop() -> None:
    """STOP_REQUIRED leaves a draft only."""
    assert isinstance(next_answer(view(inventory("metrics"), stop=True)), GiveDraft)


def test_every_due_result_is_assessed_with_facts_that_stand() -> None:
    """A result with findings is a gain with true facts; an inventory is not."""
    records = make_records()
    answer = next_answer(view(*records, due=frozenset({"t1", "t2"})))
    assert [(a.tool_call_id, a.gain) for a in answer.assessments] == [
        ("t1", InformationGain.NO_GAIN),
        ("t2", InformationGain.GAINED),
    ]
    facts = tuple(fact for assessment in answer.assessments for fact in assessment.facts)
    assert check_draft(DiagnosisDraft((), facts), records, run_id="r1", inquiry=inquiry()).valid


def test_a_candidate_that_stands_out_is_concluded_and_every_claim_holds() -> None:
    """Cause first, then what was observed of it; EvidenceGuard has no objection."""
    records = make_records()
    draft = draft_from(*records)
    assert [cause.entity for cause in draft.conclusion] == ["payment"]
    assert draft.claims[0].predicate is Predicate.CAUSED
    assert check_draft(draft, records, run_id="r1", inquiry=inquiry()).findings == ()


@pytest.mark.parametrize(
    "weak", [{"strength": 0.2}, {"margin": 0.0}, {"explained_by": "db", "explained_score": 8.0}]
)
def test_a_candidate_that_does_not_stand_out_is_a_hypothesis_only(weak: dict[str, Scalar]) -> None:
    """No conclusion; the candidate is kept, with the evidence for it."""
    draft = draft_from(*make_records(**weak))
    assert draft.conclusion == ()
    assert [hypothesis.entity for hypothesis in draft.hypotheses] == ["payment"]
    assert EvidenceRef("t3", "c1") in draft.hypotheses[0].evidence_for


def test_a_ranking_without_anything_observed_concludes_nothing() -> None:
    """Only a ranking supports it."""
    assert draft_from(inventory("metrics"), make_records()[2]).conclusion == ()


def judge_draft(draft: DiagnosisDraft, records: tuple[EvidenceRecord, ...]) -> tuple[SemanticReason, ...]:
    """The judge's reasons; empty with SUPPORTED."""
    judgement = verdict_on(build_case(draft, records, inquiry=inquiry()))
    assert (judgement.verdict is SemanticVerdict.SUPPORTED) == (not judgement.reasons)
    return judgement.reasons


def test_the_judge_supports_what_the_analyst_concludes() -> None:
    """They hold the same bar."""
    assert judge_draft(draft_from(*make_records()), make_records()) == ()


@pytest.mark.parametrize(
    ("weak", "reason"),
    [
        ({"strength": 0.2}, SemanticReason.WEAK),
        ({"margin": 0.0}, SemanticReason.NO_MARGIN),
        ({"explained_by": "db", "explained_score": 8.0}, SemanticReason.EXPLAINED_BY_OTHER),
    ],
)
def test_the_judge_sees_what_another_player_would_not(
    weak: dict[str, Scalar], reason: SemanticReason
) -> None:
    """A conclusion from weak evidence is UNSUPPORTED with its reason, whoever drafted it."""
    assert judge_draft(draft_from(*make_records()), make_records(**weak)) == (reason,)


def bend(item: EvidenceItem, **parts: object) -> tuple[EvidenceRecord, ...]:
    """The records with one item exchanged."""
    changed = replace(item, **parts)  # type: ignore[arg-type]  # fields of the item
    records = list(make_records())
    others = [each for each in records[1].items if each.item_id != item.item_id]
    records[1] = ready_record(changed, *others, tool_call_id="t2", tool_name="find_changed_signals")
    return tuple(records)


def test_a_harmless_change_supports_no_cause() -> None:
    """Direction counts: what got better broke nothing."""
    records = bend(change_item("i1", "payment"), attributes={"bad": False, "kind": "latency"})
    assert SemanticReason.HARMLESS_DIRECTION in judge_draft(draft_from(*make_records()), records)


OF_ANOTHER_TIME = replace(
    change_item("i9", "payment"),
    window=TimeWindow(ONSET_S - 7_200, ONSET_S - 6_600),
    onset_s=ONSET_S - 7_200,
)
BESIDE = replace(change_item("i9", "payment"), signal="memory_bytes")


@pytest.mark.parametrize(
    ("other", "scope"), [(OF_ANOTHER_TIME, {"onset": OF_ANOTHER_TIME.onset_s}), (BESIDE, {})]
)
def test_what_is_only_cited_beside_makes_no_change_a_harmful_one(
    other: EvidenceItem, scope: dict[str, float]
) -> None:
    """Neither its trouble at another time, nor an item that does not support the claim it is cited for."""
    records = bend(change_item("i1", "payment"), attributes={"bad": False, "kind": "latency"})
    beside = ready_record(other, tool_call_id="t9", tool_name="find_changed_signals", scope=json.dumps(scope))
    draft = draft_from(*make_records())
    cited = tuple(
        replace(claim, refs=(*claim.refs, EvidenceRef("t9", "i9")), window=None, onset_s=None)
        if claim.entity == "payment"
        else claim
        for claim in draft.claims
    )

    reasons = judge_draft(replace(draft, claims=cited), (*records, beside))

    assert SemanticReason.HARMLESS_DIRECTION in reasons


@pytest.mark.parametrize(("late_s", "is_late"), [(ORDER_SLACK_S - 1, False), (ORDER_SLACK_S + 1, True)])
def test_a_cause_does_not_begin_after_its_effect(late_s: float, *, is_late: bool) -> None:
    """Later than the victim by more than the slack is too late."""
    records = bend(change_item("i1", "payment"), onset_s=ONSET_S + late_s)
    assert (SemanticReason.AFTER_ITS_EFFECT in judge_draft(draft_from(*make_records()), records)) is is_late


def test_when_a_cause_began_does_not_depend_on_what_is_reported() -> None:
    """An earlier harm of it counts though no claim cites it."""
    records = bend(change_item("i1", "payment"), onset_s=ONSET_S + ORDER_SLACK_S + 1)
    early = ready_record(change_item("i9", "payment"), tool_call_id="t9", tool_name="inspect_signal")

    assert SemanticReason.AFTER_ITS_EFFECT in judge_draft(draft_from(*make_records()), records)
    assert judge_draft(draft_from(*make_records()), (*records, early)) == ()


def test_a_harm_without_a_time_of_its_own_is_not_late() -> None:
    """Spans say that it rose after onset, and not when."""
    records = bend(change_item("i1", "payment"), onset_s=ONSET_S + ORDER_SLACK_S + 1)
    gap = replace(change_item("g1", "payment"), kind=ItemKind.EDGE_GAP, onset_s=None, peer="checkout")

    assert judge_draft(draft_from(*make_records()), (*records, ready_record(gap, tool_call_id="t9"))) == ()


def test_a_cause_that_no_ranking_names_is_unsupported() -> None:
    """Whatever a draft says, the run's ranking is read again."""
    records = (
        *make_records()[:2],
        ready_record(cause_item(entity="cart"), tool_call_id="t3", tool_name="rank_causes"),
    )
    assert judge_draft(draft_from(*make_records()), records) == (SemanticReason.NOT_RANKED,)


def test_the_second_of_a_ranking_is_not_a_cause() -> None:
    """The judge asks why the first was passed over."""
    first = replace(cause_item("c0", "cart"), score=12.0)
    records = (
        *make_records()[:2],
        ready_record(first, cause_item(), tool_call_id="t3", tool_name="rank_causes"),
    )
    assert SemanticReason.NO_MARGIN in judge_draft(draft_from(*make_records()), records)


def test_the_repairer_re_anchors_a_wrong_reference() -> None:
    """The claim was true and cited the wrong item: the right one is found in the run."""
    records = make_records()
    wrong = replace(change_claim(change_item("i1", "payment"), tool_call_id="t2"), quotes=())
    wrong = replace(wrong, refs=(EvidenceRef("t2", "i2"),))
    draft = DiagnosisDraft((), (wrong,))
    findings = check_draft(draft, records, run_id="r1", inquiry=inquiry()).findings
    repaired = admit_repair(
        draft, repair_draft(draft, findings, records, run_id="r1", inquiry=inquiry()), records
    )
    assert repaired.claims[0].refs == (EvidenceRef("t2", "i1"),)
    assert check_draft(repaired, records, run_id="r1", inquiry=inquiry()).valid


def test_the_repairer_drops_what_nothing_supports() -> None:
    """An invented number has no supporting anywhere; the rest of the draft is untouched."""
    records = make_records()
    good = change_claim(change_item("i1", "payment"), tool_call_id="t2")
    false = replace(good, claim_id="k9", value=99.0)
    draft = DiagnosisDraft((), (good, false))
    findings = check_draft(draft, records, run_id="r1", inquiry=inquiry()).findings
    assert repair_draft(draft, findings, records, run_id="r1", inquiry=inquiry()).claims == (good,)


def test_without_anything_to_look_with_it_says_what_is_missing() -> None:
    """No tool is no source: that is missing context, and no failure."""
    view = PolicyView(
        question="why?",
        onset_s=None,
        tools=(),
        records=(),
        refused=(),
        due=frozenset(),
        stop_required=False,
    )

    answer = next_answer(view)

    assert isinstance(answer, GiveDraft)
    assert answer.draft is not None
    assert answer.draft.missing_info == ("any source",)


@pytest.mark.parametrize(
    ("attribute", "limit"),
    [("strength", LEAST_STRENGTH), ("margin", LEAST_MARGIN), ("explained", DEPENDENCY_SHARE)],
)
@pytest.mark.parametrize("beyond", [-0.09, -0.001, 0.0, 0.001])
def test_a_candidate_stands_out_from_each_limit_on(attribute: str, limit: float, beyond: float) -> None:
    """A lead of one in a hundred names no cause, nor does half of the strength that is asked."""
    attributes: dict[str, Scalar] = {"strength": 0.9, "margin": 0.5}
    if attribute == "explained":
        attributes |= {"explained_by": "db", "explained_score": 9.0 * (limit + beyond)}
    else:
        attributes[attribute] = limit + beyond
    item = replace(cause_item(), score=9.0, attributes=attributes)

    assert stands_out(item) is (beyond >= 0 if attribute != "explained" else beyond <= 0)


def test_the_bars_are_where_they_were_calibrated() -> None:
    """A change of one of them is a change of what is named, and shows here."""
    assert (LEAST_STRENGTH, LEAST_MARGIN, DEPENDENCY_SHARE) == (0.5, 0.25, 0.5)
