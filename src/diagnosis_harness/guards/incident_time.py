"""Whether the window of a record is that of the incident that the run was asked about."""

from __future__ import annotations

from diagnosis_harness.diagnosis.inquiry import Inquiry, OnsetOrigin
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind

EARLY_S = 3_600.0
"""How long before the stated time an incident may have begun: an alert fires late, and an hour is all that is
judged of one."""

LATE_S = 60.0
"""How much later than the onset a look may begin: metrics are often recorded once a minute, and what begins
inside a minute is first seen at its end."""

ORDER_SLACK_S = 60.0
"""How much later than its effect a cause may seem to begin: onsets are known to a sampling step or two."""

SAME_TIME_S = 1.0
"""Times are written to the second; two that differ by less are the same."""

REPORTED_S = 86_400.0
"""What a platform reported for a day before the onset without harm is not what began it."""


def is_same_time(one_s: float, other_s: float) -> bool:
    """Whether two times are the same, as they are written."""
    return abs(one_s - other_s) < SAME_TIME_S


def is_same_window(one: TimeWindow, other: TimeWindow) -> bool:
    """Whether two windows are the same, as they are written."""
    return is_same_time(one.start_s, other.start_s) and is_same_time(one.end_s, other.end_s)


def speaks_of_incident(item: EvidenceItem, inquiry: Inquiry, decided_s: float | None = None) -> bool:
    """Whether what an item says is about the incident; an estimated onset has no window, and is near it."""
    if item.kind is ItemKind.ONSET:
        asked_s = inquiry.onset_s
        if asked_s is None or item.onset_s is None:
            return item.onset_s is not None
        return asked_s - EARLY_S <= item.onset_s <= asked_s + LATE_S
    return is_of_incident(item.window, inquiry, decided_s)


def lasts_into(reported: EvidenceItem, onset_s: float) -> bool:
    """Whether what a platform reported lasted at an onset, or began within the hour that is judged of it."""
    seen = reported.window
    if seen is None or not onset_s - REPORTED_S <= seen.start_s <= onset_s + EARLY_S:
        return False
    return reported.attributes.get("state") == "current" or seen.end_s >= onset_s - LATE_S


def is_of_incident(window: TimeWindow | None, inquiry: Inquiry, decided_s: float | None = None) -> bool:
    """Whether a comparison over this window speaks of the incident.

    It must hold the onset, where anybody said when that was: one that ends before says something of normal
    operation, and one that begins well after compares the incident with itself. It must lie in the incident
    recording; where there is none, not in that of the baseline, whose clock may run over the same hours.
    Without a window nobody can tell. An alert may be raised after the last instant that was recorded: a
    window that reaches the end of the recording speaks of it. `decided_s` is the onset that the run decided
    on, see `decide_onset`: lines that stop before an alert fired are of the incident all the same, and one
    that begins with the alert, minutes after its onset, compares the incident with itself.
    """
    if window is None:
        return False
    held = inquiry.inventory
    if held.incident is not None:
        if not held.incident.overlaps(window):
            return False
    elif held.baseline is not None and held.baseline.covers(window):
        return False
    onset_s = inquiry.onset_s if decided_s is None else decided_s
    if onset_s is None:
        return True
    if inquiry.onset_origin is OnsetOrigin.ALERT and held.incident is not None:
        onset_s = min(onset_s, held.incident.end_s - LATE_S)
    return window.start_s <= onset_s + LATE_S and onset_s < window.end_s


def in_recording(window: TimeWindow | None, inquiry: Inquiry) -> TimeWindow | None:
    """The part of a window for which the source has a recording; None where it has none."""
    recorded = inquiry.inventory.incident
    if window is None or recorded is None or not recorded.overlaps(window):
        return None
    return TimeWindow(max(window.start_s, recorded.start_s), min(window.end_s, recorded.end_s))
