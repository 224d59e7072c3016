"""Whether "nothing unusual" may be the answer to a question for the cause. Pure.

The claim rests on one ranking of the question. It answers the question only where no other record of the run
speaks against it, and where every kind of telemetry that there is was looked at as a whole.
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
"""Arguments that do not narrow what a comparison looks at."""


def reassuring_claims(
    inquiry: Inquiry, claims: Sequence[Claim], records: Sequence[EvidenceRecord]
) -> tuple[Claim, ...]:
    """The claims that nothing is unusual, where they may be the answer; else none.

    Args:
        claims: those that passed.
    """
    said = tuple(claim for claim in claims if claim.predicate is Predicate.UNREMARKABLE)
    if inquiry.asks_of_unknown or inquiry.reading.form.form not in _ASKS_FOR_CAUSE:
        return ()
    scope = question_scope(inquiry, records)
    victims = scope.victims.union(claim.entity for claim in said)  # nobody may have named who is affected
    is_answer = said and _is_whole(scope, records) and not _is_contradicted(scope, records, victims)
    return said if is_answer else ()


def _is_whole(scope: QuestionScope, records: Sequence[EvidenceRecord]) -> bool:
    """Whether each kind of telemetry that can be compared was, all of it, for the time of the question."""
    looked = {
        record.tool_name
        for record in records
        if record.tool_name in DISPROVING_TOOLS
        and record.arguments.keys() <= _TIMES
        and record.projection is not None
        and record.projection.looked_at > 0
        and all(scope.is_at_its_time(record, item) for item in record.items)
    }
    held = scope.inquiry.inventory.telemetry
    return looked >= {tool for tool, kind in DISPROVING_TOOLS.items() if kind in held}


def _is_contradicted(
    scope: QuestionScope, records: Sequence[EvidenceRecord], victims: frozenset[str]
) -> bool:
    """Whether a ranking of the question found something, or anything else that was seen is clearly worse."""
    rankings = [record for record in records if scope.is_ranking_of_it(record)]
    if any(all(item.kind is not ItemKind.OVERVIEW for item in record.items) for record in rankings):
        return True
    return any(
        _speaks_against(item, victims)
        for record in records
        for item in record.items
        if scope.is_at_its_time(record, item)
    )


def _speaks_against(item: EvidenceItem, victims: frozenset[str]) -> bool:
    """Whether an item is clear harm: in spans, log lines and events anyone's, of metrics the affected's own.

    Its calls are its own as well: what they take longer, its users wait longer. Of hundreds of series some
    always seem to move; a ranking knows how many were looked at.
    """
    if item.kind is ItemKind.PLATFORM_EVENT:
        return item.attributes.get("severity") == "fault" and item.attributes.get("state") == "current"
    if item.kind is ItemKind.SIGNAL_CHANGE:
        return not victims.isdisjoint({item.entity, item.peer}) and _is_clear_harm(item)
    return item.kind in _OBSERVED and _is_clear_harm(item)


def _is_clear_harm(item: EvidenceItem) -> bool:
    """Whether an item shows that something got worse, at the onset or before, and not by a hint alone."""
    if item.kind is ItemKind.SIGNAL_CHANGE and item.number("z") < CLEAR_Z:
        return False
    return is_harm(item) or (began_earlier(item) and bool(item.attributes.get("bad")))


_OBSERVED = frozenset(
    {ItemKind.SELF_TIME, ItemKind.EDGE_GAP, ItemKind.SPAN_ERRORS, ItemKind.LOG_PATTERN, ItemKind.LOG_ORDER}
)
