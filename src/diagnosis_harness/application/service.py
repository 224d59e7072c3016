"""The service as its faces see it: everything that one process offers, put together by `bootstrap`."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.application.callers.key_store import KeyStore
from diagnosis_harness.application.chat import ChatApplicationUseCase
from diagnosis_harness.application.run_worker import RunWorker
from diagnosis_harness.application.runs.caretaker import Caretaker
from diagnosis_harness.application.runs.desk import Runs
from diagnosis_harness.application.runs.keeping import Keeping
from diagnosis_harness.application.runs.queue import RunQueue
from diagnosis_harness.application.runs.store import RunFeed
from diagnosis_harness.harness.core import DiagnosisHarnessCore


@dataclass(frozen=True, slots=True)
class Service:
    """One process of the service. Used from one event loop, between its opening and its closing.

    Attributes:
        takes_runs: whether it was opened to work on queued runs; else other processes do.
    """

    core: DiagnosisHarnessCore
    chat: ChatApplicationUseCase
    runs: Runs
    keeping: Keeping
    feed: RunFeed
    keys: KeyStore
    queue: RunQueue
    worker: RunWorker
    caretaker: Caretaker
    takes_runs: bool = True
