"""Numbered citations: the same piece of evidence has one number everywhere in a report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from diagnosis_harness.diagnosis.claim import EvidenceRef
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.report.document import RecordEntry, RunDocument

Item: TypeAlias = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Citations:
    """Numbers and evidence behind them.

    Attributes:
        numbers: from 1, in the order in which they are cited.
        records: by tool call id.
        items: the stored items, read back from the stored bytes; a reference to a whole record has none.
    """

    numbers: Mapping[EvidenceRef, int]
    records: Mapping[str, RecordEntry]
    items: Mapping[EvidenceRef, Item]

    def marks(self, refs: Iterable[EvidenceRef]) -> str:
        """`[1][3]` for the references, in their own order and without repeats."""
        return "".join(f"[{number}]" for number in dict.fromkeys(self.numbers[ref] for ref in refs))


def number(document: RunDocument, refs: Iterable[EvidenceRef]) -> Citations:
    """Number references in the order of their first citation."""
    return Citations(
        numbers={ref: place for place, ref in enumerate(dict.fromkeys(refs), start=1)},
        records={record.tool_call_id: record for record in document.records},
        items={
            EvidenceRef(record.tool_call_id, str(item["item_id"])): item
            for record in document.records
            for item in _items(record)
        },
    )


def _items(record: RecordEntry) -> list[Item]:
    if record.stored is None:
        return []
    content = json.loads(record.stored)
    items = content.get("items", []) if isinstance(content, dict) else []
    return [item for item in items if isinstance(item, dict) and "item_id" in item]
