"""One row of the table of problems."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.kernel.language import Text


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """How one kind of problem is reported.

    Attributes:
        title: the sentence for people.
        retry_after_s: when trying again may help; None if it does not.
        remedy: what to do about it, if neither the title nor a field problem says so.
    """

    status: int
    title: Text
    retry_after_s: int | None = None
    remedy: Text | None = None
