"""Which checked claims answer the form of a question that asks for no cause. Pure.

The answer is chosen by code, from claims that passed EvidenceGuard, and it says no more than they do: that
something is as usual is said of the signals and the window that were looked at, and only where no record of
the run holds anything worse of the same entity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from diagnosis_harness.diagnosis.claim import CONCLUSIONS, Claim, EvidenceRef, Predicate
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.question_form import QuestionForm, Topic
from diagnosis_harness.guards.harm import is_harm
from diagnosis_harness.guards.incident_time import is_same_time
from diagnosis_harness.tools.evidence import EvidenceItem
from diagnosis_harness.tools.invocation import EvidenceRecord

ANSWERING_MAX = 5
"""Claims of one answer: more is no sentence."""
UNUSUAL = frozenset(
    {Predicate.CHANGED, Predicate.SLOWED, Predicate.FAILED, Predicate.SATURATED, Predicate.DROPPED}
)
"""Predicates that say that something is not as usual."""
_MOVES = UNUSUAL | {Predicate.NORMAL}
_LOG_TOOLS = frozenset({"search_logs", "compare_logs"})


def answering_claims(
    inquiry: Inquiry, claims: Sequence[Claim], records: Sequence[EvidenceRecord]
) -> tuple[Claim, ...]:
    """The claims that answer the form of the question, in the order in which they are said.

    None where the form asks for a cause, where the question names somebody whom nobody knows, or where no
    claim answers it.

    Args:
        claims: those that passed.
    """
    read = inquiry.reading.form
    if inquiry.asks_of_unknown:
        return ()
    facts = [each for each in claims if each.predicate not in CONCLUSIONS]
    match read.form:
        case QuestionForm.HEALTH | QuestionForm.FOLLOW_UP if read.subject is not None:
            return _state_of(read.subject, inquiry, facts, records)
        case QuestionForm.COMPARE:
            each = [_state_of(name, inquiry, facts, records) for name in read.subjects]
            return tuple(claim for own in each for claim in own) if all(each) else ()
        case QuestionForm.COMPARE_TIMES if inquiry.reading.time.at_s is not None:
            at_s = inquiry.reading.time.at_s
            return tuple(_of(read.subject, inquiry, facts, lambda claim: _compares_at(claim, at_s)))
        case QuestionForm.WHEN:
            began = _of(read.subject, inquiry, facts, lambda claim: claim.predicate is Predicate.BEGAN)
            return tuple(sorted(began, key=lambda claim: claim.onset_s or 0.0))
        case QuestionForm.SHOW if read.topic is not None:
            shows = _shows(read.topic, records)
            return tuple(_of(read.subject, inquiry, facts, shows))
        case _:
            return ()


def state_claims(
    name: str, inquiry: Inquiry, claims: Iterable[Claim], records: Sequence[EvidenceRecord]
) -> tuple[Claim, ...]:
    """What the claims say of how an entity is: what is worse, else what stayed normal; see `_state_of`."""
    return _state_of(name, inquiry, list(claims), records)


def _state_of(
    name: str, inquiry: Inquiry, claims: Sequence[Claim], records: Sequence[EvidenceRecord]
) -> tuple[Claim, ...]:
    """What moved beyond normal; where nothing did by any record of the run, what stayed normal."""
    unusual = _of(name, inquiry, claims, lambda claim: claim.predicate in UNUSUAL)
    if unusual:
        return tuple(unusual[:1])
    names = _names(name, inquiry)
    if any(is_harm(item) for record in records for item in record.items if item.entity in names):
        return ()
    return tuple(_of(name, inquiry, claims, lambda claim: claim.predicate is Predicate.NORMAL))


def _of(
    name: str | None, inquiry: Inquiry, claims: Iterable[Claim], fits: Callable[[Claim], bool]
) -> list[Claim]:
    names = None if name is None else _names(name, inquiry)
    held = (each for each in claims if names is None or each.entity in names)
    return [each for each in held if fits(each)][:ANSWERING_MAX]


def _compares_at(claim: Claim, at_s: float | None) -> bool:
    """Whether a claim compares what came before a time with what came after it."""
    if claim.window is None or at_s is None or claim.predicate not in _MOVES:
        return False
    return is_same_time(claim.window.start_s, at_s)


def _names(name: str, inquiry: Inquiry) -> frozenset[str]:
    return inquiry.inventory.parts_of(name) | {name}


def _shows(topic: Topic, records: Sequence[EvidenceRecord]) -> Callable[[Claim], bool]:
    """Whether a claim is about what is to be shown."""
    tools = {record.tool_call_id: record.tool_name for record in records}
    items: dict[EvidenceRef, EvidenceItem] = {
        EvidenceRef(record.tool_call_id, item.item_id): item for record in records for item in record.items
    }

    def is_from_logs(claim: Claim) -> bool:
        return any(tools.get(ref.tool_call_id) in _LOG_TOOLS for ref in claim.refs)

    def measures(claim: Claim, kind: str) -> bool:
        held = (items.get(ref) for ref in claim.refs)
        return any(item is not None and item.attributes.get("kind") == kind for item in held)

    def fits(claim: Claim) -> bool:
        match topic:
            case Topic.LOGS:
                return is_from_logs(claim)
            case Topic.CHANGES:
                return claim.predicate is Predicate.DEPLOYED
            case Topic.ERRORS:
                failed = claim.predicate in (Predicate.FAILED, Predicate.DROPPED)
                return failed or is_from_logs(claim) or measures(claim, "errors")
            case Topic.LATENCY:
                return claim.predicate is Predicate.SLOWED or measures(claim, "latency")
            case Topic.ANY:
                return True

    return fits
