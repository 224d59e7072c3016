"""What a diagnosis can lack: a closed set, so that nothing else can be said to be missing."""

from __future__ import annotations

from enum import StrEnum


class MissingInfo(StrEnum):
    """A thing that was needed and not there, by the word that inventory, wire and document use for it."""

    ENTITY = "which service"  # the question names nobody that the telemetry knows, and no alert does
    TIME = "when it began"  # nobody said
    PERMISSION = "permission"  # a tool that the asker may not use
    SOURCE = "any source"  # there is nothing to look into
    METRICS = "metrics"
    SPANS = "spans"
    LOGS = "logs"
    TOPOLOGY = "topology"
    CHANGES = "changes"
    INCIDENT = "incident recording"
    BASELINE = "baseline recording"

    @property
    def is_required(self) -> bool:
        """Whether there can be no answer without it; without a baseline an answer is only less sure."""
        return self is not MissingInfo.BASELINE
