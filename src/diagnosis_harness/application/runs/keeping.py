"""Where runs are kept, as whoever works on them holds it."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.application.runs.active import ActiveRuns
from diagnosis_harness.application.runs.store import RunArchive, RunLog, RunStore


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where runs are kept, and by whom: `owner` is this process incarnation."""

    owner: str
    store: RunStore
    log: RunLog
    archive: RunArchive
    active: ActiveRuns
