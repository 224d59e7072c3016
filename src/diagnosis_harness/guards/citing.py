"""The items that a claim cites."""

from __future__ import annotations

from collections.abc import Mapping

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef
from diagnosis_harness.tools.evidence import EvidenceItem
from diagnosis_harness.tools.invocation import EvidenceRecord


def cited_items(
    claim: Claim, records: Mapping[str, EvidenceRecord]
) -> tuple[tuple[EvidenceRef, EvidenceItem], ...]:
    """The items a claim cites that exist, with their references."""
    found: list[tuple[EvidenceRef, EvidenceItem]] = []
    for ref in claim.refs:
        record = records.get(ref.tool_call_id)
        items = record.items if record else ()
        found.extend((ref, item) for item in items if item.item_id == ref.item_id)
    return tuple(found)
