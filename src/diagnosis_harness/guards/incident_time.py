"""Decides whether a record's window is that of the incident the run was asked about."""

from __future__ import annotations

from diagnosis_harness.diagnosis.inquiry import Inquiry, OnsetOrigin
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind

EARLY_S = 3_600.0
"""How long before the stated time an incident may have begun: alerts fire late, and an incident is judged
over
one hour."""

LATE_S = 60.0
"""How much later than the onset a call's window may begin: metrics are often recorded once a minute, and
what
begins within a minute first appears at its end."""

ORDER_SLACK_S = 60.0
"""How much later than its effect a cause may seem to begin: an onset is accurate to one or two sampling
steps."""

SAME_TIME_S = 1.0
"""Times are written to the second, so two times that differ by less are equal."""

REPORTED_S = 86_400.0
"""A trouble reported for a day before the onset without doing harm did not start the incident."""


def is_same_time(one_s: float, other_s: float) -> bool:
    """Whether two times are equal at the precision in which they are written."""
    return abs(one_s - other_s) < SAME_TIME_S


def is_same_window(one: TimeWindow, other: TimeWindow) -> bool:
    """Whether two windows are equal at the precision in which they are written."""
    return is_same_time(one.start_s, other.start_s) and is_same_time(one.end_s, other.end_s)


def speaks_of_incident(item: EvidenceItem, inquiry: Inquiry, decided_s: float | None = None) -> bool:
    """Whether an item is about the incident.

    An estimated onset has no window, but must lie near the incident.
    """
    if item.kind is ItemKind.ONSET:
        asked_s = inquiry.onset_s
        if asked_s is None or item.onset_s is None:
            return item.onset_s is not None
        return asked_s - EARLY_S <= item.onset_s <= asked_s + LATE_S
    return is_of_incident(item.window, inquiry, decided_s)


def lasts_into(reported: EvidenceItem, onset_s: float) -> bool:
    """Whether a platform's report lasted until the onset or began within the hour that is judged."""
    seen = reported.window
    if seen is None or not onset_s - REPORTED_S <= seen.start_s <= onset_s + EARLY_S:
        return False
    return reported.attributes.get("state") == "current" or seen.end_s >= onset_s - LATE_S


def is_of_incident(window: TimeWindow | None, inquiry: Inquiry, decided_s: float | None = None) -> bool:
    """Whether a comparison over this window is about the incident.

    The window must contain the onset if one was stated: a window that ends earlier describes normal
    operation, and one that begins well after it compares the incident with itself. It must lie in the
    incident recording, or, if there is none, outside the baseline recording, whose clock may cover the same
    hours. Without a window this cannot be decided. An alert may fire after the end of the recording: then a
    window that reaches the end of the recording counts. `decided_s` is the onset that the run decided on,
    see `decide_onset`: a window that ends before a late alert still counts, and one that begins with a late
    alert, minutes after the onset, does not.
    """
    if window is None:
        return False
    inventory = inquiry.inventory
    if inventory.incident is not None:
        if not inventory.incident.overlaps(window):
            return False
    elif inventory.baseline is not None and inventory.baseline.covers(window):
        return False
    onset_s = inquiry.onset_s if decided_s is None else decided_s
    if onset_s is None:
        return True
    if inquiry.onset_origin is OnsetOrigin.ALERT and inventory.incident is not None:
        onset_s = min(onset_s, inventory.incident.end_s - LATE_S)
    return window.start_s <= onset_s + LATE_S and onset_s < window.end_s


def in_recording(window: TimeWindow | None, inquiry: Inquiry) -> TimeWindow | None:
    """The part of a window for which the source has a recording; None if it has none."""
    recorded = inquiry.inventory.incident
    if window is None or recorded is None or not recorded.overlaps(window):
        return None
    return TimeWindow(max(window.start_s, recorded.start_s), min(window.end_s, recorded.end_s))
