"""What the tools answer to the question itself; a conclusion must agree with it."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.tools.evidence import EvidenceItem


@dataclass(frozen=True, slots=True)
class Reference:
    """The ranking for the service and time in question, and the onset, queried outside of any run.

    Attributes:
        onset_s: as the question states it, else as the tools find it; None if they cannot.
        estimated_s: as the indicators show it.
    """

    ranking: tuple[EvidenceItem, ...]
    onset_s: float | None
    estimated_s: float | None
