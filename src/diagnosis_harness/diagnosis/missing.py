"""What a diagnosis may report as missing: a closed set."""

from __future__ import annotations

from enum import StrEnum


class MissingInfo(StrEnum):
    """A thing that was needed and not there, by the word that inventory, wire and document use for it."""

    ENTITY = "which service"  # the question names nobody that the telemetry knows, and no alert does
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
        """Whether there is no answer without it; without a baseline an answer is only less certain."""
        return self is not MissingInfo.BASELINE
