"""Whether an absence is borne out: only in the scope and window of a record that found nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.guards.candidates import asked_for
from diagnosis_harness.guards.verdict import Finding, FindingCode
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.invocation import EvidenceRecord

_NOT_OF_AN_ABSENCE = ("value", "baseline", "unit", "affected", "direction", "onset_s")


def absence_findings(claim: Claim, records: Mapping[str, EvidenceRecord]) -> list[Finding]:
    """Objections to an ABSENT claim whose references are known to be empty READY records.

    The record must have asked for this very entity, and the claim must name what was sought of it: a denial
    without that would be wider than the question. A claim with a window must lie inside the record's.
    """
    for ref in claim.refs:
        if _looked_there(claim, records[ref.tool_call_id]):
            return []
    return [Finding(FindingCode.ABSENCE_OUT_OF_SCOPE, claim.claim_id, claim.refs[0])]


def window_of_absence(claim: Claim, records: Mapping[str, EvidenceRecord]) -> TimeWindow | None:
    """The window in which the record looked that bears an ABSENT claim; None where it is not known."""
    for ref in claim.refs:
        record = records.get(ref.tool_call_id)
        if record is not None and record.projection is not None and _looked_there(claim, record):
            return record.projection.window
    return None


def _looked_there(claim: Claim, record: EvidenceRecord) -> bool:
    if any(getattr(claim, name) is not None for name in _NOT_OF_AN_ABSENCE):
        return False
    if claim.entity not in asked_for(record) or not _was_sought(claim, record):
        return False
    if claim.window is None:
        return True
    looked = record.projection.window if record.projection else None
    return looked is not None and looked.covers(claim.window)


def _was_sought(claim: Claim, record: EvidenceRecord) -> bool:
    """The claim's signal is one that was asked for, or the text that was searched; without any, none was."""
    scope = json.loads(record.scope)
    sought = scope.get("signals") or [scope[name] for name in ("signal", "text") if scope.get(name)]
    return claim.signal in sought if sought else claim.signal is None
