"""The items that a claim cites."""

from __future__ import annotations

from collections.abc import Mapping

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef
from diagnosis_harness.tools.evidence import EvidenceItem
from diagnosis_harness.tools.invocation import EvidenceRecord


def items_cited(
    claim: Claim, records: Mapping[str, EvidenceRecord]
) -> tuple[tuple[EvidenceRef, EvidenceItem], ...]:
    """The items a claim cites that exist, with their references, in its order and each once."""
    held: dict[str, dict[str, EvidenceItem]] = {}
    found: list[tuple[EvidenceRef, EvidenceItem]] = []
    for ref in dict.fromkeys(claim.refs):
        if ref.tool_call_id not in held:
            record = records.get(ref.tool_call_id)
            items = record.items if record else ()
            held[ref.tool_call_id] = {item.item_id: item for item in items}
        item = held[ref.tool_call_id].get(ref.item_id)
        if item is not None:
            found.append((ref, item))
    return tuple(found)
