"""What is said of the changes of an incident where none of them fits it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.guards.asked import question_scope
from diagnosis_harness.guards.levels import FITTING_VERDICTS
from diagnosis_harness.kernel.language import Language, Text
from diagnosis_harness.tools.evidence import ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

NONE_FITS: Final = Text(
    en="No recorded change fits in time, place and words together ({count} weighed);"
    " one without matching words is not ruled out.",
    zh="没有一项已记录的变更在时间、位置和用词上同时相符（共比较 {count} 项）；用词不符并不排除该变更。",
)
_WEIGHS: Final = "weigh_changes"


def change_sentences(
    records: Sequence[EvidenceRecord], inquiry: Inquiry, language: Language
) -> Iterator[str]:
    """That no change fits, where all were weighed for the question's own time and victim."""
    asked = question_scope(inquiry, records)
    for record in records:
        found = record.projection
        if record.tool_name != _WEIGHS or found is None or found.omitted or not record.items:
            continue
        weighed = [item for item in record.items if item.kind is ItemKind.CHANGE_EVENT]
        if not weighed or not all(asked.is_evidence_of_it(record, item) for item in weighed):
            continue
        if not any(item.attributes.get("verdict") in FITTING_VERDICTS for item in weighed):
            yield NONE_FITS.render(language, count=found.looked_at)
            return
