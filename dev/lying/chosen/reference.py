"""What the tools answer to the question itself; a conclusion must agree with it."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.tools.evidence import EvidenceItem


@dataclass(frozen=True, slots=True)
class Reference:
    """The ranking for the asked time and service, and when it began; asked outside of any run.

    Attributes:
        onset_s: as the asker says, else as the tools find it; None where they cannot tell.
        estimated_s: as the indicators show it.
    """

    ranking: tuple[EvidenceItem, ...]
    onset_s: float | None
    estimated_s: float | None
