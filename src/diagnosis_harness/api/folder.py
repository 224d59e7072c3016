"""Incident folders that a host program passes to a harness."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class IncidentFolder:
    """A folder of telemetry (docs/reference/incident-folder.md). It is read when a harness opens.

    Attributes:
        folder: metrics, logs, traces, topology and changes of the incident.
        baseline: a folder of the same form with normal operation; None if there is none.
    """

    folder: str | Path
    baseline: str | Path | None = None
