"""Candidates, what was missing and the draft's window: published only as the records have them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, EvidenceRef, FaultKind
from diagnosis_harness.diagnosis.draft import Hypothesis
from diagnosis_harness.guards.candidates import standing_candidates
from diagnosis_harness.guards.circumstances import NO_SOURCE, standing_missing, standing_window
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.testing.evidence import ONSET_S, WINDOW, cause_item, changed_item, ready_record
from diagnosis_harness.testing.inquiries import inquiry
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

RANKED = replace(
    cause_item("c1", "payment"), attributes={"fault_kind": "CPU", "region": "pod-1", "explained_by": "db"}
)
LOWER = replace(cause_item("c2", "cart"), score=2.0, attributes={"fault_kind": "MEMORY"})
RECORDS = (
    ready_record(changed_item("i1", "payment"), changed_item("i2", "cart"), changed_item("i3", "db")),
    ready_record(RANKED, LOWER, tool_call_id="t2", tool_name="rank_causes"),
    ready_record(tool_call_id="t3", scope='{"entity":"payment","text":"panic"}'),
)
TRUE = Hypothesis(
    "payment",
    FaultKind.CPU,
    9.0,
    evidence_for=(EvidenceRef("t2", "c1"), EvidenceRef("t1", "i1")),
    evidence_against=(EvidenceRef("t1", "i3"), EvidenceRef("t3", WHOLE_RECORD)),
    region="pod-1",
)


CART = Hypothesis(
    "cart", FaultKind.MEMORY, 2.0, evidence_for=(EvidenceRef("t2", "c2"), EvidenceRef("t1", "i2"))
)


def standing(
    *hypotheses: Hypothesis, records: tuple[EvidenceRecord, ...] = RECORDS
) -> tuple[Hypothesis, ...]:
    """What stands in this run, where a draft offers these."""
    return standing_candidates(hypotheses, records, run_id="r1", inquiry=inquiry())


def test_a_candidate_stands_as_its_ranking_has_it() -> None:
    """Evidence for it is what got worse of it; against it what explains it and what was not found of it."""
    assert standing(TRUE, CART) == (TRUE, CART)


@pytest.mark.parametrize(
    "offered",
    [
        (),
        (CART,),
        (replace(TRUE, score=0.01, evidence_against=()), CART),
        (replace(TRUE, score=float("nan"), fault_kind=FaultKind.MEMORY, region="heap"),),
        (replace(CART, score=float("inf")), replace(TRUE, entity="ghost"), replace(TRUE, entity="Payment")),
        (replace(TRUE, evidence_for=(EvidenceRef("t1", "i2"), EvidenceRef("t9", "i1"))),),
    ],
)  # fmt: skip
def test_who_is_the_strongest_candidate_does_not_depend_on_what_a_draft_offers(
    offered: tuple[Hypothesis, ...],
) -> None:
    """Leaving the strongest out would make a weaker one the first that a reader looks at."""
    found = standing(*offered)

    assert [(each.entity, each.fault_kind, each.region, each.score) for each in found] == [
        ("payment", FaultKind.CPU, "pod-1", 9.0),
        ("cart", FaultKind.MEMORY, None, 2.0),
    ]
    assert [each.evidence_for for each in found] == [TRUE.evidence_for, CART.evidence_for]


def test_evidence_against_a_candidate_is_about_it() -> None:
    """References to somebody else, and to nothing, are dropped."""
    ghost, cart = EvidenceRef("t9", "i1"), EvidenceRef("t1", "i2")
    lent = replace(TRUE, evidence_against=(*TRUE.evidence_against, cart, ghost))

    assert standing(lent) == (TRUE, CART)


def test_what_is_no_harm_speaks_for_no_candidate() -> None:
    """A candidate is one for what got worse."""
    calm = replace(changed_item("i1", "payment"), attributes={"bad": False, "kind": "latency"})

    found = standing(records=(ready_record(calm), RECORDS[1]))

    assert [each.evidence_for for each in found] == [(EvidenceRef("t2", "c1"),), (EvidenceRef("t2", "c2"),)]


def test_a_ranking_of_another_question_gives_no_candidate() -> None:
    """Neither one of another victim, nor one that was asked at another time."""
    other = replace(RANKED, entity="db", peer="elsewhere", score=99.0)
    older = ready_record(
        replace(RANKED, entity="db", score=99.0), tool_call_id="t8", scope=f'{{"onset":{ONSET_S - 7200.0}}}'
    )

    assert standing(records=(*RECORDS, ready_record(other, tool_call_id="t9"), older)) == standing()


def test_the_order_of_the_calls_does_not_count() -> None:
    """Of an entity that two rankings name the higher score stands."""
    again = ready_record(replace(LOWER, score=3.0), tool_call_id="t4", tool_name="rank_causes")

    found = standing(records=(*RECORDS, again))

    assert found == standing(records=(again, *reversed(RECORDS)))
    assert [each.score for each in found] == [9.0, 3.0]


def test_another_runs_ranking_bears_nothing() -> None:
    """Records carry their run."""
    assert standing_candidates((TRUE,), RECORDS, run_id="r2", inquiry=inquiry()) == ()


def test_missing_is_what_an_inventory_lacks_or_the_asker_knows() -> None:
    """Every other phrase is free text, and free text is not published."""
    lacking = EvidenceItem("i1", ItemKind.INVENTORY, "no spans", attributes={"missing": "spans"})
    phrases = ("spans", "the cause is ghost", "logs", "which service", "spans", "Spans")

    said = standing_missing(phrases, (ready_record(lacking),), run_id="r1")

    assert said == ("spans", "which service")
    assert standing_missing(("spans",), (ready_record(lacking),), run_id="r2") == ()


def test_that_there_is_no_source_is_said_of_a_run_that_looked_at_nothing() -> None:
    """With a record of its own there was something to look into, whatever a draft says."""
    assert standing_missing((NO_SOURCE,), (), run_id="r1") == (NO_SOURCE,)
    assert standing_missing((NO_SOURCE,), (ready_record(changed_item()),), run_id="r1") == ()


def test_a_draft_speaks_of_a_window_that_was_judged() -> None:
    """To the second, and then it is the record's own."""
    near = TimeWindow(WINDOW.start_s + 0.4, WINDOW.end_s - 0.4)

    assert standing_window(near, RECORDS, run_id="r1") == WINDOW
    assert standing_window(TimeWindow(ONSET_S - 600, WINDOW.end_s), RECORDS, run_id="r1") is None
    assert standing_window(None, RECORDS, run_id="r1") is None
    assert standing_window(WINDOW, RECORDS, run_id="r2") is None


def test_a_recordings_own_window_is_not_the_incidents() -> None:
    """What there is was not thereby judged."""
    recorded = EvidenceItem("i1", ItemKind.INVENTORY, "a recording", window=WINDOW)

    assert standing_window(WINDOW, (ready_record(recorded),), run_id="r1") is None
