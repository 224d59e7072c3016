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
        pattern: finds it; the group `secret`, or `q1` to `q3` if it is quoted, is replaced.
        hints: lower-case texts, one of which occurs in every match; without any, the pattern is always tried.
        gate: matches in every text that the pattern matches; tried once for all rules that share it.
        after: the pattern is matched only directly after the name of a secret of one of these groups.
        check: a final check of a match, if its form alone does not decide.
    """

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...] = ()
    gate: re.Pattern[str] | None = None
    after: frozenset[KeyGroup] = frozenset()
    check: Callable[[re.Match[str]], bool] | None = None
