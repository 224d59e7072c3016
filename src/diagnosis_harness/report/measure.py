"""Formats numbers for people: three significant digits, in a unit of fitting size."""

from __future__ import annotations

from itertools import pairwise
from math import floor, isfinite, log10
from sys import float_info

# unit in the data → (unit at the start of its ladder, factor to it)
_UNITS = {
    "s": ("s", 1.0),
    "sec": ("s", 1.0),
    "seconds": ("s", 1.0),
    "ms": ("s", 1e-3),
    "milliseconds": ("s", 1e-3),
    "us": ("s", 1e-6),
    "µs": ("s", 1e-6),
    "microseconds": ("s", 1e-6),
    "ns": ("s", 1e-9),
    "bytes": ("B", 1.0),
    "byte": ("B", 1.0),
    "B": ("B", 1.0),
    "KB": ("B", 1e3),
    "kb": ("B", 1e3),
    "MB": ("B", 1e6),
    "mb": ("B", 1e6),
    "GB": ("B", 1e9),
    "gb": ("B", 1e9),
    "KiB": ("B", 1024.0),
    "MiB": ("B", 1024.0**2),
    "GiB": ("B", 1024.0**3),
    "percent": ("%", 1.0),
    "%": ("%", 1.0),
    "ratio": ("%", 100.0),
    "share": ("%", 100.0),
}
_LADDERS = {
    "s": ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"), (60.0, "min"), (3600.0, "h")),
    "B": ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB")),
}
# A larger unit is used only from twice its size on: 90 s stays 90 s.
_PATIENCE = {"s": 2.0, "B": 1.0}
_PER_SECOND = {"per_second", "1/s", "/s", "rps", "qps", "hz"}
_ALL_DIGITS = 17  # digits that distinguish any two doubles
_COUNTS = {"count", "1", "", "none"}


def measure(value: float, unit: str | None) -> str:
    """A value with its unit: `3.2 s`, `850 ms`, `1.4 GB`, `97%`, `12`, `40 cores`."""
    return _format(value, unit, digits=3)


def exact_measure(value: float, unit: str | None) -> str:
    """A value with all its digits, for a number of replicas or a limit."""
    return _format(value, unit, digits=_ALL_DIGITS)


def count_text(value: float) -> str:
    """A whole number in full, `1,234,567`; any other, such as a mean of counts, with all its digits."""
    return f"{value:,.0f}" if float(value).is_integer() else exact_measure(value, None)


def measures(baseline: float, value: float, unit: str | None) -> tuple[str, str]:
    """Two values of one signal, with enough digits to distinguish them if they differ."""
    before, now = measure(baseline, unit), measure(value, unit)
    for digits in (4, 5, 7, 9, 12, _ALL_DIGITS):
        if before != now or baseline == value:
            break
        before, now = _format(baseline, unit, digits=digits), _format(value, unit, digits=digits)
    return before, now


def times(baseline: float, value: float) -> str | None:
    """The ratio of value to baseline, if it is 1.5 or more and meaningful; else None."""
    if baseline <= 0 or value / baseline < 1.5 or value / baseline >= 10_000:
        return None
    return _digits(value / baseline, 2)


def _format(value: float, unit: str | None, *, digits: int) -> str:
    if not isfinite(value):
        return "?"
    base, factor = _UNITS.get(unit or "", (unit or "", 1.0))
    # Zero has no sign, and numbers too small for all their digits become zero.
    scaled = float(value * factor) if abs(value * factor) >= float_info.min else 0.0
    if base in _LADDERS:
        size, name = _step(abs(scaled), base)
        return f"{_digits(scaled / size, digits)} {name}"
    # A whole count is written in full.
    text = f"{scaled:,.0f}" if scaled.is_integer() and abs(scaled) < 1e9 else _digits(scaled, digits)
    if base == "%":
        return f"{text}%"
    if base.lower() in _PER_SECOND:
        return f"{text}/s"
    return text if base.lower() in _COUNTS else f"{text} {base}"


def _step(size: float, base: str) -> tuple[float, str]:
    ladder = _LADDERS[base]
    if size == 0:
        return next(step for step in ladder if step[0] == 1.0)
    for step, following in pairwise(ladder):
        patience = _PATIENCE[base] if following[0] > 1.0 else 1.0
        # Rounded to three digits, so that 999.7 ms is 1 s and never "1000 ms".
        if float(f"{size:.3g}") < following[0] * patience:
            return step
    return ladder[-1]


def _digits(value: float, digits: int) -> str:
    """`digits` significant digits, no exponent between 0.0001 and a billion, no trailing zeros."""
    if value == 0:
        return "0"
    if not isfinite(value):  # the largest numbers overflow as a percentage
        return "∞" if value > 0 else "-∞"
    magnitude = floor(log10(abs(value)))
    if magnitude < -4 or magnitude >= 9:
        return f"{value:.{digits}g}"
    text = f"{round(value, digits - 1 - magnitude):,.{max(0, digits - 1 - magnitude)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
