"""Reduce a tool's findings to what a record may hold, and state what was left out."""

from __future__ import annotations

from diagnosis_harness.kernel.canonical import canonical_json
from diagnosis_harness.kernel.errors import ProjectionTooLarge
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.tools.evidence import EvidenceItem
from diagnosis_harness.tools.invocation import Projection
from diagnosis_harness.tools.spec import ProjectionBounds, ToolFindings


def project(tool_name: str, scope: str, findings: ToolFindings, bounds: ProjectionBounds) -> Projection:
    """The longest prefix of the items, strongest first, that fits the bounds.

    Items never change here: one that does not fit ends the prefix. Item ids must be unique.

    Raises:
        ProjectionTooLarge: there are items and not even the first fits.
        ValueError: two items share an id, or a value is not finite.
    """
    if len({item.item_id for item in findings.items}) != len(findings.items):
        raise ValueError("two evidence items share an id")
    kept = findings.items[: bounds.items]
    stored = _encode(tool_name, scope, findings, kept=kept)
    if len(stored) > bounds.size_bytes:
        kept = _fitting(tool_name, scope, findings, bounds)
        stored = _encode(tool_name, scope, findings, kept=kept)
    if findings.items and not kept:
        raise ProjectionTooLarge(f"the first item alone passes {bounds.size_bytes} bytes")
    omitted = _count_omitted(findings, kept)
    return Projection(
        items=tuple(kept),
        omitted=omitted,
        looked_at=findings.looked_at,
        window=findings.window,
        narrow=findings.narrow if omitted else None,
        note=findings.note,
        stored=stored,
    )


def _count_omitted(findings: ToolFindings, kept: tuple[EvidenceItem, ...]) -> int:
    return findings.left_out + len(findings.items) - len(kept)


def _fitting(
    tool_name: str, scope: str, findings: ToolFindings, bounds: ProjectionBounds
) -> tuple[EvidenceItem, ...]:
    """The longest prefix that fits, for findings that do not fit whole."""
    size = len(_encode(tool_name, scope, findings, kept=()))
    for place, item in enumerate(findings.items[: bounds.items]):
        size += len(canonical_json(item.as_json())) + 1
        if size > bounds.size_bytes:
            return findings.items[:place]
    return findings.items[: bounds.items]


def _encode(tool_name: str, scope: str, findings: ToolFindings, *, kept: tuple[EvidenceItem, ...]) -> bytes:
    window, omitted = findings.window, _count_omitted(findings, kept)
    content: dict[str, JsonValue] = {
        "tool": tool_name,
        "scope": scope,
        "window": None if window is None else [utc_text(window.start_s), utc_text(window.end_s)],
        "looked_at": findings.looked_at,
        "items": [item.as_json() for item in kept],
        "omitted": omitted,
        "narrow": findings.narrow if omitted else None,
        "note": findings.note,
    }
    return canonical_json(content)
