"""One row of the table of secrets (see `kernel.masking_rules`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from diagnosis_harness.kernel.masking_names import KeyGroup


@dataclass(frozen=True, slots=True)
class MaskingRule:
    """One form of a secret.

    Attributes:
        kind: what the replacement names; lower case letters and dashes.
        pattern: finds it; the group `secret`, or where it is quoted `q1` to `q3`, is what is replaced.
        hints: lower-case texts of which one stands wherever the pattern can match; none: always try.
        gate: matches somewhere in every text that the pattern matches; asked once for all that share it.
        after: the pattern is matched only right behind the name of a secret of one of these groups.
        check: a last look at a match where its form alone does not tell.
    """

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...] = ()
    gate: re.Pattern[str] | None = None
    after: frozenset[KeyGroup] = frozenset()
    check: Callable[[re.Match[str]], bool] | None = None
