"""Decides whether an absence is supported: only a record that searched that place and time can support it."""

from __future__ import annotations

from dataclasses import replace

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.records import Records
from diagnosis_harness.guards.absence_rule import AbsenceRule, absence_rule
from diagnosis_harness.guards.incident_time import SAME_TIME_S, in_recording, is_of_incident
from diagnosis_harness.guards.verdict import Finding, FindingCode
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.invocation import EvidenceRecord, Projection

_NOT_OF_AN_ABSENCE = ("baseline", "affected", "direction", "onset_s")
_OF_THE_WINDOW = frozenset({"start", "end", "onset", "limit"})
"""Arguments that the searched window already covers, or that do not affect an empty answer."""


def absence_findings(
    claim: Claim, records: Records, inquiry: Inquiry, onset_s: float | None
) -> list[Finding]:
    """Return the objections to an ABSENT claim whose references point to empty READY records.

    At least one record must come from a tool whose empty answer means absence. It must have searched at
    least one thing and have asked for exactly this entity, which the telemetry must contain. The claim must
    also name what was searched for; otherwise it would deny more than was searched.
    """
    nearest: FindingCode | None = None
    for ref in claim.refs:
        code = _objection(claim, records[ref.tool_call_id], inquiry, onset_s)
        if code is None:
            return []
        nearest = nearest or code
    return [Finding(nearest or FindingCode.ABSENCE_OUT_OF_SCOPE, claim.claim_id, claim.refs[0])]


def state_absence(claim: Claim, records: Records, inquiry: Inquiry, onset_s: float | None) -> Claim | None:
    """The absence as published: what was searched, how much of it and when. None if no record supports it."""
    for ref in claim.refs:
        record = records.get(ref.tool_call_id)
        rule = None if record is None else absence_rule(record.tool_name)
        if record is None or record.projection is None or rule is None:
            continue
        if _objection(claim, record, inquiry, onset_s) is None:
            return replace(
                claim,
                refs=(ref,),
                quotes=(),
                value=float(record.projection.looked_at),
                unit=rule.looked.value,
                window=in_recording(record.projection.window, inquiry),
            )
    return None


def _objection(
    claim: Claim, record: EvidenceRecord, inquiry: Inquiry, onset_s: float | None
) -> FindingCode | None:
    rule, found = absence_rule(record.tool_name), record.projection
    if rule is None or found is None or any(getattr(claim, name) is not None for name in _NOT_OF_AN_ABSENCE):
        return FindingCode.ABSENCE_OUT_OF_SCOPE
    if found.looked_at <= 0 or rule.telemetry not in inquiry.inventory.telemetry:
        return FindingCode.NOTHING_LOOKED_AT
    if not _is_known(claim.entity, rule, inquiry):
        return FindingCode.NAME_NOT_KNOWN
    sought = _is_what_was_sought(claim, record, rule) and _is_counted_right(claim, found, rule)
    if not sought or not _is_inside(claim.window, found.window, rule, inquiry, onset_s=onset_s):
        return FindingCode.ABSENCE_OUT_OF_SCOPE
    return None


def _is_known(entity: str, rule: AbsenceRule, inquiry: Inquiry) -> bool:
    """Whether the telemetry knows exactly this name, with such data for it or one of its instances."""
    inventory = inquiry.inventory
    if not inventory.knows(entity):
        return False
    if not rule.held_by_entity:
        return True
    names = {entity} | inventory.parts_of(entity)
    return any(rule.telemetry in each.telemetry for each in inventory.entities if each.name in names)


def _is_what_was_sought(claim: Claim, record: EvidenceRecord, rule: AbsenceRule) -> bool:
    scope = record.arguments
    if scope.keys() - {rule.entity, rule.sought} - _OF_THE_WINDOW:
        return False  # the argument narrows the search in a way that the sentence does not show
    if scope.get(rule.entity) not in (claim.entity, [claim.entity]):
        return False  # the record counts everything its call named, so the call must name only this entity
    return claim.signal == (scope.get(rule.sought) if rule.sought else None)


def _is_counted_right(claim: Claim, found: Projection, rule: AbsenceRule) -> bool:
    """Whether the stated amount searched is right. A published absence states it; a draft may omit it."""
    value_fits = claim.value is None or claim.value == found.looked_at
    return value_fits and claim.unit in (None, rule.looked.value)


def _is_inside(
    stated: TimeWindow | None,
    looked: TimeWindow | None,
    rule: AbsenceRule,
    inquiry: Inquiry,
    *,
    onset_s: float | None,
) -> bool:
    """Whether the record searched a recorded window that contains the claim's window, if it has one."""
    recorded = in_recording(looked, inquiry)
    if recorded is None or (rule.compares and not is_of_incident(looked, inquiry, onset_s)):
        return False
    if stated is None:
        return True
    return recorded.start_s - SAME_TIME_S < stated.start_s and stated.end_s < recorded.end_s + SAME_TIME_S
