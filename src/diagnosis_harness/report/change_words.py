"""Sentences about the changes of an incident that fits none of them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
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
CHANGE_VERDICTS: Final[Mapping[str, Text]] = MappingProxyType(
    {
        "candidate": Text(
            en="fits in time, place and words; that it set this off is not shown",
            zh="时间、位置和用词都相符；尚未证明由它引发",
        ),
        "unread": Text(
            en="came before, on the path of the calls; that it set this off is not shown",
            zh="发生在此之前，位于调用路径上；尚未证明由它引发",
        ),
        "uncompared": Text(
            en="came before, on the path of the calls, with no new log line to compare;"
            " that it set this off is not shown",
            zh="发生在此之前，位于调用路径上，没有新的日志可供比较；尚未证明由它引发",
        ),
        "no-match": Text(
            en="near in time; nothing new speaks of what it changed",
            zh="时间相近；没有新的内容涉及它所变更的部分",
        ),
        "after-the-onset": Text(en="ruled out: made after the onset", zh="已排除：发生在异常开始之后"),
        "long-before": Text(
            en="ruled out: ran for more than a day without trouble", zh="已排除：此前已正常运行一天以上"
        ),
        "not-on-the-path": Text(
            en="near in time, but not among what the affected service calls",
            zh="时间相近，但不在受影响服务的调用范围内",
        ),
        "reverted": Text(en="ruled out: taken back before the onset", zh="已排除：在异常开始之前已回退"),
    }
)
"""How a change was weighed, by the verdict of its item (`analysis.change_weight.ChangeVerdict`)."""
_WEIGHS: Final = "weigh_changes"


def change_sentences(
    records: Sequence[EvidenceRecord], inquiry: Inquiry, language: Language
) -> Iterator[str]:
    """Says that no change fits, if all were weighed for the question's own time and affected entity."""
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
