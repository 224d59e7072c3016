"""Decides part by part, by the rule of its predicate, whether one evidence item supports one claim."""

from __future__ import annotations

from collections.abc import Iterator

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.item_forms import is_observed_trouble
from diagnosis_harness.diagnosis.predicate_rule import (
    Normality,
    PredicateRule,
    Second,
    Subject,
    rule_of,
)
from diagnosis_harness.guards.incident_time import is_same_time, is_same_window, speaks_of_incident
from diagnosis_harness.guards.verdict import FindingCode
from diagnosis_harness.kernel.quantity import states
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind

DIRECT_KINDS = frozenset(
    {
        ItemKind.SIGNAL_CHANGE,
        ItemKind.SELF_TIME,
        ItemKind.EDGE_GAP,
        ItemKind.SPAN_ERRORS,
        ItemKind.LOG_LINES,
        ItemKind.LOG_PATTERN,
        ItemKind.LOG_ORDER,
        ItemKind.PLATFORM_EVENT,
    }
)
"""Item kinds that are not direct observations of an entity, such as a ranking."""


def is_direct(item: EvidenceItem) -> bool:
    """Whether an item is a direct observation of an entity, unlike a ranking."""
    return item.kind in DIRECT_KINDS or is_observed_trouble(item)


NORMAL_SHARE = 0.05
"""A move that more than one normal window in twenty shows as well does not count as a move."""


def objections(claim: Claim, item: EvidenceItem) -> tuple[FindingCode, ...]:
    """The parts of the claim that the item does not support; empty if it supports all of them.

    Omitted parts are no objection: code fills them from the item when the claim is published
    (`guards.statement`). Stated parts must equal those of the item.
    """
    rule = rule_of(claim.predicate)
    if rule is None or item.kind not in rule.kinds or not rule.holds(item) or not _is_as_normal(rule, item):
        return (FindingCode.PREDICATE_NOT_SUPPORTED,)
    return tuple(_field_objections(claim, item, rule))


def time_objections(
    claim: Claim, item: EvidenceItem, inquiry: Inquiry, decided_s: float | None = None
) -> tuple[FindingCode, ...]:
    """Objections to an item whose time is not the incident's, for a claim about the incident."""
    rule = rule_of(claim.predicate)
    if rule is not None and (not rule.of_incident or speaks_of_incident(item, inquiry, decided_s)):
        return ()
    return (FindingCode.NOT_OF_INCIDENT,)


def is_normal(item: EvidenceItem) -> bool:
    """Whether a signal moved no further than in its own normal operation.

    An unknown deviation is not normal.
    """
    if began_earlier(item) or is_unsettled(item):
        return False
    if item.direction is Direction.FLAT:
        return True
    as_far, windows = item.attributes.get("as_far"), item.attributes.get("normal_windows")
    if not isinstance(as_far, int) or not isinstance(windows, int) or windows < 1:
        return False
    return as_far > NORMAL_SHARE * windows


def began_earlier(item: EvidenceItem) -> bool:
    """Whether a signal had moved before the time of the question and had not come back by then.

    Around that time it is neither normal nor new.
    """
    return item.attributes.get("began_before") is True


def is_unsettled(item: EvidenceItem) -> bool:
    """Whether a signal seems to have moved before the time of the question, possibly by chance.

    It is not normal, and does not show that anything began either.
    """
    return item.attributes.get("unsettled") is True


def is_beyond_normal(item: EvidenceItem) -> bool:
    """Whether a signal moved further around the time of the question than normal operation shows."""
    return not (is_normal(item) or began_earlier(item) or is_unsettled(item))


def subject_of(rule: PredicateRule, item: EvidenceItem) -> str | None:
    """The entity of a claim with this rule if this item supports it."""
    return item.peer if rule.subject is Subject.CALLER else item.entity


def second_of(rule: PredicateRule, item: EvidenceItem) -> str | None:
    """The second name of such a claim; None if the item has none."""
    match rule.second:
        case Second.PEER:
            return item.peer
        case Second.CALLEE:
            return item.entity
        case Second.WITHOUT:
            return _text(item, "without")
        case Second.NEXT:
            return _text(item, "next")
        case Second.STATE:
            return _text(item, "state")
        case Second.FIRST:
            return _text(item, "independent_of")
        case Second.NONE:
            return None


def _text(item: EvidenceItem, attribute: str) -> str | None:
    value = item.attributes.get(attribute)
    return value if isinstance(value, str) else None


def _is_as_normal(rule: PredicateRule, item: EvidenceItem) -> bool:
    match rule.normality:
        case Normality.BEYOND:
            return is_beyond_normal(item)
        case Normality.NOT_WITHIN:
            return not (is_normal(item) or is_unsettled(item))
        case Normality.WITHIN:
            return is_normal(item)
        case Normality.ANY:
            return True


def _field_objections(claim: Claim, item: EvidenceItem, rule: PredicateRule) -> Iterator[FindingCode]:
    if not _supports_entity(claim, item, rule):
        yield FindingCode.ENTITY_NOT_SUPPORTED
    if not _supports_second(claim, item, rule):
        yield FindingCode.AFFECTED_NOT_SUPPORTED
    if claim.signal is not None and claim.signal != item.signal:
        yield FindingCode.SIGNAL_NOT_SUPPORTED
    if not _supports_number(claim.value, claim.unit, item.value, item.unit):
        yield FindingCode.VALUE_NOT_SUPPORTED
    if not _supports_number(claim.baseline, claim.unit, item.baseline, item.unit):
        yield FindingCode.BASELINE_NOT_SUPPORTED
    if claim.unit is not None and claim.value is None and claim.baseline is None:
        yield FindingCode.UNIT_WITHOUT_NUMBER
    if not _supports_direction(claim, item, rule):
        yield FindingCode.DIRECTION_NOT_SUPPORTED
    if not _supports_window(claim.window, item.window):
        yield FindingCode.WINDOW_NOT_SUPPORTED
    if not _supports_onset(claim.onset_s, item.onset_s):
        yield FindingCode.ONSET_NOT_SUPPORTED


def _supports_entity(claim: Claim, item: EvidenceItem, rule: PredicateRule) -> bool:
    """Whether the claim names the item's entity (of a call edge the caller), or an instance's service."""
    if not claim.entity:
        return False
    if rule.subject is Subject.CALLER:
        return claim.entity == item.peer
    return claim.entity in (item.entity, item.attributes.get("owner"))


def _supports_second(claim: Claim, item: EvidenceItem, rule: PredicateRule) -> bool:
    named = second_of(rule, item)
    if claim.affected is None and named is not None:
        # A claim about a path, or about what a cause affects, is too broad if it names only one end.
        return not rule.needs_second
    return claim.affected == named


def _supports_number(
    stated: float | None, stated_unit: str | None, exact: float | None, exact_unit: str | None
) -> bool:
    if stated is None:
        return True
    return exact is not None and states(stated, stated_unit, exact, exact_unit)


def _supports_direction(claim: Claim, item: EvidenceItem, rule: PredicateRule) -> bool:
    """Whether the item moved in the direction that the predicate needs and that the claim names, if any."""
    if rule.direction is not None and item.direction is not rule.direction:
        return False
    return claim.direction is None or claim.direction is item.direction


def _supports_window(stated: TimeWindow | None, looked: TimeWindow | None) -> bool:
    if stated is None:
        return True
    return looked is not None and is_same_window(stated, looked)


def _supports_onset(stated_s: float | None, exact_s: float | None) -> bool:
    if stated_s is None:
        return True
    return exact_s is not None and is_same_time(exact_s, stated_s)
