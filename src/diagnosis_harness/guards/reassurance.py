"""Decides whether "nothing unusual" may answer a question for the cause. Pure.

The claim rests on one ranking of the question. It is an answer only if no other record of the run
contradicts it and every available kind of telemetry was examined as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis_harness.diagnosis.claim import Claim, Predicate
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.question_form import SUSPECTING, QuestionForm
from diagnosis_harness.guards.answering import CLEAR_Z
from diagnosis_harness.guards.asked import QuestionScope, question_scope
from diagnosis_harness.guards.disproof import DISPROVING_TOOLS
from diagnosis_harness.guards.harm import is_harm
from diagnosis_harness.guards.support import began_earlier
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

_ASKS_FOR_CAUSE = SUSPECTING | {QuestionForm.WHY}
_TIMES = frozenset({"onset", "until"})
"""Arguments that do not narrow a comparison."""


def reassuring_claims(
    inquiry: Inquiry, claims: Sequence[Claim], records: Sequence[EvidenceRecord]
) -> tuple[Claim, ...]:
    """The claims that nothing is unusual, if they may be the answer; otherwise none.

    Args:
        claims: those that passed EvidenceGuard.
    """
    reassuring = tuple(claim for claim in claims if claim.predicate is Predicate.UNREMARKABLE)
    if inquiry.asks_of_unknown or inquiry.reading.form.form not in _ASKS_FOR_CAUSE:
        return ()
    scope = question_scope(inquiry, records)
    affected = scope.affected.union(
        claim.entity for claim in reassuring
    )  # the question may name no affected entity
    is_answer = reassuring and _is_whole(scope, records) and not _is_contradicted(scope, records, affected)
    return reassuring if is_answer else ()


def _is_whole(scope: QuestionScope, records: Sequence[EvidenceRecord]) -> bool:
    """Whether all telemetry of each kind that can be compared was compared, for the time of the question."""
    looked = {
        record.tool_name
        for record in records
        if record.tool_name in DISPROVING_TOOLS
        and record.arguments.keys() <= _TIMES
        and record.projection is not None
        and record.projection.looked_at > 0
        and all(scope.is_at_its_time(record, item) for item in record.items)
    }
    available = scope.inquiry.inventory.telemetry
    return looked >= {tool for tool, kind in DISPROVING_TOOLS.items() if kind in available}


def _is_contradicted(
    scope: QuestionScope, records: Sequence[EvidenceRecord], affected: frozenset[str]
) -> bool:
    """Whether a ranking of the question found something, or another observation is clearly worse."""
    rankings = [record for record in records if scope.is_ranking_of_it(record)]
    if any(all(item.kind is not ItemKind.OVERVIEW for item in record.items) for record in rankings):
        return True
    return any(
        _contradicts(item, affected)
        for record in records
        for item in record.items
        if scope.is_at_its_time(record, item)
    )


def _contradicts(item: EvidenceItem, affected: frozenset[str]) -> bool:
    """Whether an item is clear harm: of any entity in spans, log lines and events.

    In metrics of the affected one.

    Metrics of its outgoing calls count too: when they slow down, its users wait longer. Among hundreds of
    series some always seem to move; a ranking knows how many were examined.
    """
    if item.kind is ItemKind.PLATFORM_EVENT:
        return item.attributes.get("severity") == "fault" and item.attributes.get("state") == "current"
    if item.kind is ItemKind.SIGNAL_CHANGE:
        return not affected.isdisjoint({item.entity, item.peer}) and _is_clear_harm(item)
    return item.kind in _OBSERVED and _is_clear_harm(item)


def _is_clear_harm(item: EvidenceItem) -> bool:
    """Whether an item shows clear harm, not only a hint, at the onset or before."""
    if item.kind is ItemKind.SIGNAL_CHANGE and item.number("z") < CLEAR_Z:
        return False
    return is_harm(item) or (began_earlier(item) and bool(item.attributes.get("bad")))


_OBSERVED = frozenset(
    {ItemKind.SELF_TIME, ItemKind.EDGE_GAP, ItemKind.SPAN_ERRORS, ItemKind.LOG_PATTERN, ItemKind.LOG_ORDER}
)
