"""Numbers with units: conversion and rounding, never closeness."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from diagnosis_harness.kernel.quantity import convert, is_rounding_of, states

exact_values = st.floats(min_value=1e-6, max_value=1e9, allow_nan=False)


@given(exact_values, st.integers(2, 10))
def test_every_rounding_to_two_or_more_digits_states_the_value(exact: float, digits: int) -> None:
    """However the number is rounded, the claim passes."""
    assert is_rounding_of(float(f"{exact:.{digits - 1}e}"), exact)


@given(exact_values, st.floats(1.06, 3.0))
def test_a_number_six_percent_off_never_states_the_value(exact: float, factor: float) -> None:
    """Rounding to two digits moves a number by five percent at most."""
    assert not is_rounding_of(exact * factor, exact)
    assert not is_rounding_of(exact / factor, exact)


@given(exact_values, st.integers(3, 8), st.sampled_from([-1, 1]))
def test_the_neighbour_in_the_last_digit_is_another_number(exact: float, digits: int, step: int) -> None:
    """One unit in the last stated digit away from the rounding is an invention."""
    rounded = f"{exact:.{digits - 1}e}"
    mantissa, exponent = rounded.split("e")
    neighbour = float(f"{float(mantissa) + step * 10.0 ** (1 - digits):.{digits - 1}f}e{exponent}")
    assume(all(float(f"{exact:.{d - 1}e}") != neighbour for d in range(2, 13)))
    assert not is_rounding_of(neighbour, exact)


@pytest.mark.parametrize("stated", [float("nan"), float("inf")])
def test_no_number_is_no_rounding(stated: float) -> None:
    """NaN and infinity state nothing, not even themselves."""
    assert not is_rounding_of(stated, 1.0)
    assert not is_rounding_of(stated, stated)


@pytest.mark.parametrize(
    ("stated", "unit", "exact", "exact_unit", "same"),
    [
        (3.2, "s", 3204.0, "ms", True),
        (1.4, "GB", 1.398e9, "B", True),
        (93.0, "%", 0.934, "ratio", True),
        (3.2, "s", 3204.0, "B", False),
        (3.2, None, 3.2, "s", False),
        (3.2, None, 3.2, None, True),
        (0.0, "s", 0.0, "ms", True),
        (5.0, "widgets", 5.0, "widgets", True),
    ],
)
def test_units_are_converted_inside_a_family_only(
    stated: float, unit: str | None, exact: float, exact_unit: str | None, same: bool
) -> None:
    """A number in another family's unit, or without one, says something else."""
    assert states(stated, unit, exact, exact_unit) is same


@given(exact_values, st.sampled_from(["ns", "us", "ms", "s", "min", "h"]))
def test_conversion_there_and_back_is_the_same_number(value: float, unit: str) -> None:
    """No unit loses more than floating point does."""
    there = convert(value, "s", unit)
    assert there is not None
    back = convert(there, unit, "s")
    assert back == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("unit", "base", "factor"),
    [
        ("ns", "s", 1e-9),
        ("us", "s", 1e-6),
        ("µs", "s", 1e-6),
        ("ms", "s", 1e-3),
        ("min", "s", 60.0),
        ("h", "s", 3_600.0),
        ("bytes", "B", 1.0),
        ("kB", "B", 1e3),
        ("KB", "B", 1e3),
        ("MB", "B", 1e6),
        ("GB", "B", 1e9),
        ("TB", "B", 1e12),
        ("KiB", "B", 1_024.0),
        ("MiB", "B", 1_048_576.0),
        ("GiB", "B", 1_073_741_824.0),
        ("TiB", "B", 1_099_511_627_776.0),
        ("%", "ratio", 0.01),
        ("percent", "ratio", 0.01),
        ("/min", "/s", 1 / 60),
        ("/h", "/s", 1 / 3_600),
    ],
)
def test_a_unit_is_exactly_so_much(unit: str, base: str, factor: float) -> None:
    """A kibibyte is 1,024 bytes, and neither 1,000 nor 1,025: a claim in it states what the item says."""
    assert convert(1.0, unit, base) == pytest.approx(factor, rel=1e-15)
    assert states(1.2345, unit, 1.2345 * factor, base)
    for other in (factor * 1.024, factor / 1.024, factor * 1.001, factor * 0.999):
        assert not states(1.2345, unit, 1.2345 * other, base)
