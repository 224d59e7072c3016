"""When "nothing unusual" answers a question for the cause: by all records of the run, not by one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate
from diagnosis_harness.guards.evidence_guard import check_claims
from diagnosis_harness.guards.reassurance import reassuring_claims
from diagnosis_harness.testing.evidence import ONSET_S, WINDOW, cause_item, change_item, ready_record
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

SOUND = EvidenceItem(
    "sound", ItemKind.OVERVIEW, "nothing unusual", entity="checkout", value=12.0, window=WINDOW
)
RANKED = replace(cause_item("c1", "payment"), score=0.0)
RANKING = ready_record(RANKED, SOUND, tool_call_id="t9", tool_name="rank_causes")
LOOKS = (
    ready_record(tool_call_id="t1"),
    ready_record(tool_call_id="t2", tool_name="compare_spans"),
    ready_record(tool_call_id="t3", tool_name="compare_logs"),
)
ALL_NORMAL = Claim("k0", Predicate.UNREMARKABLE, "checkout", (EvidenceRef("t9", "sound"),))
ASKED = inquiry(onset_s=ONSET_S)


def is_answer(*records: EvidenceRecord, claim: Claim = ALL_NORMAL) -> bool:
    """Whether the claim passes, and answers the question."""
    standing = check_claims([claim], records, run_id="r1", inquiry=ASKED).standing
    return bool(reassuring_claims(ASKED, standing, records))


def worse(entity: str, kind: ItemKind = ItemKind.SIGNAL_CHANGE, *, z: float = 9.0) -> EvidenceItem:
    """Something that clearly got worse of an entity."""
    item = replace(change_item("x1", entity), kind=kind, direction=Direction.UP)
    return replace(item, attributes={**item.attributes, "bad": True, "z": z})


def test_nothing_unusual_is_an_answer_where_all_was_looked_at() -> None:
    """One ranking that says so, and every kind of telemetry as a whole."""
    assert is_answer(*LOOKS, RANKING)


@pytest.mark.parametrize("left_out", [0, 1, 2])
def test_a_kind_of_telemetry_that_was_not_looked_at_may_show_the_trouble(left_out: int) -> None:
    """Also one that was looked at in part."""
    kept = [look for place, look in enumerate(LOOKS) if place != left_out]
    scope = '{"entities":["catalog"]}'
    part = ready_record(tool_call_id="t4", tool_name=LOOKS[left_out].tool_name, scope=scope)

    assert not is_answer(*kept, RANKING)
    assert not is_answer(*kept, part, RANKING)


@pytest.mark.parametrize(
    ("item", "speaks_against"),
    [
        (worse("checkout"), True),
        (worse("checkout", z=2.0), False),
        (worse("catalog"), False),  # of many series some always move; the ranking has judged them
        (replace(worse("catalog"), peer="checkout"), True),  # its calls are what its users wait for
        (replace(worse("catalog"), peer="search"), False),
        (worse("catalog", ItemKind.SPAN_ERRORS), True),
        (worse("catalog", ItemKind.SELF_TIME), True),
        (worse("catalog", ItemKind.LOG_PATTERN), True),
    ],
)
def test_anything_that_a_record_shows_counts_against_it(item: EvidenceItem, *, speaks_against: bool) -> None:
    """Whatever the draft cites."""
    assert is_answer(*LOOKS, ready_record(item, tool_call_id="t5"), RANKING) is not speaks_against


def test_without_a_named_entity_the_affected_one_is_that_of_the_answer() -> None:
    """So that anything that got worse there counts against it as well."""
    open_question = replace(ASKED, affected=(), alert_entity=None)
    item = ready_record(replace(worse("catalog"), peer="checkout"), tool_call_id="t5")

    assert reassuring_claims(open_question, (ALL_NORMAL,), (*LOOKS, RANKING)) == (ALL_NORMAL,)
    assert reassuring_claims(open_question, (ALL_NORMAL,), (*LOOKS, item, RANKING)) == ()


def test_another_ranking_of_the_question_that_found_something_contradicts_it() -> None:
    """An agent that asks twice does not choose the calmer answer."""
    other = ready_record(cause_item("c1", "payment"), tool_call_id="t8", tool_name="rank_causes")

    assert not is_answer(*LOOKS, other, RANKING)


@pytest.mark.parametrize(
    "bent",
    [
        replace(ALL_NORMAL, entity="catalog"),
        replace(ALL_NORMAL, value=13.0),
        replace(ALL_NORMAL, affected="payment"),
        replace(ALL_NORMAL, refs=(EvidenceRef("t9", "c1"),)),
    ],
)
def test_the_claim_says_what_the_ranking_says(bent: Claim) -> None:
    """For which entity, and for how many series."""
    assert not is_answer(*LOOKS, RANKING, claim=bent)
