"""SemanticGuard: decides whether the cited evidence, read in full, supports the conclusion.

The judge may be the embedded one or a language model. There are at most two attempts, the second only after
listed technical failures. A judge that cannot be reached gives no verdict, and without a verdict the run
ends with a fallback, never with a release.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft, Disproof, SetAside
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.records import Records
from diagnosis_harness.guards.asked import QuestionScope, question_scope
from diagnosis_harness.guards.disproof import disproof_of
from diagnosis_harness.guards.harm import is_harm
from diagnosis_harness.guards.rankings import (
    Ranking,
    is_decided_by_signal,
    judging_item,
    rankings_of,
    standing_rankings,
)
from diagnosis_harness.guards.support import is_direct
from diagnosis_harness.guards.verdict import Judgement
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.tools.evidence import EvidenceItem
from diagnosis_harness.tools.invocation import EvidenceRecord

_UNDATED_LOOK = "compare_spans"
"""The tool that compares before and after the onset but reports no times."""


@dataclass(frozen=True, slots=True)
class CitedClaim:
    """A supported claim with everything that it cites."""

    claim: Claim
    items: tuple[tuple[EvidenceRef, EvidenceItem], ...]


@dataclass(frozen=True, slots=True)
class SemanticCase:
    """Everything that a judge may see.

    Whatever the conclusion depends on comes from the run, not from the draft.

    Attributes:
        rankings: every ranking of the run that is about the question and that the draft does not set aside
            for a valid reason, cited or not; their order has no meaning.
        judged: the ranking item that each concluded cause is judged by, keyed by entity; without causes
            that no ranking names.
        observed: observations of the run, at the time of the question, of the concluded causes, of what
            they affect, and of parts of both, cited or not, so that a draft cannot hide when something
            began.
        set_aside: the rankings that do not count, with their valid reason.
        disproofs: the result of trying to disprove each concluded cause, keyed by entity.
        asks_of_unknown: the telemetry does not contain what the question is about.
        unseen: affected entities of judged rankings that were not examined at the time of the question. If
            a ranking was decided by a signal, also its cause, and an examination without times does not
            count.
    """

    question: str
    conclusion: tuple[Cause, ...]
    claims: tuple[CitedClaim, ...]
    rankings: tuple[Ranking, ...]
    judged: Mapping[str, EvidenceItem] = field(default_factory=dict)
    observed: tuple[EvidenceItem, ...] = ()
    set_aside: tuple[SetAside, ...] = ()
    unseen: frozenset[str] = frozenset()
    asks_of_unknown: bool = False
    disproofs: Mapping[str, Disproof] = field(default_factory=dict)

    def about(self, entity: str) -> list[EvidenceItem]:
        """Observations of an entity or of a part of it."""
        return [item for item in self.observed if entity in (item.entity, item.attributes.get("owner"))]


class SemanticJudge(Protocol):
    """The port of the judge. One call is one attempt and costs one language-model call."""

    async def judge(self, ctx: RunContext, case: SemanticCase) -> tuple[Judgement, TokenUsage]:
        """Return the verdict, and the tokens used.

        Raises:
            LlmFailure: the language model used by the judge failed.
        """
        ...


def build_case(draft: DiagnosisDraft, records: Sequence[EvidenceRecord], *, inquiry: Inquiry) -> SemanticCase:
    """The case of a draft that passed EvidenceGuard."""
    available = Records(records)
    asked = question_scope(inquiry, records)
    rankings = rankings_of(records, asked)
    standing = standing_rankings(rankings, draft.set_aside)
    found = {cause.entity: judging_item(cause, standing) for cause in draft.conclusion}
    judged = {entity: item for entity, item in found.items() if item is not None}
    names = {*found, *(item.peer for item in judged.values())} - {None}
    observed = tuple(
        item
        for record in records
        for item in record.items
        if is_direct(item)
        and not names.isdisjoint((item.entity, item.attributes.get("owner")))
        and asked.is_at_its_time(record, item)
    )
    left = {ranking.tool_call_id for ranking in rankings} - {ranking.tool_call_id for ranking in standing}
    return SemanticCase(
        question=inquiry.question,
        conclusion=draft.conclusion,
        claims=tuple(CitedClaim(claim, available.items_cited(claim)) for claim in draft.claims),
        rankings=standing,
        judged=judged,
        observed=observed,
        set_aside=tuple(each for each in draft.set_aside if each.tool_call_id in left),
        unseen=frozenset(
            name for item in judged.values() for name in _unseen(item, observed, records, asked)
        ),
        asks_of_unknown=inquiry.asks_of_unknown,
        disproofs={
            entity: disproof_of(item, records, observed, inquiry.inventory) for entity, item in judged.items()
        },
    )


def decides(ranked: EvidenceItem, item: EvidenceItem) -> bool:
    """Whether an item is about the signal that decided a ranking, of its entity or its instance."""
    region, instance = ranked.attributes.get("region"), ranked.attributes.get("instance")
    if not is_decided_by_signal(ranked) or not isinstance(region, str):
        return False
    if isinstance(instance, str):
        return (item.entity, item.signal) == (instance, region.removeprefix(f"{instance}/"))
    return (item.entity, item.signal) == (ranked.entity, region)


def _unseen(
    ranked: EvidenceItem,
    observed: Sequence[EvidenceItem],
    records: Sequence[EvidenceRecord],
    asked: QuestionScope,
) -> Iterator[str]:
    """The entities that a ranking depends on for which no call determined when they began to differ."""
    timed = is_decided_by_signal(ranked)
    names = (ranked.entity, ranked.peer) if timed else (ranked.peer,)
    dated = [record for record in records if not timed or record.tool_name != _UNDATED_LOOK]
    seen = {
        name
        for item in observed
        if not timed or (item.onset_s is not None and is_harm(item))
        for name in (item.entity, item.attributes.get("owner"))
    }
    for name in names:
        if (
            name is not None
            and name not in seen
            and not any(asked.has_looked_at(name, each) for each in dated)
        ):
            yield name
