"""What a draft says beside its claims: what was missing, and which time it speaks of."""

from __future__ import annotations

from collections.abc import Iterable

from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

ASKABLE = ("which service", "when it began")
"""What only the asker can supply, and no record shows to be missing. It states nothing about the system."""
NO_SOURCE = "any source"
"""That there is nothing to look into: said of a run that looked at nothing and was given no tool."""
_JUDGING = frozenset(
    {
        ItemKind.SIGNAL_CHANGE,
        ItemKind.SELF_TIME,
        ItemKind.EDGE_GAP,
        ItemKind.SPAN_ERRORS,
        ItemKind.CAUSE_SCORE,
    }
)
_SAME_INSTANT_S = 1.0


def standing_missing(
    phrases: Iterable[str], records: Iterable[EvidenceRecord], *, run_id: str
) -> tuple[str, ...]:
    """Of what a draft says was missing, what an inventory of this run says too, or only the asker can supply.

    The field is a closed vocabulary and never free text: a sentence of an agent has no way in here.
    """
    held = [record for record in records if record.run_id == run_id]
    lacking = {
        item.attributes.get("missing")
        for record in held
        for item in record.items
        if item.kind is ItemKind.INVENTORY
    }
    known = lacking.union(ASKABLE, () if held else (NO_SOURCE,))
    return tuple(dict.fromkeys(phrase for phrase in phrases if phrase in known))


def standing_window(
    window: TimeWindow | None, records: Iterable[EvidenceRecord], *, run_id: str
) -> TimeWindow | None:
    """The window of an item that compares the incident with normal, where the draft's is it to the second.

    None for any other: that of a recording, or none of this run.
    """
    if window is None:
        return None
    for record in records:
        for item in record.items if record.run_id == run_id else ():
            if item.kind in _JUDGING and item.window is not None and _is_same(window, item.window):
                return item.window
    return None


def _is_same(one: TimeWindow, other: TimeWindow) -> bool:
    return (
        abs(one.start_s - other.start_s) < _SAME_INSTANT_S and abs(one.end_s - other.end_s) < _SAME_INSTANT_S
    )
