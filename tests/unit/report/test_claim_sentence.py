"""The agent's own sentence is published only if it is grounded; else the rendered one is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef
from diagnosis_harness.guards.evidence_guard import check_claims
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.release.result import ReleaseContent
from diagnosis_harness.report.claim_sentence import claim_sentence, may_stand
from diagnosis_harness.report.compose import compose
from diagnosis_harness.report.document import Release
from diagnosis_harness.report.material import ReportMaterial
from diagnosis_harness.report.sentence import sentence
from diagnosis_harness.testing.evidence import (
    cause_claim,
    cause_item,
    change_claim,
    change_item,
    ready_record,
)

RECORDS = (ready_record(change_item()),)
EN, ZH = Language.EN, Language.ZH
OWN = "The latency_p90 of checkout rose to 3.2 s, usually 0.21 s."


def claim_with(wording: str | None) -> Claim:
    """The claim that its record supports, with a wording."""
    return replace(change_claim(), wording=wording)


def test_a_grounded_wording_is_published() -> None:
    """Word for word."""
    assert claim_sentence(claim_with(OWN), RECORDS, EN) == OWN


@pytest.mark.parametrize(
    "wording",
    [
        None,
        "",
        "checkout latency_p90 rose to 9 s",
        OWN + " The database crashed.",
        OWN.replace("checkout", "cart"),
    ],
)
def test_any_other_wording_gives_way_to_the_rendered_sentence(wording: str | None) -> None:
    """A false number, an uncited extra sentence, another entity, nothing at all."""
    assert claim_sentence(claim_with(wording), RECORDS, EN) == sentence(change_claim(), EN)


def test_a_wording_in_another_language_is_not_shown() -> None:
    """A report speaks one language."""
    own = "checkout 的 latency_p90 升到 3.2 秒"
    assert claim_sentence(claim_with(own), RECORDS, ZH) == own
    assert claim_sentence(claim_with(own), RECORDS, EN) == sentence(change_claim(), EN)
    assert claim_sentence(claim_with(OWN), RECORDS, ZH) == sentence(change_claim(), ZH)


def test_a_wording_is_grounded_in_what_supports_the_claim_and_in_nothing_else_cited() -> None:
    """A second cited item that does not support the claim lends it no numbers."""
    other = replace(change_item("i2", "cart"), value=9.0)
    records = (ready_record(change_item(), other),)
    claim = replace(
        claim_with("checkout latency_p90 rose to 9 s"),
        refs=(EvidenceRef("t1", "i1"), EvidenceRef("t1", "i2")),
    )
    assert check_claims([claim], records, run_id="r1", inquiry=inquiry()).standing
    assert claim_sentence(claim, records, EN) == sentence(claim, EN)


def test_the_report_publishes_what_is_said() -> None:
    """Through the composition of a report."""
    material = ReportMaterial(
        language=EN,
        release=Release(ReleaseOutcome.FALLBACK, FallbackType.INSUFFICIENT_EVIDENCE),
        state=RunState.SUCCESS,
        limit_s=60.0,
        content=ReleaseContent(claims=(claim_with(OWN),)),
        records=RECORDS,
    )
    assert [claim.sentence for claim in compose(material).claims] == [OWN]


def test_both_kinds_of_sentence_pass_a_second_check() -> None:
    """Rendered or grounded may stand, an altered one may not."""
    claim = change_claim()
    assert may_stand(sentence(claim, EN), claim, RECORDS, EN)
    assert may_stand(OWN, claim, RECORDS, EN)
    assert not may_stand(OWN.replace("3.2", "3.3"), claim, RECORDS, EN)


def test_who_is_the_cause_is_worded_by_code_except_in_version_2() -> None:
    """A grounded wording says more than is known where a cause is only localised."""
    item = cause_item()
    claim, records = cause_claim(item, tool_call_id="t1"), (ready_record(item, tool_name="rank_causes"),)
    worded = "payment is the cause of what checkout shows."
    assert claim_sentence(replace(claim, wording=worded), records, EN) == sentence(claim, EN)
    assert may_stand(sentence(claim, EN), claim, records, EN)
    assert not may_stand(worded, claim, records, EN)
    assert may_stand(worded, claim, records, EN, may_word_causes=True)


@pytest.mark.parametrize(
    ("language", "scope"), [(EN, "payment or in what it calls"), (ZH, "payment 或它所调用的对象")]
)
def test_a_cause_that_may_lie_in_what_it_calls_is_published_with_that(language: Language, scope: str) -> None:
    """By the ranking that the claim cites; the flat sentence may not stand."""
    item = cause_item()
    item = replace(item, attributes={**item.attributes, "open": True, "unseen_1": "bank"})
    claim, records = cause_claim(item, tool_call_id="t1"), (ready_record(item, tool_name="rank_causes"),)
    published = claim_sentence(claim, records, language)
    assert scope in published
    assert may_stand(published, claim, records, language)
    assert not may_stand(sentence(claim, language), claim, records, language)


class Unread(str):
    """A text that may be measured, and not read."""

    __slots__ = ()

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("it was read")


def test_an_oversized_wording_is_not_read() -> None:
    """Ten megabytes cost nothing; the rendered sentence is shown."""
    claim = replace(change_claim(), wording=Unread("checkout rose " * 100))

    assert claim_sentence(claim, RECORDS, EN) == sentence(claim, EN)
