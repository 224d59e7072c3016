"""Whether an absence is borne out: only in the scope and window of a record that found nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.guards.verdict import Finding, FindingCode
from diagnosis_harness.tools.invocation import EvidenceRecord


def absence_findings(claim: Claim, records: Mapping[str, EvidenceRecord]) -> list[Finding]:
    """Objections to an ABSENT claim whose references are known to be empty READY records.

    The record must have asked for this very entity, and for the signal where the claim names one; a claim
    with a window must lie inside the record's.
    """
    for ref in claim.refs:
        if _looked_there(claim, records[ref.tool_call_id]):
            return []
    return [Finding(FindingCode.ABSENCE_OUT_OF_SCOPE, claim.claim_id, claim.refs[0])]


def _looked_there(claim: Claim, record: EvidenceRecord) -> bool:
    if claim.value is not None or claim.baseline is not None or claim.affected is not None:
        return False
    scope = json.loads(record.scope)
    asked = scope.get("entities") or [scope.get("entity")]
    if claim.entity not in asked:
        return False
    if claim.signal is not None and claim.signal not in (scope.get("signals") or [scope.get("signal")]):
        return False
    if claim.window is None:
        return True
    looked = record.projection.window if record.projection else None
    return looked is not None and looked.covers(claim.window)
