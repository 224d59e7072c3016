"""What code holds against a conclusion: other rankings of the question, and effects that came first."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.inquiries import inquiry
from tests.support.judged import causes_of, confidences_of

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft, SetAside, SetAsideReason
from diagnosis_harness.diagnosis.execution import DiagnosisAgentExecution
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.names import NameRead, NameReading
from diagnosis_harness.diagnosis.progress import ProgressSnapshot
from diagnosis_harness.diagnosis.question_reading import QuestionReading
from diagnosis_harness.guards.incident_time import ORDER_SLACK_S
from diagnosis_harness.guards.semantic_guard import SemanticCase, build_case
from diagnosis_harness.guards.semantic_rules import case_objections
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.release.outcome import FallbackType
from diagnosis_harness.release.pipeline import ReleasePipeline
from diagnosis_harness.testing.evidence import (
    ONSET_S,
    cause_claim,
    cause_item,
    change_claim,
    change_item,
    ready_record,
)
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.testing.scripted_policy import ScriptedJudge, ScriptedRepairer
from diagnosis_harness.tools.evidence import EvidenceItem
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.trace.event import TraceName

SEEN = change_item("i1", "payment")
RANKED = cause_item("c1", "payment")
FACTS = ready_record(SEEN, tool_call_id="t1")
RANKING = ready_record(RANKED, tool_call_id="t2", tool_name="rank_causes")
CLAIMS = (cause_claim(RANKED, tool_call_id="t2"), change_claim(SEEN))
DRAFT = DiagnosisDraft((Cause("payment", FaultKind.CPU, ("k0", "k1")),), CLAIMS)
ALERTED = inquiry(alert_entity="checkout", alert_at_s=ONSET_S + 60.0)


def reasons_against(
    *records: EvidenceRecord, draft: DiagnosisDraft = DRAFT, of: Inquiry | None = None
) -> tuple[SemanticReason, ...]:
    """What code holds against the draft, given these records beside its own two."""
    return case_objections(build_case(draft, (FACTS, RANKING, *records), inquiry=of or inquiry()))


def other(
    tool_call_id: str = "t8", scope: str = "{}", entity: str = "catalog", **parts: object
) -> EvidenceRecord:
    """Another ranking, of another cause where nothing else is said."""
    item = replace(cause_item("c1", entity), **parts)  # type: ignore[arg-type]  # fields of the item
    return ready_record(item, tool_call_id=tool_call_id, tool_name="rank_causes", scope=scope)


def with_attributes(**changed: Scalar) -> dict[str, Scalar]:
    """The attributes of a ranking, some changed."""
    return {**RANKED.attributes, **changed}


@pytest.mark.parametrize(
    "disagrees",
    [
        other(),
        other(score=0.1),
        other(entity="payment", attributes=with_attributes(fault_kind="MEMORY")),
        ready_record(
            cause_item("c1", "catalog"), cause_item("c2", "payment"), tool_call_id="t8", tool_name="rank"
        ),
    ],
)
@pytest.mark.parametrize("is_last", [False, True])
def test_another_ranking_of_the_question_contradicts(disagrees: EvidenceRecord, *, is_last: bool) -> None:
    """Of another cause, or of another kind of fault; whichever was asked last, and cited or not."""
    records = (FACTS, RANKING, disagrees) if is_last else (disagrees, FACTS, RANKING)

    objections = case_objections(build_case(DRAFT, records, inquiry=inquiry()))

    assert objections == (SemanticReason.CONTRADICTED,)


def test_another_part_of_the_entity_contradicts() -> None:
    """Where the conclusion names the part, one ranking's part is not another's."""
    part = replace(DRAFT, conclusion=(replace(DRAFT.conclusion[0], region="heap"),))
    first = ready_record(
        replace(RANKED, attributes=with_attributes(region="heap")), tool_call_id="t2", tool_name="rank_causes"
    )
    second = other(entity="payment", attributes=with_attributes(region="pool"))

    assert case_objections(build_case(part, (FACTS, first), inquiry=inquiry())) == ()
    assert case_objections(build_case(part, (FACTS, first, second), inquiry=inquiry())) == (
        SemanticReason.CONTRADICTED,
    )


@pytest.mark.parametrize(
    "elsewhere",
    [
        other(peer="stock-db"),
        other(scope=f'{{"onset":{ONSET_S - 7200.0}}}'),
        other(scope='{"alert_signal":"error_rate"}'),
        ready_record(tool_call_id="t8", tool_name="rank_causes"),
    ],
)
def test_a_ranking_of_another_question_contradicts_nothing(elsewhere: EvidenceRecord) -> None:
    """Nor does one that ranks nothing."""
    assert reasons_against(elsewhere) == ()


def test_a_ranking_at_the_alert_is_of_no_question_that_began_earlier() -> None:
    """Whichever comes first: a question has one time, and the tools found an earlier one."""
    late = other(onset_s=ONSET_S + 60.0, scope=f'{{"onset":{ONSET_S + 60.0}}}')
    for records in ((FACTS, RANKING, late), (late, RANKING, FACTS)):
        case = build_case(DRAFT, records, inquiry=ALERTED)
        assert [each.tool_call_id for each in case.rankings] == ["t2"]


def test_two_rankings_that_say_the_same_agree() -> None:
    """The one that is less sure is the one that is judged, whichever is cited."""
    doubtful = other(entity="payment", score=2.0, attributes=with_attributes(margin=0.2, strength=0.6))
    records = (FACTS, RANKING, doubtful)

    assert reasons_against(doubtful) == ()
    assert [each.score for each in causes_of(DRAFT, records, inquiry=inquiry())] == [2.0]
    assert confidences_of(DRAFT, records, repaired=False, inquiry=inquiry()) == confidences_of(
        DRAFT, records[::-1], repaired=False, inquiry=inquiry()
    )
    assert confidences_of(DRAFT, records, repaired=False, inquiry=inquiry()) < confidences_of(
        DRAFT, records[:2], repaired=False, inquiry=inquiry()
    )


@pytest.mark.parametrize(
    ("ranking", "reason", "holds"),
    [
        (other(attributes=with_attributes(strength=0.4)), SetAsideReason.NOTHING_WRONG, True),
        (other(attributes=with_attributes(strength=0.5)), SetAsideReason.NOTHING_WRONG, False),
        (other(), SetAsideReason.FEWER_KINDS, True),
        (other(attributes=with_attributes(metric_score=1.0)), SetAsideReason.FEWER_KINDS, False),
        (other(attributes=with_attributes(self_time_score=1.0)), SetAsideReason.FEWER_KINDS, False),
        (other(onset_s=ONSET_S), SetAsideReason.AT_THE_ALERT, False),
    ],
)
def test_a_ranking_is_set_aside_for_a_reason_that_is_true_of_the_records(
    ranking: EvidenceRecord, reason: SetAsideReason, *, holds: bool
) -> None:
    """A reason from a closed list, and code checks each; one that does not hold answers nothing."""
    wide = ready_record(
        replace(RANKED, attributes=with_attributes(metric_score=4.0)),
        tool_call_id="t2",
        tool_name="rank_causes",
    )
    draft = replace(DRAFT, set_aside=(SetAside("t8", reason),))

    case = build_case(draft, (FACTS, wide, ranking), inquiry=ALERTED)

    assert (case_objections(case) == ()) is holds
    assert case.set_aside == (draft.set_aside if holds else ())


@pytest.mark.parametrize(
    "set_aside",
    [
        (SetAside("t9", SetAsideReason.NOTHING_WRONG),),
        (SetAside("t2", SetAsideReason.FEWER_KINDS), SetAside("t8", SetAsideReason.FEWER_KINDS)),
        (SetAside("t2", SetAsideReason.NOTHING_WRONG), SetAside("t8", SetAsideReason.NOTHING_WRONG)),
    ],
)
def test_a_reason_of_no_ranking_or_against_all_of_them_answers_nothing(
    set_aside: tuple[SetAside, ...],
) -> None:
    """What is compared is compared with a ranking that is kept."""
    assert reasons_against(other(), draft=replace(DRAFT, set_aside=set_aside)) == (
        SemanticReason.CONTRADICTED,
    )


def test_two_asked_entities_may_have_a_cause_each() -> None:
    """Each is judged by the ranking that puts it first; one of them alone leaves the other open."""
    of = inquiry("checkout", "shop")
    second = replace(cause_item("c1", "catalog", "shop"), score=7.0)
    record = ready_record(second, tool_call_id="t8", tool_name="rank_causes")
    also = replace(DRAFT, conclusion=(*DRAFT.conclusion, Cause("catalog", FaultKind.CPU, ("k8",))))

    assert reasons_against(record, of=of) == (SemanticReason.CONTRADICTED,)
    assert reasons_against(record, of=of, draft=also) == ()
    assert [each.score for each in causes_of(also, (RANKING, record), inquiry=of)] == [9.0, 7.0]


def test_what_is_ranked_second_is_not_a_cause() -> None:
    """No judge can pass over the first."""
    ranking = ready_record(replace(cause_item("c0", "cart"), score=12.0), RANKED, tool_call_id="t2")

    objections = case_objections(build_case(DRAFT, (FACTS, ranking), inquiry=inquiry()))

    assert objections == (SemanticReason.NO_MARGIN,)


@pytest.mark.parametrize("cited", [False, True])
@pytest.mark.parametrize("entity", ["checkout", "checkout-7d9f"])
@pytest.mark.parametrize(("late_s", "is_late"), [(ORDER_SLACK_S + 1, True), (ORDER_SLACK_S - 1, False)])
def test_a_cause_that_began_after_its_effect_is_refused(
    late_s: float, entity: str, *, is_late: bool, cited: bool
) -> None:
    """The effect was observed by the run; whether a claim cites it, and of which part, is no matter."""
    effect = replace(
        change_item("i2", entity), attributes={"bad": True, "kind": "latency", "owner": "checkout"}
    )
    late = ready_record(replace(SEEN, onset_s=ONSET_S + late_s), effect, tool_call_id="t1")
    claims = (*CLAIMS, change_claim(effect, claim_id="k2")) if cited else CLAIMS

    objections = case_objections(
        build_case(replace(DRAFT, claims=claims), (late, RANKING), inquiry=inquiry())
    )

    assert objections == ((SemanticReason.AFTER_ITS_EFFECT,) if is_late else ())


def test_what_was_observed_at_another_time_dates_neither_cause_nor_effect() -> None:
    """An older trouble of the cause would hide that it began late, one of its effect would make it late."""
    late = ready_record(
        replace(SEEN, onset_s=ONSET_S + 400.0), change_item("i2", "checkout"), tool_call_id="t1"
    )
    older = f'{{"onset":{ONSET_S - 7200.0}}}'
    early_cause = ready_record(
        replace(SEEN, onset_s=ONSET_S - 7200.0), tool_call_id="t7", scope=older, tool_name="inspect_signal"
    )
    early_effect = ready_record(
        replace(change_item("i2", "checkout"), onset_s=ONSET_S - 7200.0), tool_call_id="t7", scope=older
    )

    def reasons_with(*records: EvidenceRecord) -> tuple[SemanticReason, ...]:
        return case_objections(build_case(DRAFT, (*records, RANKING), inquiry=inquiry()))

    assert reasons_with(late, early_cause) == (SemanticReason.AFTER_ITS_EFFECT,)
    assert reasons_with(FACTS, early_effect) == ()


ITEMS = st.builds(
    lambda entity, score, strength: replace(
        cause_item("c1", entity), score=score, attributes=with_attributes(strength=strength)
    ),
    st.sampled_from(["payment", "catalog"]),
    st.floats(0.1, 20.0),
    st.sampled_from([0.3, 0.9]),
)


@given(items=st.lists(ITEMS, min_size=1, max_size=4), data=st.data())
def test_no_order_of_the_rankings_changes_what_is_held_against_a_conclusion(
    items: list[EvidenceItem], data: st.DataObject
) -> None:
    """Nor its confidence: the order in which a run saw its rankings does not matter."""
    rankings = [
        ready_record(item, tool_call_id=f"t{place}", tool_name="rank_causes")
        for place, item in enumerate(items, start=2)
    ]
    set_aside = tuple(
        SetAside(ranking.tool_call_id, SetAsideReason.NOTHING_WRONG)
        for ranking in rankings
        if data.draw(st.booleans())
    )
    draft = replace(DRAFT, set_aside=set_aside)
    shuffled = data.draw(st.permutations(rankings))

    def case(records: list[EvidenceRecord]) -> SemanticCase:
        return build_case(draft, (FACTS, *records), inquiry=inquiry())

    assert case_objections(case(rankings)) == case_objections(case(shuffled))
    assert confidences_of(draft, rankings, repaired=False, inquiry=inquiry()) == confidences_of(
        draft, shuffled, repaired=False, inquiry=inquiry()
    )
    firsts = {item.entity for item in items if item.number("strength") >= 0.5}
    if "catalog" in firsts:
        assert case_objections(case(rankings)) != ()


def release_draft(
    *records: EvidenceRecord, draft: DiagnosisDraft = DRAFT
) -> tuple[object, ScriptedJudge, Rig]:
    """The fallback of a release behind a judge that believes everything, the judge, and the trace."""
    rig, judge = Rig(), ScriptedJudge()
    ctx = rig.run()
    own = tuple(replace(record, run_id=ctx.run_id) for record in (FACTS, RANKING, *records))
    pipeline = ReleasePipeline(
        rig.core, RoleBoundary(rig.core), ScriptedRepairer(lambda proposed: proposed), judge
    )
    execution = DiagnosisAgentExecution(ProgressSnapshot(records=own), draft=draft)
    result = asyncio.run(pipeline.release(ctx, execution, inquiry=inquiry()))
    return result.fallback, judge, rig


def test_no_judge_is_asked_about_what_code_refuses() -> None:
    """A judge that would wave it through gets no chance to."""
    fallback, judge, rig = release_draft(other())

    assert fallback is FallbackType.SEMANTIC_UNSUPPORTED
    assert judge.cases == []
    assert [
        event.payload["reasons"] for event in rig.sink.events_named(TraceName.SEMANTIC_GUARD_DECISION)
    ] == [("CONTRADICTED",)]


def test_what_was_set_aside_is_recorded() -> None:
    """The judge sees the rankings that are left, and the trace says which are not, and why."""
    weak = other(attributes=with_attributes(strength=0.1))
    draft = replace(DRAFT, set_aside=(SetAside("t8", SetAsideReason.NOTHING_WRONG),))

    fallback, judge, rig = release_draft(weak, draft=draft)

    assert fallback is None
    assert [ranking.tool_call_id for ranking in judge.cases[0].rankings] == ["t2"]
    assert [
        event.payload["set_aside"] for event in rig.sink.events_named(TraceName.SEMANTIC_GUARD_DECISION)
    ] == [("t8: NOTHING_WRONG",)]


@pytest.mark.parametrize(
    ("tool_name", "scope", "is_seen"),
    [
        ("find_changed_signals", "{}", True),
        ("find_changed_signals", '{"entities":["checkout","payment"]}', True),
        ("find_changed_signals", '{"entities":["payment"]}', False),
        ("find_changed_signals", '{"limit":1}', False),
        ("find_changed_signals", '{"limit":60}', True),
        ("find_changed_signals", f'{{"onset":{ONSET_S - 7200.0}}}', False),
        ("compare_spans", "{}", True),
        ("inspect_signal", '{"entity":"payment","signal":"latency_p90"}', False),
        ("search_logs", "{}", False),
    ],
)
def test_the_order_of_unobserved_entities_is_unknown(tool_name: str, scope: str, *, is_seen: bool) -> None:
    """A cause may have begun after its effect where the run looked at the cause alone."""
    facts = ready_record(SEEN, tool_call_id="t1", tool_name=tool_name, scope=scope)

    objections = case_objections(build_case(DRAFT, (facts, RANKING), inquiry=inquiry()))

    assert objections == (() if is_seen else (SemanticReason.EFFECT_NOT_SEEN,))


def test_what_was_observed_of_the_affected_entity_is_a_look_at_it() -> None:
    """Whichever tool said it, and cited or not."""
    facts = ready_record(SEEN, tool_call_id="t1", tool_name="inspect_signal")
    effect = ready_record(change_item("i1", "checkout"), tool_call_id="t3", tool_name="inspect_signal")

    objections = case_objections(build_case(DRAFT, (facts, RANKING, effect), inquiry=inquiry()))

    assert objections == ()


def test_no_conclusion_passes_if_the_affected_entity_is_unknown() -> None:
    """Another service's trouble is no answer, however sound it is."""
    unknown = NameRead("loyalty", None, NameReading.UNKNOWN)
    asked = replace(inquiry(), affected=(), reading=QuestionReading((unknown,)))

    assert SemanticReason.OF_UNKNOWN_NAME in reasons_against(of=asked)
    assert reasons_against(of=replace(asked, affected=("checkout",))) == ()
