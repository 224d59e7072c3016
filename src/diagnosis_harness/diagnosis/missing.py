"""What a diagnosis may report as missing: a closed set."""

from __future__ import annotations

from enum import StrEnum


class MissingInfo(StrEnum):
    """Something needed and missing, by the word that inventory, wire and document use."""

    ENTITY = "which service"  # neither the question nor an alert names an entity that the telemetry knows
    TIME = "when it began"  # nobody stated it
    PERMISSION = "permission"  # a tool that the caller may not use
    SOURCE = "any source"  # no source is configured
    METRICS = "metrics"
    SPANS = "spans"
    LOGS = "logs"
    TOPOLOGY = "topology"
    CHANGES = "changes"
    INCIDENT = "incident recording"
    BASELINE = "baseline recording"

    @property
    def is_required(self) -> bool:
        """Whether there is no answer without it; a missing baseline only makes an answer less certain."""
        return self is not MissingInfo.BASELINE
