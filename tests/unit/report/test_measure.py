"""Numbers are rounded as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.report.measure import measure, measures, times


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0, "s", "0 s"),
        (1.2e-7, "s", "120 ns"),
        (0.00085, "s", "850 µs"),
        (0.9997, "s", "1 s"),
        (3.204, "s", "3.2 s"),
        (90.0, "s", "90 s"),
        (150.0, "s", "2.5 min"),
        (7300.0, "s", "2.03 h"),
        (1500.0, "ms", "1.5 s"),
        (2_500.0, "us", "2.5 ms"),
        (1.4e9, "bytes", "1.4 GB"),
        (512.0, "MB", "512 MB"),
        (2.0, "GiB", "2.15 GB"),
        (12.3456, "percent", "12.3%"),
        (0.12, "ratio", "12%"),
        (3.5, "rps", "3.5/s"),
        (1_234_567.0, "count", "1,234,567"),
        (5.0, "cores", "5 cores"),
        (-3.4, "s", "-3.4 s"),
        (0.00002, None, "2e-05"),
        (1e12, None, "1e+12"),
        (float("nan"), "s", "?"),
        (float("inf"), "s", "?"),
    ],
)
def test_a_value_is_written_at_the_unit_that_fits(value: float, unit: str | None, text: str) -> None:
    """Three digits that count, and no unit a person must convert."""
    assert measure(value, unit) == text


@pytest.mark.parametrize(
    ("baseline", "value", "unit", "pair"),
    [
        (850.1, 850.2, "ms", ("850.1 ms", "850.2 ms")),
        (0.85, 3.2, "s", ("850 ms", "3.2 s")),
        (4.0, 4.0, "s", ("4 s", "4 s")),
    ],
)
def test_two_different_values_never_read_the_same(
    baseline: float, value: float, unit: str, pair: tuple[str, str]
) -> None:
    """`rose from 850 ms to 850 ms` would be nonsense."""
    assert measures(baseline, value, unit) == pair


@pytest.mark.parametrize(
    ("baseline", "value", "text"),
    [(0.25, 3.0, "12"), (1.0, 1.4, None), (0.0, 5.0, None), (-1.0, 5.0, None), (4.0, 2.0, None)],
)
def test_a_factor_is_said_only_where_it_means_something(
    baseline: float, value: float, text: str | None
) -> None:
    """No factor over zero, none for a small rise, none for a fall."""
    assert times(baseline, value) == text


@given(
    value=st.floats(min_value=1e-12, max_value=1e15),
    unit=st.sampled_from(["s", "ms", "bytes", "MB", "percent", "ratio", "count", "rps", "widgets", None]),
)
def test_rounding_keeps_the_size(value: float, unit: str | None) -> None:
    """What is read back is within half a percent of what was written."""
    scale = {
        "ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0,
        "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
    }  # fmt: skip
    given_size = value * {"ms": 1e-3, "MB": 1e6, "ratio": 100.0}.get(unit or "", 1.0)

    number, _, name = measure(value, unit).removesuffix("%").removesuffix("/s").partition(" ")

    assert float(number.replace(",", "")) * scale.get(name, 1.0) == pytest.approx(given_size, rel=0.0051)


@pytest.mark.parametrize("value", [0.0, -0.0, 5e-324, -5e-324, 1e-310, -1e-310])
@pytest.mark.parametrize(
    ("unit", "text"), [("s", "0 s"), ("B", "0 B"), ("ratio", "0%"), ("rps", "0/s"), (None, "0")]
)
def test_zero_has_no_sign(value: float, unit: str | None, text: str) -> None:
    """Nor has a number that is too small to be one."""
    assert measure(value, unit) == text


@pytest.mark.parametrize(
    ("baseline", "value", "text"),
    [
        (1.0, 1.49, None),
        (1.0, 1.499, None),
        (1.0, 1.5, "1.5"),
        (1.0, 9_999.0, "10,000"),
        (1.0, 10_000.0, None),
        (0.0, 1.0, None),
        (-1.0, 2.0, None),
        (5e-324, 1.0, None),
        (0.95, 1.551, "1.6"),
        (1.049, 1.551, None),
    ],
)
def test_how_many_times_is_said_of_the_exact_numbers(baseline: float, value: float, text: str | None) -> None:
    """From one and a half on, and never of two numbers that were rounded first."""
    assert times(baseline, value) == text


@given(st.floats(1e-3, 1e9), st.sampled_from(["s", "ratio", "bytes", "rps", None]))
def test_two_numbers_that_differ_are_distinguished(value: float, unit: str | None) -> None:
    """Whether they differ in the first or the twelfth digit; two that print alike are one to a reader."""
    before, now = measures(value, value * (1 + 1e-11), unit)

    assert before != now


@pytest.mark.parametrize("value", [1.7e308, -1.7e308])
def test_a_percentage_beyond_all_numbers_is_written(value: float) -> None:
    """An agent may name any number; a ratio of it shown in percent must not end the run."""
    assert measure(value, "ratio").startswith("-∞" if value < 0 else "∞")
