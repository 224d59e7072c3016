"""Whether a comparison over a window is about the incident in question."""

from __future__ import annotations

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.inquiry import OnsetOrigin
from diagnosis_harness.guards.incident_time import LATE_S, is_of_incident, is_same_time, lasts_into
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind

START_S = 1_704_117_900.0
RECORDED = TimeWindow(START_S - 3_600.0, START_S + 900.0)
LOOKED = TimeWindow(START_S, RECORDED.end_s)


@pytest.mark.parametrize("late_s", [0.0, 30.0, 600.0])
def test_an_alert_after_the_last_time_is_about_what_the_recording_ends_with(late_s: float) -> None:
    """An alert fires late: a recording that ends just before it holds the incident all the same."""
    at_s = RECORDED.end_s + late_s
    alerted = inquiry(alert_entity="checkout", alert_at_s=at_s, incident=RECORDED)
    before = TimeWindow(START_S - 1_800.0, START_S - 600.0)

    assert is_of_incident(LOOKED, alerted)
    assert not is_of_incident(before, alerted)


def test_an_onset_that_somebody_states_lies_inside_the_window() -> None:
    """What the asker says is not bent to fit the data."""
    stated = inquiry(onset_s=RECORDED.end_s + 30.0, origin=OnsetOrigin.ASKED, incident=RECORDED)

    assert not is_of_incident(LOOKED, stated)


@pytest.mark.parametrize(("late_s", "holds"), [(LATE_S, True), (LATE_S + 1.0, False)])
def test_a_look_that_begins_well_after_the_onset_compares_the_incident_with_itself(
    late_s: float, *, holds: bool
) -> None:
    """A minute is how late metrics may show what began."""
    asked = inquiry(onset_s=START_S - late_s, incident=RECORDED)

    assert is_of_incident(LOOKED, asked) is holds


@pytest.mark.parametrize(("apart_s", "same"), [(0.0, True), (0.999, True), (1.0, False), (-1.0, False)])
def test_times_that_are_written_to_the_second_are_equal_within_one(apart_s: float, *, same: bool) -> None:
    """On both sides of the limit."""
    assert is_same_time(START_S, START_S + apart_s) is same


@pytest.mark.parametrize(("before_s", "lasts"), [(86_400.0, True), (86_401.0, False)])
def test_what_was_reported_for_more_than_a_day_before_the_onset_did_not_start_it(
    before_s: float, *, lasts: bool
) -> None:
    """Even if it is still reported."""
    report = EvidenceItem(
        "p1",
        ItemKind.PLATFORM_EVENT,
        "node-3 reports disk pressure",
        window=TimeWindow(START_S - before_s, START_S + 60.0),
        attributes={"severity": "fault", "state": "current"},
    )
    assert lasts_into(report, START_S) is lasts
