"""The records of a run, by the ids that claims cite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Self

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef
from diagnosis_harness.tools.evidence import EvidenceItem
from diagnosis_harness.tools.invocation import EvidenceRecord


class Records:
    """Records by the id of their call, in order."""

    __slots__ = ("_by_id", "_items")

    def __init__(self, records: Iterable[EvidenceRecord]) -> None:
        self._by_id = {record.tool_call_id: record for record in records}
        self._items: dict[str, dict[str, EvidenceItem]] = {}

    @classmethod
    def of_run(cls, records: Iterable[EvidenceRecord], run_id: str) -> Self:
        """The records of one run."""
        return cls(record for record in records if record.run_id == run_id)

    def __iter__(self) -> Iterator[EvidenceRecord]:
        return iter(self._by_id.values())

    def __contains__(self, tool_call_id: str) -> bool:
        return tool_call_id in self._by_id

    def __getitem__(self, tool_call_id: str) -> EvidenceRecord:
        return self._by_id[tool_call_id]

    def get(self, tool_call_id: str) -> EvidenceRecord | None:
        """The record of a call, or None."""
        return self._by_id.get(tool_call_id)

    def item(self, ref: EvidenceRef) -> EvidenceItem | None:
        """The item that a reference points at, or None."""
        if ref.tool_call_id not in self._items:
            record = self.get(ref.tool_call_id)
            self._items[ref.tool_call_id] = {item.item_id: item for item in record.items} if record else {}
        return self._items[ref.tool_call_id].get(ref.item_id)

    def items_cited(self, claim: Claim) -> tuple[tuple[EvidenceRef, EvidenceItem], ...]:
        """The existing items that a claim cites, with their references, in order and each once."""
        found = ((ref, self.item(ref)) for ref in dict.fromkeys(claim.refs))
        return tuple((ref, item) for ref, item in found if item is not None)
