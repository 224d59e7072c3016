"""Formats numbers and foreign text inside evidence lines."""

from __future__ import annotations

import unicodedata
from math import isfinite


def round4(value: float) -> float:
    """The value to four significant digits, so that an item states exactly what its line states."""
    return float(f"{value:.4g}")


def round4_or_none(value: float) -> float | None:
    """The same; None for a value that is not finite."""
    return round4(value) if isfinite(value) else None


def digits(value: float) -> str:
    """A rounded value in plain digits, without exponent if it has a usual size."""
    if value == 0:
        return "0"
    if 1e-6 <= abs(value) < 1e15:
        return f"{value:.12f}".rstrip("0").rstrip(".")
    return f"{value:.4g}"


def quantity(value: float, unit: str | None) -> str:
    """A value with its unit; a ratio has none, since `0.28` is read as one."""
    return f"{digits(value)} {unit}" if unit and unit != "ratio" else digits(value)


def one_line(text: str, *, most: int = 200) -> str:
    """Foreign text as data on one line: control and direction characters become spaces, long text is cut."""
    plain = "".join(" " if unicodedata.category(char) in {"Cc", "Cf", "Zl", "Zp"} else char for char in text)
    joined = " ".join(plain.split())
    return joined if len(joined) <= most else joined[: most - 1] + "…"
