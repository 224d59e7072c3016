"""Compares numbers with units by conversion and rounding, not by closeness."""

from __future__ import annotations

from math import isclose, isfinite

_FAMILIES: tuple[dict[str, float], ...] = (
    {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
    {"B": 1.0, "bytes": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
    | {"KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3, "TiB": 1024.0**4},
    {"ratio": 1.0, "%": 0.01, "percent": 0.01},
    {"/s": 1.0, "/min": 1 / 60, "/h": 1 / 3600},
)
_LEAST_DIGITS = 2
SHOWN_DIGITS = 3
"""Significant digits of a number in a rendered sentence; a paraphrase shows at least as many."""
_MOST_DIGITS = 12


def convert(value: float, unit: str | None, to: str | None) -> float | None:
    """The value in another unit; None if the units measure different things, or one is missing."""
    if unit == to:
        return value
    if unit is None or to is None:
        return None
    for family in _FAMILIES:
        if unit in family and to in family:
            return value * family[unit] / family[to]
    return None


def is_rounding_of(stated: float, exact: float, *, digits_least: int = _LEAST_DIGITS) -> bool:
    """Whether `stated` is `exact`, or `exact` rounded to so many significant digits, or more.

    A number that is merely near is not a rounding: 3.25 does not state 3.2.
    """
    if not (isfinite(stated) and isfinite(exact)):
        return False
    if stated == exact:
        return True
    return any(
        isclose(stated, _round(exact, digits), rel_tol=1e-9, abs_tol=1e-15)
        for digits in range(digits_least, _MOST_DIGITS + 1)
    )


def states(stated: float, stated_unit: str | None, exact: float, exact_unit: str | None) -> bool:
    """Whether a stated number with its unit is a rounding of an exact one."""
    converted = convert(exact, exact_unit, stated_unit)
    return converted is not None and is_rounding_of(stated, converted)


def _round(value: float, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")
