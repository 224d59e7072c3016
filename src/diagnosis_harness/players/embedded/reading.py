"""What an embedded player reads out of the records of a run: no source, no statistics of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from diagnosis_harness.diagnosis.claim import EvidenceRef
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

_NEEDS: dict[str, str] = {
    "find_changed_signals": "metrics",
    "compare_spans": "spans",
    "list_changes": "changes",
}
"""Tools that are worth a call only where the inventory names their kind of telemetry."""


@dataclass(frozen=True, slots=True)
class Found:
    """An item with the record that holds it."""

    record: EvidenceRecord
    item: EvidenceItem

    @property
    def ref(self) -> EvidenceRef:
        """The reference to the item."""
        return EvidenceRef(self.record.tool_call_id, self.item.item_id)


class Reading:
    """The records of a run, by what they say."""

    def __init__(self, records: Sequence[EvidenceRecord]) -> None:
        self.records = tuple(records)
        self._found = tuple(Found(record, item) for record in records for item in record.items)

    def of_kind(self, *kinds: ItemKind) -> tuple[Found, ...]:
        """All items of these kinds, in the order of the records, strongest first inside each."""
        return tuple(found for found in self._found if found.item.kind in kinds)

    def worth_asking(self, tool_name: str) -> bool:
        """Whether the inventory, where there is one, names the telemetry this tool looks at."""
        need = _NEEDS.get(tool_name)
        held = {found.item.attributes.get("telemetry") for found in self.of_kind(ItemKind.INVENTORY)}
        return need is None or not held - {None} or need in held

    def candidates(self) -> tuple[Found, ...]:
        """The last ranking of causes, best first."""
        ranked = self.of_kind(ItemKind.CAUSE_SCORE)
        last = ranked[-1].record if ranked else None
        return tuple(found for found in ranked if found.record is last)

    def about(self, entity: str, *kinds: ItemKind) -> tuple[Found, ...]:
        """Items about an entity or a part of it, strongest first."""
        return _by_score(
            found
            for found in self.of_kind(*kinds)
            if entity in (found.item.entity, found.item.attributes.get("owner"))
        )

    def strongest_signal(self, entity: str) -> EvidenceItem | None:
        """The signal of an entity that changed most to the harm; of any direction where none did harm."""
        changes = [found.item for found in self.about(entity, ItemKind.SIGNAL_CHANGE)]
        harmful = [item for item in changes if item.attributes.get("bad")]
        return next(iter(harmful or changes), None)


def _by_score(found: Iterable[Found]) -> tuple[Found, ...]:
    return tuple(sorted(found, key=lambda each: -(each.item.score or 0.0)))


def is_harm(item: EvidenceItem) -> bool:
    """Whether an item says that something got worse."""
    if item.kind in (ItemKind.SELF_TIME, ItemKind.EDGE_GAP, ItemKind.SPAN_ERRORS):
        return item.direction is Direction.UP
    return bool(item.attributes.get("bad"))
