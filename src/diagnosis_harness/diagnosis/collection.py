"""Whether evidence may still be collected: two states, one transition (seed: lifecycle and states, §8.1)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class CollectionState(StrEnum):
    """Whether evidence may still be collected; independent of the run's end."""

    COLLECTING = "COLLECTING"
    SATURATED = "SATURATED"  # final: no new evidence tool runs; one draft may still come


class InformationGain(StrEnum):
    """Whether a result helped the diagnosis."""

    GAINED = "GAINED"
    NO_GAIN = "NO_GAIN"


class DiagnosisStopReason(StrEnum):
    """Why collecting stopped; independent of what may be published."""

    INFORMATION_SATURATED = "INFORMATION_SATURATED"
    PROGRESS_PROTOCOL_VIOLATED = "PROGRESS_PROTOCOL_VIOLATED"
    BUDGET_LIMIT_REACHED = "BUDGET_LIMIT_REACHED"


@dataclass(frozen=True, slots=True)
class CollectionThresholds:
    """How many in a row of each stop the collection. The defaults are in the settings."""

    no_gain: int = 4
    protocol_violations: int = 3

    def __post_init__(self) -> None:
        if self.no_gain < 1 or self.protocol_violations < 1:
            raise ValueError("a threshold is one or more")
