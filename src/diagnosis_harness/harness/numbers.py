"""Checks of numbers from a caller: finite seconds, and counts that a store can hold."""

from __future__ import annotations

from math import isfinite
from typing import TypeGuard

from diagnosis_harness.kernel.errors import ContractViolation

COUNT_MAX = 2**63 - 1
"""The largest count that a database keeps as a whole number."""


def is_count(value: object, *, least: int) -> bool:
    """Whether a value is a whole number from `least` to `COUNT_MAX`; True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= COUNT_MAX


def is_finite_number(value: object) -> TypeGuard[float]:
    """Whether a value is a finite number of seconds; True and False are refused."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False


def finite(what: str, value: object) -> float:
    """The value as a float.

    Raises:
        ContractViolation: it is no finite number; `what` names it.
    """
    if not is_finite_number(value):
        raise ContractViolation(f"{what} is a finite number of seconds, not {short_repr(value)}")
    return float(value)


def short_repr(value: object) -> str:
    """A refused value for a message; a huge whole number by its size, since Python does not print it."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > COUNT_MAX:
        return f"a whole number of {value.bit_length()} bits"
    return f"{value!r:.100}"
