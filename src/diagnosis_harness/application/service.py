"""The parts of one service process, as server and command line use them; built by `bootstrap`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from diagnosis_harness.application.alerts.alerts import Alerts
from diagnosis_harness.application.callers.key_store import KeyStore
from diagnosis_harness.application.chat import ChatApplicationUseCase
from diagnosis_harness.application.run_worker import RunWorker
from diagnosis_harness.application.runs.closed_runs import ClosedRuns
from diagnosis_harness.application.runs.feedback import RunFeedback
from diagnosis_harness.application.runs.queue import RunQueue
from diagnosis_harness.application.runs.run_service import RunService
from diagnosis_harness.application.runs.run_stores import RunStores
from diagnosis_harness.application.runs.store import RunFeed
from diagnosis_harness.application.runs.supervisor import RunSupervisor
from diagnosis_harness.application.uploads.upload_service import UploadService
from diagnosis_harness.harness.core import DiagnosisHarnessCore

ReadinessCheck: TypeAlias = Callable[[], str | None]
"""Returns the problem, or None."""

Write: TypeAlias = Callable[[], Awaitable[None]]
"""One small write into a store, to test it; `StoreFailure` if it fails."""

DATABASE, EVIDENCE = "database", "evidence"
"""The stores of a service. EVIDENCE is separate only if evidence is not stored in the database."""


def _no_exports() -> Mapping[str, int]:
    return {}


@dataclass(frozen=True, slots=True)
class Service:
    """One process of the service. Used from one event loop, between its opening and its closing.

    Attributes:
        closed: reports runs that this process closed but did not execute.
        checks: background tasks that the process needs in order to work.
        writes: the write check of each store.
        exports: how many traces were exported, by result; empty if none are exported.
        left_runs: how many queued runs need sources that this process does not have.
        takes_runs: whether it was opened to work on queued runs; else other processes do.
    """

    core: DiagnosisHarnessCore
    chat: ChatApplicationUseCase
    runs: RunService
    feedback: RunFeedback
    alerts: Alerts
    stores: RunStores
    feed: RunFeed
    keys: KeyStore
    queue: RunQueue
    worker: RunWorker
    uploads: UploadService
    supervisor: RunSupervisor
    closed: ClosedRuns = field(default_factory=ClosedRuns)
    checks: Mapping[str, ReadinessCheck] = field(default_factory=dict)
    writes: Mapping[str, Write] = field(default_factory=dict)
    exports: Callable[[], Mapping[str, int]] = _no_exports
    left_runs: Callable[[], int] = int
    takes_runs: bool = True
