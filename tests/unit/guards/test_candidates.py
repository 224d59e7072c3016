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
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind

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


def standing(*hypotheses: Hypothesis) -> tuple[Hypothesis, ...]:
    """What stands of them in this run."""
    return standing_candidates(hypotheses, RECORDS, run_id="r1")


def test_a_candidate_stands_as_its_ranking_has_it() -> None:
    """Evidence for it, and against it what explains it and what was not found of it."""
    assert standing(TRUE) == (TRUE,)


@pytest.mark.parametrize("score", [99.0, float("nan"), float("inf")])
def test_its_score_and_part_are_the_rankings(score: float) -> None:
    """Whatever number an agent gives."""
    assert standing(replace(TRUE, score=score, region=None)) == (TRUE,)


@pytest.mark.parametrize(
    "false",
    [
        replace(TRUE, entity="ghost"),
        replace(TRUE, entity="Payment"),
        replace(TRUE, fault_kind=FaultKind.MEMORY),
        replace(TRUE, region="heap"),
        replace(TRUE, evidence_for=(EvidenceRef("t1", "i1"),)),
        replace(TRUE, evidence_for=(EvidenceRef("t2", "c2"),)),
        replace(TRUE, evidence_for=()),
    ],
)
def test_a_candidate_that_no_cited_ranking_bears_is_not_published(false: Hypothesis) -> None:
    """Another entity, kind or part, or no ranking of it among its evidence."""
    assert standing(false) == ()


def test_evidence_about_somebody_else_is_dropped() -> None:
    """On either side, as are references to nothing."""
    ghost, cart = EvidenceRef("t9", "i1"), EvidenceRef("t1", "i2")
    lent = replace(
        TRUE,
        evidence_for=(*TRUE.evidence_for, cart, ghost),
        evidence_against=(*TRUE.evidence_against, cart, ghost),
    )

    assert standing(lent) == (TRUE,)


def test_candidates_stand_best_first_and_once() -> None:
    """An agent's order says nothing."""
    lower = Hypothesis("cart", FaultKind.MEMORY, 50.0, (EvidenceRef("t2", "c2"),))

    assert [each.entity for each in standing(lower, TRUE, lower)] == ["payment", "cart"]


def test_another_runs_ranking_bears_nothing() -> None:
    """Records carry their run."""
    assert standing_candidates((TRUE,), RECORDS, run_id="r2") == ()


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
