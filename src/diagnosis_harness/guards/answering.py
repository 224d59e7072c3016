"""Selects the checked claims that answer a question which does not ask for a cause. Pure.

The answer is chosen by code from claims that passed EvidenceGuard, and says no more than they do. It
reports normal behaviour only for the signals and the window that were examined, and only if no record of
the run shows the same entity getting worse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf

from diagnosis_harness.diagnosis.claim import CONCLUSIONS, Claim, EvidenceRef, Predicate
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.item_forms import LIMIT_SHARE
from diagnosis_harness.diagnosis.question_form import QuestionForm, Topic
from diagnosis_harness.guards.asked import QuestionScope, question_scope
from diagnosis_harness.guards.harm import is_harm
from diagnosis_harness.guards.incident_time import is_same_time
from diagnosis_harness.guards.support import began_earlier
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

ANSWERING_MAX = 5
"""Maximum number of claims in one answer; more would not fit into a sentence."""
CLEAR_Z = 3.0
"""Deviation, in widths of normal operation, from which a change is a finding. From two widths on it is only
a hint, and a healthy service shows hints too."""
NEVER_WELL_ERRORS = 0.05
"""Share of failures from which a service is never called healthy, however long it has failed that way."""
_MOVES = frozenset(
    {
        Predicate.CHANGED,
        Predicate.SLOWED,
        Predicate.FAILED,
        Predicate.SATURATED,
        Predicate.DROPPED,
        Predicate.NORMAL,
    }
)
_SHOWS_MOVE = _MOVES - {Predicate.NORMAL} | {Predicate.BEGAN}
_SHOWS_STATE = _MOVES | {
    Predicate.BEGAN,
    Predicate.HAPPENED,
    Predicate.LOGGED,
    Predicate.BROKE_OFF,
    Predicate.IN_STATE,
    Predicate.COUNTED,
}
"""Predicates that describe the condition of an entity. Being called or deployed is not a condition."""
_MAY_BE_WORSE = _SHOWS_STATE - {Predicate.NORMAL, Predicate.BEGAN, Predicate.IN_STATE, Predicate.COUNTED}
_LOG_TOOLS = frozenset({"search_logs", "compare_logs"})


def answering_claims(
    inquiry: Inquiry, claims: Sequence[Claim], records: Sequence[EvidenceRecord]
) -> tuple[Claim, ...]:
    """The claims that answer a question of this form, in the order in which the answer presents them.

    Empty if the form asks for a cause, if the question names an unknown entity, or if no claim answers it.

    Args:
        claims: those that passed EvidenceGuard.
    """
    read = inquiry.reading.form
    if inquiry.asks_of_unknown:
        return ()
    facts = [each for each in claims if each.predicate not in CONCLUSIONS]
    match read.form:
        case QuestionForm.HEALTH | QuestionForm.FOLLOW_UP:
            return _state_of(read.subject, inquiry, facts, records)
        case QuestionForm.COMPARE:
            each = [_state_of(name, inquiry, facts, records) for name in read.subjects]
            return tuple(claim for own in each for claim in own) if all(each) else ()
        case QuestionForm.COMPARE_TIMES if inquiry.reading.time.at_s is not None:
            at_s = inquiry.reading.time.at_s
            compared = _of(read.subject, inquiry, facts, lambda claim: _compares_at(claim, at_s))
            return tuple(compared[:ANSWERING_MAX])
        case QuestionForm.WHEN:
            began = _of(read.subject, inquiry, facts, lambda claim: claim.predicate is Predicate.BEGAN)
            return tuple(sorted(began, key=lambda claim: claim.onset_s or 0.0)[:ANSWERING_MAX])
        case QuestionForm.SHOW if read.topic is not None:
            shows, until_s = _shows(read.topic, records), inquiry.until_s
            about_subject = _of(read.subject, inquiry, facts, shows)
            before = [each for each in about_subject if until_s is None or _began(each) < until_s]
            return tuple(before[:ANSWERING_MAX])
        case _:
            return ()


def _began(claim: Claim) -> float:
    """When the claimed event happened or began; minus infinity for a claim without a time."""
    start_s = None if claim.window is None else claim.window.start_s
    return claim.onset_s if claim.onset_s is not None else start_s if start_s is not None else -inf


def state_claims(
    name: str | None, inquiry: Inquiry, claims: Iterable[Claim], records: Sequence[EvidenceRecord]
) -> tuple[Claim, ...]:
    """The claims about the condition of an entity: what got worse, otherwise what stayed normal.

    See `_state_of`.
    """
    return _state_of(name, inquiry, list(claims), records)


def claims_about(name: str | None, inquiry: Inquiry, claims: Iterable[Claim]) -> list[Claim]:
    """All claims about an entity, clear or not, earliest first.

    Includes what it logs about other entities.
    """
    names = _names(name, inquiry)
    wrote = [each for each in claims if each.predicate is Predicate.LOGGED and each.affected in names]
    own = _of(name, inquiry, claims, lambda claim: claim.predicate in _SHOWS_STATE)
    return sorted((*own, *wrote), key=lambda claim: claim.predicate is Predicate.NORMAL)


def unusual_claims(
    name: str | None, inquiry: Inquiry, claims: Iterable[Claim], records: Sequence[EvidenceRecord]
) -> list[Claim]:
    """Claims that an entity, or any entity if none is named, got clearly worse than normal."""
    items = _items(records)

    def is_unusual(claim: Claim) -> bool:
        if claim.predicate not in _MAY_BE_WORSE:
            return False
        if claim.predicate is Predicate.HAPPENED and claim.affected != "current":
            return False
        cited = (items.get(ref) for ref in claim.refs)
        return any(item is not None and is_harm(item) and _is_clear(item) for item in cited)

    return _of(name, inquiry, claims, is_unusual)


def _is_clear(item: EvidenceItem) -> bool:
    """Whether it moved as far as a finding does. An item without that number was counted, not compared."""
    z = item.attributes.get("z")
    return not isinstance(z, (int, float)) or abs(z) >= CLEAR_Z


def _is_never_well(item: EvidenceItem) -> bool:
    """Whether the level alone shows a problem, however steady it is.

    An entity that was down, failing or full all the time has not moved from its usual level.
    """
    value, kind = item.value, item.attributes.get("kind")
    if item.kind is not ItemKind.SIGNAL_CHANGE or value is None:
        return False
    share = value / 100.0 if item.unit == "percent" else value
    match kind:
        case "availability" | "traffic":
            return value <= 0.0
        case "errors":
            return share >= NEVER_WELL_ERRORS and (item.unit == "percent" or value <= 1.0)
        case "cpu" | "memory" | "disk" | "pool" | "saturation":
            return item.unit == "percent" and share >= LIMIT_SHARE
        case _:
            return False


def _state_of(
    name: str | None, inquiry: Inquiry, claims: Sequence[Claim], records: Sequence[EvidenceRecord]
) -> tuple[Claim, ...]:
    """What got clearly worse; if no claim or record of the run shows a change, what stayed normal."""
    scope = question_scope(inquiry, records)
    claims = _up_to_its_end(scope, claims, records)
    unusual = unusual_claims(name, inquiry, claims, records)
    if unusual:
        return tuple(unusual[:1])
    if name is None and not any(scope.has_looked_at_all(record) for record in records):
        return ()  # no call compared the whole window
    names = _names(name, inquiry)
    own = [item for record in records for item in record.items if item.entity in names]
    if any(is_harm(item) or _is_never_well(item) for item in own):
        return ()
    if inquiry.alert_entity in names:  # steady under an alert is not healthy
        return ()
    items = _items(records)
    moved = [each for each in claims if each.predicate in _SHOWS_MOVE and each.entity in names]
    if any(not _is_harmless_hint(each, items) for each in moved):
        return ()
    normal = _of(name, inquiry, claims, lambda claim: claim.predicate is Predicate.NORMAL)
    return tuple(normal[:ANSWERING_MAX])


def _up_to_its_end(
    scope: QuestionScope, claims: Iterable[Claim], records: Sequence[EvidenceRecord]
) -> list[Claim]:
    """The claims that cover the whole time that was asked about, not a part chosen by a policy."""
    cited = {
        EvidenceRef(record.tool_call_id, item.item_id): (record, item)
        for record in records
        for item in record.items
    }
    return [
        claim
        for claim in claims
        if all(scope.ends_with_it(*cited[ref]) for ref in claim.refs if ref in cited)
    ]


def _is_harmless_hint(claim: Claim, items: Mapping[EvidenceRef, EvidenceItem]) -> bool:
    """Whether a claim cites only small moves in the harmless direction, as healthy signals show."""
    cited = [items.get(ref) for ref in claim.refs]
    return bool(cited) and all(
        item is not None
        and not item.attributes.get("bad")
        and not began_earlier(item)
        and isinstance(item.attributes.get("z"), int | float)
        and not _is_clear(item)
        for item in cited
    )


def _of(
    name: str | None, inquiry: Inquiry, claims: Iterable[Claim], fits: Callable[[Claim], bool]
) -> list[Claim]:
    """The matching claims of an entity, once each: claims that differ only in references are equal."""
    names = None if name is None else _names(name, inquiry)
    matching = (each for each in claims if (names is None or each.entity in names) and fits(each))
    first: dict[Claim, Claim] = {}
    for each in matching:
        first.setdefault(replace(each, claim_id="", refs=(), quotes=()), each)
    return list(first.values())


def _items(records: Sequence[EvidenceRecord]) -> dict[EvidenceRef, EvidenceItem]:
    return {
        EvidenceRef(record.tool_call_id, item.item_id): item for record in records for item in record.items
    }


def _compares_at(claim: Claim, at_s: float | None) -> bool:
    """Whether a claim compares the time before `at_s` with the time after it."""
    if claim.window is None or at_s is None or claim.predicate not in _MOVES:
        return False
    return is_same_time(claim.window.start_s, at_s)


def _names(name: str | None, inquiry: Inquiry) -> frozenset[str]:
    """An entity and its instances; all known entities if no name is given."""
    if name is None:
        return frozenset(each.name for each in inquiry.inventory.entities)
    return inquiry.inventory.parts_of(name) | {name}


def _shows(topic: Topic, records: Sequence[EvidenceRecord]) -> Callable[[Claim], bool]:
    """A filter for claims about the topic to be shown."""
    tools = {record.tool_call_id: record.tool_name for record in records}
    items = _items(records)

    def is_from_logs(claim: Claim) -> bool:
        return any(tools.get(ref.tool_call_id) in _LOG_TOOLS for ref in claim.refs)

    def measures(claim: Claim, kind: str) -> bool:
        matching = (items.get(ref) for ref in claim.refs)
        return any(item is not None and item.attributes.get("kind") == kind for item in matching)

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
