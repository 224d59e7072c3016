"""The stores of runs, as one process uses them."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.application.runs.active import ActiveRuns
from diagnosis_harness.application.runs.store import RunArchive, RunLog, RunStore


@dataclass(frozen=True, slots=True)
class RunStores:
    """The stores of runs; `owner` is this process incarnation."""

    owner: str
    store: RunStore
    log: RunLog
    archive: RunArchive
    active: ActiveRuns
