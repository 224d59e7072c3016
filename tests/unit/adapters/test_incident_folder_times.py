"""Instants as files and settings write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.adapters.sources.incident_folder.times import (
    EARLIEST_S,
    LATEST_S,
    UNITS,
    has_zone,
    instant_s,
    is_instant,
    unit_of,
    unit_of_text,
    zone_named,
)
from diagnosis_harness.kernel.errors import InvalidInput

FIRST_DAY = datetime(1990, 1, 2, tzinfo=UTC).replace(tzinfo=None)
LAST_DAY = datetime(2099, 12, 30, tzinfo=UTC).replace(tzinfo=None)
KNOWN_S = st.floats(EARLIEST_S, LATEST_S - 1, allow_nan=False)


@given(st.text() | st.floats() | st.integers() | st.datetimes() | st.booleans() | st.none())
def test_a_time_of_the_settings_is_believed_or_refused_in_one_sentence(value: object) -> None:
    """For any text, the result is between 1990 and 2100, or an InvalidInput."""
    try:
        seconds = instant_s(value, zone=UTC, place="incident.toml")
    except InvalidInput:
        return
    assert EARLIEST_S <= seconds < LATEST_S


@given(st.text())
def test_no_zone_name_raises_anything_but_invalid_input(name: str) -> None:
    """Paths, blanks and NULs in place of a zone are refused like any other."""
    try:
        zone_named(name, place="incident.toml")
    except InvalidInput:
        return


@given(st.text())
def test_looking_at_any_cell_raises_nothing(cell: str) -> None:
    """The three looks at a cell answer for any text."""
    assert is_instant(cell) in {True, False}
    assert has_zone(cell) in {True, False}
    assert unit_of_text(cell) in {None, *UNITS}


@given(KNOWN_S, st.sampled_from(sorted(UNITS)))
def test_the_unit_of_an_epoch_number_is_found_from_its_size(seconds: float, unit: str) -> None:
    """Between 1990 and 2100 no number fits two units."""
    assert unit_of(seconds * UNITS[unit]) == unit


@pytest.mark.parametrize("number", [0.0, 60.0, 1e8, 1e11, -1.7e9, float("inf"), float("nan")])
def test_a_number_that_is_not_a_time_of_day_has_no_unit(number: float) -> None:
    """Seconds since the start of a test, dates of the far future and odd numbers are not guessed at."""
    assert unit_of(number) is None


@given(st.datetimes(FIRST_DAY, LAST_DAY), st.integers(-14 * 60, 14 * 60))
def test_a_time_with_an_offset_is_that_time(moment: datetime, minutes: int) -> None:
    """The offset that a text carries wins over the zone of the settings."""
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    seconds = instant_s(aware.isoformat(), zone=zone_named("Asia/Shanghai", place=""), place="")
    assert seconds == pytest.approx(aware.timestamp(), abs=1e-6)


def test_a_time_without_a_zone_is_read_in_the_zone_of_the_settings() -> None:
    """20:00 in Shanghai is noon in Greenwich; a fixed offset says the same."""
    noon = datetime(2024, 1, 1, 12, tzinfo=UTC).timestamp()
    for zone in ("Asia/Shanghai", "+08:00", "+0800"):
        assert instant_s("2024-01-01T20:00:00", zone=zone_named(zone, place=""), place="") == noon


@pytest.mark.parametrize(
    "value", ["2024-01-01T12:00:00Z", 1704110400, 1704110400000, "1704110400", "2024-01-01 12:00"]
)
def test_the_usual_ways_to_write_a_time_agree(value: object) -> None:
    """ISO text, epoch seconds and milliseconds, as number or text."""
    assert instant_s(value, zone=UTC, place="") == 1704110400.0
