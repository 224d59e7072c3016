"""Whether what a record looked at is the incident that the run was asked about."""

from __future__ import annotations

from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.kernel.window import TimeWindow

LATE_S = 60.0
"""How much later than the onset a look may begin: metrics are often recorded once a minute, and what begins
inside a minute is first seen at its end."""


def is_of_incident(window: TimeWindow | None, inquiry: Inquiry) -> bool:
    """Whether a comparison over this window speaks of the incident.

    It must hold the onset, where anybody said when that was: one that ends before says something of normal
    operation, and one that begins well after compares the incident with itself. It must lie in the incident
    recording, and never in that of the baseline. Without a window nobody can tell.
    """
    if window is None:
        return False
    held = inquiry.inventory
    if held.incident is not None and not held.incident.overlaps(window):
        return False
    if held.baseline is not None and held.baseline.covers(window):
        return False
    onset_s = inquiry.onset_s
    return onset_s is None or (window.start_s <= onset_s + LATE_S and onset_s < window.end_s)


def in_recording(window: TimeWindow | None, inquiry: Inquiry) -> TimeWindow | None:
    """The part of a window for which the source has a recording; None where it has none."""
    recorded = inquiry.inventory.incident
    if window is None or recorded is None or not recorded.overlaps(window):
        return None
    return TimeWindow(max(window.start_s, recorded.start_s), min(window.end_s, recorded.end_s))
