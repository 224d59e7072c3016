"""Masks a tool's findings: the only place where evidence is masked, between tool and projection."""

from __future__ import annotations

from dataclasses import replace

from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.kernel.masking import mask, mask_value
from diagnosis_harness.tools.evidence import EvidenceItem
from diagnosis_harness.tools.spec import ToolFindings


def mask_findings(findings: ToolFindings) -> ToolFindings:
    """The findings with every text in every item, the note and the advice on narrowing masked.

    Numbers, directions, windows and kinds are not text and stay; an item that changes keeps its id.

    Raises:
        MaskingFailed: something could not be masked; nothing of the findings may be kept then.
    """
    return replace(
        findings,
        items=tuple(_item(item) for item in findings.items),
        narrow=_text(findings.narrow),
        note=_text(findings.note),
    )


def _item(item: EvidenceItem) -> EvidenceItem:
    return replace(
        item,
        item_id=mask(item.item_id).text,
        line=mask(item.line).text,
        entity=_text(item.entity),
        peer=_text(item.peer),
        signal=_text(item.signal),
        unit=_text(item.unit),
        attributes={mask(name).text: _attribute(name, value) for name, value in item.attributes.items()},
    )


def _attribute(name: str, value: Scalar) -> Scalar:
    if not isinstance(value, str):
        return value
    masked = mask_value(value, name)
    return masked if isinstance(masked, str) else None


def _text(text: str | None) -> str | None:
    return None if text is None else mask(text).text
