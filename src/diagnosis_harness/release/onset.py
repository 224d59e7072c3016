"""When it began, as a run took it: read from the records of the tool that says so. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.release.document import OnsetUsed
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord


def onset_used(records: Iterable[EvidenceRecord]) -> OnsetUsed | None:
    """The onset that the first record with one calls used; None where no tool was asked for it."""
    for record in records:
        onsets = [item for item in record.items if item.kind is ItemKind.ONSET and item.onset_s is not None]
        used = next((item for item in onsets if item.attributes.get("used") is True), None)
        if used is not None:
            alert = next((item for item in onsets if item.attributes.get("method") == "alert"), None)
            return OnsetUsed(
                at=_at(used),
                method=str(used.attributes.get("method", "")),
                alert_at=None if alert is None or alert.onset_s == used.onset_s else _at(alert),
            )
    return None


def _at(item: EvidenceItem) -> str:
    assert item.onset_s is not None  # noqa: S101 - for the type checker: only such items are kept
    return utc_text(item.onset_s)
