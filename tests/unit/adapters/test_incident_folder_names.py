"""Names as files write them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.adapters.sources.incident_folder.names import (
    join_header,
    plain_key,
    printable,
    quote,
    split_series_name,
    time_unit_of,
    unit_of_signal,
)
from diagnosis_harness.toolbox.ports import UNNAMED_ENTITY


@given(st.text())
def test_a_printable_name_can_move_no_cursor(text: str) -> None:
    """Whatever a file holds, what is shown has no control, direction mark or line break."""
    assert not {unicodedata.category(sign) for sign in printable(text)} & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


@given(st.text(), st.text())
def test_two_names_that_differ_in_what_does_not_print_stay_different(one: str, other: str) -> None:
    """Escapes are not removals: only blanks around a name are lost."""
    if one.strip() != other.strip() and "\\" not in one + other:
        assert printable(one) != printable(other)


def test_direction_marks_and_controls_become_visible() -> None:
    """The right-to-left override and the escape of a terminal are written out."""
    assert printable("pay\u202etnem\x1b[31m") == "pay\\u202etnem\\x1b[31m"


def test_other_scripts_are_left_alone() -> None:
    """Chinese, Arabic and accents print."""
    assert printable("支付-مدفوعات-café") == "支付-مدفوعات-café"


def test_a_long_cell_is_cut_in_a_sentence() -> None:
    """An error names the cell without repeating a page of it."""
    assert len(quote("x" * 10_000)) < 130


@pytest.mark.parametrize(
    ("name", "entity", "signal"),
    [
        ("checkout|latency", "checkout", "latency"),
        ("a|b|latency", "a|b", "latency"),
        ("checkout.latency", "checkout", "latency"),
        ("checkout-7d9f4-x2x.cpu_percent", "checkout-7d9f4-x2x", "cpu_percent"),
        ("eu.west.checkout.latency", "eu.west.checkout", "latency"),
        ("checkout.latency.p90", "checkout", "latency.p90"),
        ("checkout.latency.99", "checkout", "latency.99"),
        ("10.0.0.7.cpu", "10.0.0.7", "cpu"),
        ("checkout.p90", "checkout", "p90"),
        ("latency", UNNAMED_ENTITY, "latency"),
        (".latency", UNNAMED_ENTITY, ".latency"),
        ("|latency", UNNAMED_ENTITY, "latency"),
        ("checkout|", "checkout", "value"),
        ("", UNNAMED_ENTITY, "value"),
    ],
)
def test_a_wide_name_is_split_at_the_last_bar_or_the_last_dot_before_a_signal(
    name: str, entity: str, signal: str
) -> None:
    """The rule of the reference page, case by case."""
    assert split_series_name(name) == (entity, signal)


@given(st.text())
def test_any_wide_name_has_an_entity_and_a_signal(name: str) -> None:
    """The splitter never raises and never returns an empty part."""
    entity, signal = split_series_name(name)
    assert entity
    assert signal


@given(st.lists(st.text(), min_size=2, max_size=3))
def test_any_header_levels_have_an_entity_and_a_signal(levels: list[str]) -> None:
    """Joined header levels are never empty."""
    assert all(join_header(tuple(levels)))


def test_header_levels_are_entity_signal_and_statistic() -> None:
    """The statistic hangs on the signal, as in `latency_p90`."""
    assert join_header(("PetSite", "latency", "p90")) == ("PetSite", "latency_p90")


@pytest.mark.parametrize(
    ("signal", "unit"),
    [
        ("latency_ms", "ms"),
        ("latency_ms_p90", "ms"),
        ("memory_bytes", "bytes"),
        ("cpu_percent", "percent"),
        ("CpuUsageRate(%)", "percent"),
        ("LatencyP90(s)", "s"),
        ("MemoryUsage(Mi)", "Mi"),
        ("latency", None),
        ("ms", None),
        ("requests", None),
        ("token_validation_errors_per_sec", "1/s"),
        ("errors_per_second", "1/s"),
        ("errorsPerSecond", "1/s"),
        ("errors_per_second_p90", "1/s"),
        ("requests/s", "1/s"),
        ("requests per minute", "1/min"),
        ("received_bytes_per_sec", "bytes/s"),
        ("disk bytes/s", "bytes/s"),
        ("qps", "1/s"),
        ("spread_seconds", "s"),
        ("super_seconds", "s"),
    ],
)
def test_the_unit_is_read_from_the_end_of_a_signals_name(signal: str, unit: str | None) -> None:
    """A known ending or what is in brackets; `per second` is a rate and never a time."""
    assert unit_of_signal(signal) == unit


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("traceId", "trace_id"),
        ("Trace ID", "trace_id"),
        ("startTimeUnixNano", "start_time_unix_nano"),
        (" TS ", "ts"),
    ],
)
def test_columns_are_matched_whatever_their_spelling(name: str, key: str) -> None:
    """Humps, blanks and capitals do not matter."""
    assert plain_key(name) == key


def test_the_time_unit_at_the_end_of_a_column_name_is_taken_off() -> None:
    """`ts_ns` is the column `ts` in nanoseconds; a bare unit is a name."""
    assert time_unit_of("ts_ns") == ("ts", "ns")
    assert time_unit_of("startTimeUnixNano") == ("start_time_unix", "ns")
    assert time_unit_of("ms") == ("ms", None)
