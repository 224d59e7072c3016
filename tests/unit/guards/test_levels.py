"""How far a conclusion goes: by the ranking and by what is cited, never by an agent's word."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.inquiries import inquiry
from tests.support.judged import causes_of

from diagnosis_harness.analysis.change_weight import FITTING, ChangeVerdict
from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, FaultKind, Predicate
from diagnosis_harness.diagnosis.draft import Cause, CauseLevel, DiagnosisDraft
from diagnosis_harness.guards.levels import (
    LATER_S,
    PROOFS,
    SCOPE_MOST,
    SHOWS_KIND,
    conclusion_level,
    scope_of,
)
from diagnosis_harness.guards.semantic_rules import ranking_objections
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.report.compose import conclusion_words
from diagnosis_harness.testing.evidence import (
    ONSET_S,
    cause_claim,
    cause_item,
    change_claim,
    change_item,
    ready_record,
)
from diagnosis_harness.toolbox.origin import OwnOrigin
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind

CPU = replace(change_item("i1", "payment"), attributes={"kind": "cpu", "bad": True})
CHANGE = EvidenceItem(
    "d1",
    ItemKind.CHANGE_EVENT,
    "payment was deployed",
    entity="payment",
    attributes={"before_onset_s": 600.0, "verdict": "candidate", "leads": True},
)


def ranking(**attributes: Scalar) -> EvidenceItem:
    """A ranking that names payment, with more attributes."""
    item = cause_item("c1", "payment")
    return replace(item, attributes={**item.attributes, **attributes})


EXPLAINED = ranking(origin="resource", open=False)


def test_every_kind_of_own_evidence_has_its_proof() -> None:
    """The table is total."""
    assert set(PROOFS) == {origin.value for origin in OwnOrigin}


def test_evidence_of_its_own_that_is_cited_explains() -> None:
    """A resource that ran up, found by the ranking and cited by the report."""
    assert conclusion_level(EXPLAINED, [CPU]) is CauseLevel.EXPLAINED
    assert conclusion_level(EXPLAINED, [CPU, CHANGE]) is CauseLevel.TRIGGER


@pytest.mark.parametrize(
    ("ranked", "cited"),
    [
        (EXPLAINED, []),  # found, and not cited
        (EXPLAINED, [replace(CPU, entity="checkout")]),  # cited of another
        (EXPLAINED, [replace(CPU, attributes={"kind": "latency", "bad": True})]),  # a symptom
        (EXPLAINED, [replace(CPU, attributes={"kind": "cpu", "bad": False})]),  # no harm
        (ranking(origin="", open=False), [CPU]),  # cited, and not found by the ranking
        (ranking(origin="own_time", open=True), [CPU]),  # what it calls may be where it starts
        (ranking(), [CPU, CHANGE]),  # a ranking that says nothing of it
    ],
)
def test_less_than_that_only_localises(ranked: EvidenceItem, cited: list[EvidenceItem]) -> None:
    """A symptom is no cause, and a change before it makes it none."""
    assert conclusion_level(ranked, cited) is CauseLevel.LOCALISED


LINE = EvidenceItem(
    "l1",
    ItemKind.LOG_PATTERN,
    "payment wrote 9 lines",
    entity="payment",
    direction=Direction.UP,
    attributes={"bad": True},
)


def test_a_line_that_another_wrote_explains_nothing() -> None:
    """Whoever failed to reach payment says what it met, not what happened in payment."""
    found = ranking(origin="own_lines", open=False, fault_kind="ERRORS")
    assert conclusion_level(found, [LINE]) is CauseLevel.EXPLAINED
    assert conclusion_level(found, [replace(LINE, peer="checkout")]) is CauseLevel.LOCALISED


EVENT = EvidenceItem(
    "p1",
    ItemKind.PLATFORM_EVENT,
    "OOMKilled was reported of payment",
    entity="payment",
    signal="OOMKilled",
    attributes={"bad": True, "state": "current", "severity": "fault", "fault_kind": "MEMORY"},
)


@pytest.mark.parametrize(
    ("attributes", "level"),
    [
        ({}, CauseLevel.EXPLAINED),
        ({"severity": "symptom"}, CauseLevel.LOCALISED),  # something called may have passed it on
        ({"fault_kind": "CRASH"}, CauseLevel.LOCALISED),  # another kind than the ranking names
        ({"bad": False}, CauseLevel.LOCALISED),  # it had recovered
    ],
)
def test_a_fault_that_the_platform_reports_explains(attributes: dict[str, Scalar], level: CauseLevel) -> None:
    """In its own words, of the kind that is concluded, and while it lasts."""
    found = ranking(origin="reported", open=False, fault_kind="MEMORY")
    event = replace(EVENT, attributes={**EVENT.attributes, **attributes})
    assert conclusion_level(found, [event]) is level


def test_every_kind_of_fault_has_a_row_that_says_what_shows_it() -> None:
    """The table is total, and a kind that nothing shows is never explained."""
    assert set(SHOWS_KIND) == set(FaultKind)
    for kind in (FaultKind.UNKNOWN, FaultKind.DEPENDENCY, FaultKind.TRAFFIC):
        found = ranking(origin="resource reported own_lines own_time", open=False, fault_kind=kind.value)
        named = replace(EVENT, attributes={**EVENT.attributes, "fault_kind": kind.value})
        assert conclusion_level(found, [CPU, named, LINE]) is CauseLevel.LOCALISED


def test_evidence_of_another_kind_does_not_explain_the_kind_that_is_named() -> None:
    """A processor that is busy does not show that a certificate has expired."""
    for kind in set(FaultKind) - {FaultKind.CPU}:
        found = ranking(origin="resource", open=False, fault_kind=kind.value)
        assert conclusion_level(found, [CPU]) is CauseLevel.LOCALISED


def test_the_page_of_truths_names_every_kind() -> None:
    """docs/reference/truth.md has one row for each."""
    page = Path(__file__).parents[3] / "docs" / "reference" / "truth.md"
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    named = {line.split("`")[1] for line in rows}
    assert {kind.value for kind in FaultKind} <= named


def test_evidence_of_another_time_does_not_explain() -> None:
    """An event that was over before the onset is a fact, and shows nothing of this trouble."""
    found = ranking(origin="reported", open=False, fault_kind="MEMORY")
    cause = Cause("payment", FaultKind.MEMORY, ("k0", "k1"))
    for start_s, end_s, level in (
        (ONSET_S - 300, ONSET_S + 300, CauseLevel.EXPLAINED),
        (ONSET_S - 900, ONSET_S - 300, CauseLevel.LOCALISED),
    ):
        event = replace(
            EVENT,
            window=TimeWindow(start_s, end_s),
            attributes={**EVENT.attributes, "state": "over"},
        )
        happened = Claim("k1", Predicate.HAPPENED, "payment", (EvidenceRef("t1", "p1"),))
        draft = DiagnosisDraft((cause,), (cause_claim(found, tool_call_id="t2"), happened))
        records = (
            ready_record(event, tool_call_id="t1", tool_name="platform_events"),
            ready_record(found, tool_call_id="t2", tool_name="rank_causes"),
            ready_record(change_item(), tool_call_id="t3", scope='{"entities":["checkout"]}'),
        )
        (scored,) = causes_of(draft, records, inquiry=inquiry(onset_s=ONSET_S))
        assert scored.level is level


def test_a_change_of_another_or_long_before_is_not_a_trigger() -> None:
    """It must fit in place and in time."""
    for other in (
        replace(CHANGE, entity="cart"),
        replace(CHANGE, attributes={**CHANGE.attributes, "before_onset_s": 7200.0}),
        replace(CHANGE, attributes={**CHANGE.attributes, "before_onset_s": -5.0}),
        replace(CHANGE, attributes={**CHANGE.attributes, "leads": False}),  # another fits nearly as well
        replace(CHANGE, attributes={"before_onset_s": 600.0}),  # nobody weighed it
    ):
        assert conclusion_level(EXPLAINED, [CPU, other]) is CauseLevel.EXPLAINED


@pytest.mark.parametrize(
    ("before_s", "level"),
    [(0.0, CauseLevel.TRIGGER), (3_600.0, CauseLevel.TRIGGER), (3_601.0, CauseLevel.EXPLAINED)],
)
def test_a_trigger_is_at_most_an_hour_before_the_onset(before_s: float, level: CauseLevel) -> None:
    """On both sides of the limit."""
    change = replace(CHANGE, attributes={**CHANGE.attributes, "before_onset_s": before_s})
    assert conclusion_level(EXPLAINED, [CPU, change]) is level


def test_a_change_after_what_explains_the_cause_is_not_a_trigger() -> None:
    """The alert that the change is measured from fires after what it alerts to."""
    began = replace(CPU, onset_s=ONSET_S)
    for later_s, due in ((LATER_S, CauseLevel.TRIGGER), (LATER_S + 1.0, CauseLevel.EXPLAINED)):
        assert conclusion_level(EXPLAINED, [began, replace(CHANGE, onset_s=ONSET_S + later_s)]) is due


@pytest.mark.parametrize("verdict", list(ChangeVerdict))
def test_a_weighed_change_is_a_trigger_only_where_it_fits(verdict: ChangeVerdict) -> None:
    """One that was ruled out, or has no new evidence, is not."""
    weighed = replace(CHANGE, attributes={**CHANGE.attributes, "verdict": verdict.value})
    fits = verdict in FITTING
    due = CauseLevel.TRIGGER if fits else CauseLevel.EXPLAINED
    assert conclusion_level(EXPLAINED, [CPU, weighed]) is due


def test_what_is_called_unseen_is_the_scope() -> None:
    """By name; the entity itself if its callees are unknown; nothing if nothing is open."""
    assert scope_of(ranking(open=True, unseen_1="bank", unseen_2="ledger")) == ("bank", "ledger")
    assert scope_of(ranking(open=True)) == ("payment",)
    assert scope_of(ranking(open=False, unseen_1="bank")) == ()


def test_a_scope_of_many_and_a_bare_symptom_are_not_conclusions() -> None:
    """They narrow nothing down."""
    many = {f"unseen_{number}": f"s{number}" for number in range(1, SCOPE_MOST + 2)}
    assert ranking_objections(ranking(open=True, **many)) == (SemanticReason.SCOPE_TOO_WIDE,)
    assert ranking_objections(ranking(symptom_only=True)) == (SemanticReason.SYMPTOM_ONLY,)


def test_an_agents_own_level_does_not_count() -> None:
    """Whatever a draft says, the level and the scope are computed when it is released."""
    boast = Cause("payment", FaultKind.CPU, ("k0", "k1"), level=CauseLevel.TRIGGER, scope=("bank",))
    symptom = ranking(origin="", open=False)
    draft = DiagnosisDraft((boast,), (cause_claim(symptom, tool_call_id="t2"), change_claim(CPU)))
    records = (
        ready_record(CPU, tool_call_id="t1"),
        ready_record(symptom, tool_call_id="t2", tool_name="rank_causes"),
    )
    (cause,) = causes_of(draft, records, inquiry=inquiry())
    assert (cause.level, cause.scope) == (CauseLevel.LOCALISED, ())


@pytest.mark.parametrize(
    ("level", "scope", "english", "chinese"),
    [
        (CauseLevel.LOCALISED, (), "It starts at", "异常始于"),
        (CauseLevel.EXPLAINED, (), "is the cause", "是原因"),
        (CauseLevel.TRIGGER, (), "that it set this off is not shown", "没有证据表明是该变更触发的"),
        (CauseLevel.LOCALISED, ("bank",), "callee bank too little is recorded", "bank 记录不足"),
        (CauseLevel.LOCALISED, ("payment",), "that nothing records", "没有任何记录"),
    ],
)
def test_a_conclusion_says_its_level_and_no_more(
    level: CauseLevel, scope: tuple[str, ...], english: str, chinese: str
) -> None:
    """Only what is explained is called the cause."""
    cause = Cause("payment", FaultKind.CPU, ("k0",), level=level, scope=scope)
    sentence = conclusion_words(cause, first=True)
    said_of = {"entity": "payment", "fault": "CPU", "unseen": "bank"}
    assert english in sentence.render(Language.EN, **said_of)
    assert chinese in sentence.render(Language.ZH, **said_of)
    assert ("is the cause" in sentence.in_(Language.EN)) == (level is not CauseLevel.LOCALISED)


def test_the_items_are_as_tools_make_them() -> None:
    """The samples above are harm, at the time of the question."""
    assert CPU.direction is Direction.UP
    assert CPU.window is not None
    assert CPU.window.start_s == ONSET_S
