"""Decides which checked claims answer a question for the cause without naming one. Pure.

The trouble may have begun before the time that was asked about, be over, follow the load, or come from
outside of what was recorded. Each of these rests on one item, and is an answer only if it is about the
question's entity and time, and no other record of the run contradicts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType

from diagnosis_harness.diagnosis.claim import Claim, Predicate
from diagnosis_harness.diagnosis.inquiry import Inquiry, OnsetOrigin
from diagnosis_harness.diagnosis.question_form import SUSPECTING, QuestionForm
from diagnosis_harness.guards.asked import COMPARING_KINDS, QuestionScope, question_scope
from diagnosis_harness.guards.harm import is_harm
from diagnosis_harness.guards.incident_time import LATE_S, ORDER_SLACK_S, is_same_time
from diagnosis_harness.guards.reassurance import has_looked_at_every_kind, is_clear_harm
from diagnosis_harness.guards.weaknesses import stands_out
from diagnosis_harness.tools.evidence import LOAD_FACTOR, EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

EARLIER_S = 300.0
"""How much earlier than the stated time a beginning must lie to correct it: people state times to five
minutes."""
WITHOUT_CAUSE = frozenset(
    {Predicate.BEGAN_BEFORE, Predicate.IS_OVER, Predicate.FOLLOWS_LOAD, Predicate.FROM_OUTSIDE}
)
"""Predicates that answer a question for the cause without naming one."""
_ASKS_FOR_CAUSE = SUSPECTING | {QuestionForm.WHY}


def claims_without_cause(
    inquiry: Inquiry, claims: Sequence[Claim], records: Sequence[EvidenceRecord]
) -> tuple[Claim, ...]:
    """The claims that may answer the question without a cause, in their order; none for other questions.

    Args:
        claims: those that passed EvidenceGuard.
    """
    if inquiry.asks_of_unknown or inquiry.reading.form.form not in _ASKS_FOR_CAUSE:
        return ()
    scope = question_scope(inquiry, records)
    return tuple(
        claim
        for claim in claims
        if claim.predicate in _HOLDS
        and _is_of_asked(claim, scope)
        and _HOLDS[claim.predicate](claim, scope, records)
    )


def _is_of_asked(claim: Claim, scope: QuestionScope) -> bool:
    """Whether it is about the affected entity, or the question names none."""
    return not scope.inquiry.affected or claim.entity in scope.affected


def _began_before(claim: Claim, scope: QuestionScope, records: Sequence[EvidenceRecord]) -> bool:
    """Whether it began well before the stated time, or before anything normal was recorded."""
    inquiry = scope.inquiry
    if inquiry.onset_s is None or claim.onset_s is None:
        return False
    if claim.window is not None:
        return _is_before_the_recording(claim, scope, records)
    if inquiry.onset_origin is OnsetOrigin.ALERT or inquiry.onset_s - claim.onset_s < EARLIER_S:
        return False  # the tools correct the time of an alert themselves
    got_worse = any(is_clear_harm(item) for item in _new_at_its_time(claim.entity, scope, records))
    return not got_worse


def _is_before_the_recording(claim: Claim, scope: QuestionScope, records: Sequence[EvidenceRecord]) -> bool:
    """Whether the stated time leaves nothing normal to compare with, and no tool compared anything."""
    inquiry = scope.inquiry
    recorded = inquiry.inventory.incident
    if recorded is None or inquiry.inventory.baseline is not None or inquiry.onset_s is None:
        return False
    is_stated = claim.onset_s is not None and is_same_time(claim.onset_s, inquiry.onset_s)
    if not is_stated or inquiry.onset_s > recorded.start_s + LATE_S:
        return False
    return all(item.kind not in COMPARING_KINDS for record in records for item in record.items)


def _is_over(claim: Claim, scope: QuestionScope, records: Sequence[EvidenceRecord]) -> bool:
    """Whether it stayed calm for as long as the trouble had lasted, and no record shows harm after it."""
    window, over_s = claim.window, claim.onset_s
    recorded = scope.inquiry.inventory.incident
    if window is None or over_s is None or recorded is None or window.end_s > recorded.end_s + LATE_S:
        return False
    if not window.start_s < over_s or window.end_s - over_s < over_s - window.start_s:
        return False
    return not any(
        is_harm(item) and (item.onset_s or 0.0) > over_s and item.window is not None
        for record in records
        for item in record.items
        if item.kind is ItemKind.SIGNAL_CHANGE and _is_part_of(claim.entity, item)
    )


def _follows_load(claim: Claim, scope: QuestionScope, records: Sequence[EvidenceRecord]) -> bool:
    """Whether requests from outside rose by enough, the entity shows trouble, and no cause stands out."""
    if not _is_large_change(claim, scope, rose=True) or _is_reported(records):
        return False
    shows = any(is_harm(item) for item in _new_at_its_time(claim.entity, scope, records))
    return shows and not _cause_stands_out(scope, records)


def _is_from_outside(claim: Claim, scope: QuestionScope, records: Sequence[EvidenceRecord]) -> bool:
    """Whether requests fell by enough, and everything was compared and nothing inside got clearly worse."""
    if not _is_large_change(claim, scope, rose=False) or _is_reported(records):
        return False
    if not has_looked_at_every_kind(scope, records) or _cause_stands_out(scope, records):
        return False
    inside = (item for record in records for item in record.items if scope.is_at_its_time(record, item))
    return not any(
        is_clear_harm(item)
        for item in inside
        if item.kind in COMPARING_KINDS - {ItemKind.CAUSE_SCORE}
        and (item.kind is not ItemKind.SIGNAL_CHANGE or _is_part_of(claim.entity, item))
    )


def _is_large_change(claim: Claim, scope: QuestionScope, *, rose: bool) -> bool:
    """Whether requests changed by the factor of a surge, at an entity that nobody recorded calls."""
    now, usual = claim.value, claim.baseline
    if now is None or usual is None or usual <= 0:
        return False
    if claim.entity in {callee for _, callee in scope.inquiry.inventory.edges}:
        return False
    return now >= LOAD_FACTOR * usual if rose else now * LOAD_FACTOR <= usual


def _is_reported(records: Sequence[EvidenceRecord]) -> bool:
    """Whether a platform reports a fault that lasts, or a series ended or stays at its limit."""
    return any(
        item.kind is ItemKind.STATE
        or (
            item.kind is ItemKind.PLATFORM_EVENT
            and item.attributes.get("severity") == "fault"
            and item.attributes.get("state") == "current"
        )
        for record in records
        for item in record.items
    )


def _cause_stands_out(scope: QuestionScope, records: Sequence[EvidenceRecord]) -> bool:
    """Whether any ranking of the question has a first candidate that may be named."""
    return any(
        stands_out(next(item for item in record.items if item.kind is ItemKind.CAUSE_SCORE))
        for record in records
        if scope.is_ranking_of_it(record)
    )


def _new_at_its_time(
    entity: str, scope: QuestionScope, records: Sequence[EvidenceRecord]
) -> Iterator[EvidenceItem]:
    """What was observed of an entity's signals that moved around the time of the question."""
    return (
        item
        for record in records
        for item in record.items
        if item.kind is ItemKind.SIGNAL_CHANGE
        and _is_part_of(entity, item)
        and scope.is_at_its_time(record, item)
        and (item.onset_s is None or scope.onset_s is None or item.onset_s >= scope.onset_s - ORDER_SLACK_S)
    )


def _is_part_of(entity: str, item: EvidenceItem) -> bool:
    return entity in (item.entity, item.attributes.get("owner"))


_HOLDS: Mapping[Predicate, Callable[[Claim, QuestionScope, Sequence[EvidenceRecord]], bool]] = (
    MappingProxyType(
        {
            Predicate.BEGAN_BEFORE: _began_before,
            Predicate.IS_OVER: _is_over,
            Predicate.FOLLOWS_LOAD: _follows_load,
            Predicate.FROM_OUTSIDE: _is_from_outside,
        }
    )
)
