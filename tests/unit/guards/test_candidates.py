"""Candidates, what was missing and the draft's window: published only as the records have them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, EvidenceRef, FaultKind
from diagnosis_harness.diagnosis.draft import Hypothesis
from diagnosis_harness.diagnosis.inquiry import Inquiry, Telemetry
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.guards.candidates import standing_candidates
from diagnosis_harness.guards.circumstances import (
    Circumstances,
    standing_missing,
    standing_names,
    standing_window,
    unknown_services,
)
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.testing.evidence import ONSET_S, WINDOW, cause_item, change_item, ready_record
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

RANKED = replace(
    cause_item("c1", "payment"), attributes={"fault_kind": "CPU", "region": "pod-1", "explained_by": "db"}
)
LOWER = replace(cause_item("c2", "cart"), score=2.0, attributes={"fault_kind": "MEMORY"})
RECORDS = (
    ready_record(change_item("i1", "payment"), change_item("i2", "cart"), change_item("i3", "db")),
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
    """What is in this run, where a draft offers these."""
    return standing_candidates(hypotheses, records, run_id="r1", inquiry=inquiry())


def test_a_candidate_is_published_as_its_ranking_has_it() -> None:
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


def test_what_is_not_harm_counts_for_no_candidate() -> None:
    """A candidate is one for what got worse."""
    calm = replace(change_item("i1", "payment"), attributes={"bad": False, "kind": "latency"})

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
    """If two rankings name an entity, the higher score is used."""
    again = ready_record(replace(LOWER, score=3.0), tool_call_id="t4", tool_name="rank_causes")

    found = standing(records=(*RECORDS, again))

    assert found == standing(records=(again, *reversed(RECORDS)))
    assert [each.score for each in found] == [9.0, 3.0]


def test_another_runs_ranking_supports_nothing() -> None:
    """Records carry their run."""
    assert standing_candidates((TRUE,), RECORDS, run_id="r2", inquiry=inquiry()) == ()


def missing(
    *said: MissingInfo, of: Inquiry, records: tuple[EvidenceRecord, ...] = (), denied: bool = False
) -> tuple[MissingInfo, ...]:
    """Which of the missing data that a draft names is published."""
    return standing_missing(said, Circumstances(of, records, denied))


def test_only_what_was_missing_is_published() -> None:
    """A set that is closed, and each of it held against what the run had to look with."""
    known = inquiry(onset_s=ONSET_S)
    inventory = replace(known.inventory, telemetry=frozenset({Telemetry.METRICS}), incident=WINDOW)
    thin = replace(known, inventory=inventory)
    nothing = Inquiry("why?")

    assert missing(*MissingInfo, of=thin) == (
        MissingInfo.SPANS, MissingInfo.LOGS, MissingInfo.TOPOLOGY, MissingInfo.CHANGES, MissingInfo.BASELINE,
    )  # fmt: skip
    assert missing(*MissingInfo, of=nothing) == (MissingInfo.ENTITY, MissingInfo.TIME, MissingInfo.SOURCE)
    unrecorded = replace(known.inventory, incident=None)
    assert missing(*MissingInfo, of=replace(thin, inventory=unrecorded), denied=True) == (
        MissingInfo.PERMISSION, MissingInfo.INCIDENT, MissingInfo.BASELINE,
    )  # fmt: skip


@pytest.mark.parametrize("message", ["the cause is ghost", "Spans", "the moon", "spans", "any source", ""])
def test_a_phrase_of_an_agent_is_not_missing(message: str) -> None:
    """Free text has no way in, be it true or not."""
    assert standing_missing([message], Circumstances(Inquiry("why?"), ())) == ()


def test_what_an_inventory_of_the_run_lacks_is_missing() -> None:
    """A source that was not resolved before is named by a record; a run without records names none."""
    lacking = EvidenceItem("i1", ItemKind.INVENTORY, "no spans", attributes={"missing": "spans"})
    records = (ready_record(lacking),)

    assert missing(MissingInfo.SPANS, MissingInfo.LOGS, of=Inquiry("why?"), records=records) == (
        MissingInfo.SPANS,
    )
    assert missing(MissingInfo.SOURCE, of=Inquiry("why?"), records=records) == ()


@pytest.mark.parametrize(
    ("name", "stands"),
    [
        ("billing", False),  # a plain word: nothing says that it is meant as a name
        ("billing-2", True),
        ("moon", True),
        ("sun", True),
        ("月球", True),
        ("ledger", True),
        ("ledger.eu", True),
        ("Why", False),
        ("hurt", False),
        ("slow", False),
        ("slow.", False),
        ("it", False),
        ("bill", False),
        ("payment", False),
        ("Billing", False),
        ("ghost", False),
        ("ghost-1", False),
        ("billing is the cause", False),
        ("", False),
    ],
)
def test_an_unknown_name_is_reported_as_the_question_has_it(name: str, *, stands: bool) -> None:
    """Whole, as a name and as the asker wrote it; not what the telemetry knows, nor any other word.

    A word such as `slow` is in the question as well, and is no service that the telemetry lacks.
    """
    question = (
        "Why does billing (or billing-2, `moon` or 'sun') hurt payment or ledger.eu?"
        " it is slow. “月球” ledger服务"
    )
    asked = replace(inquiry(), question=question)

    assert standing_names([name], asked) == ((name,) if stands else ())


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("Why did moon-service fail?", ("moon-service",)),
        ("moon-service为什么变慢？", ("moon-service",)),
        ("why is moon-7d9f slow?", ("moon-7d9f",)),
        ("did moon-service hurt moon-db?", ("moon-service", "moon-db")),
        ("why is payment slow?", ()),
        ("why is the p99 of the end-to-end re-deploy at 14:05 on 2024-05-01 slow? 5xx, v2.3", ()),
        ("结账为什么慢？", ()),
    ],
)
def test_an_unknown_name_that_is_written_as_a_service_is_found(
    question: str, unknown: tuple[str, ...]
) -> None:
    """By code, so that a conclusion about somebody else never passes for an answer about it."""
    assert unknown_services(replace(inquiry(), question=question)) == unknown


def test_a_draft_is_about_a_window_that_was_judged() -> None:
    """To the second, and the claim then gets the record's own time; a time of another incident fails."""
    near = TimeWindow(WINDOW.start_s + 0.4, WINDOW.end_s - 0.4)
    earlier = TimeWindow(ONSET_S - 600, WINDOW.end_s)
    asked, of_another = inquiry(onset_s=ONSET_S), inquiry(onset_s=ONSET_S - 7200.0)

    assert standing_window(near, RECORDS, inquiry=asked) == WINDOW
    assert standing_window(earlier, RECORDS, inquiry=asked) is None
    assert standing_window(None, RECORDS, inquiry=asked) is None
    assert standing_window(near, RECORDS, inquiry=of_another) is None


def test_a_recordings_own_window_is_not_the_incidents() -> None:
    """What there is was not thereby judged."""
    recorded = EvidenceItem("i1", ItemKind.INVENTORY, "a recording", window=WINDOW)

    assert standing_window(WINDOW, (ready_record(recorded),), inquiry=inquiry()) is None
