"""Runs, worker and supervisor of one process over a real store, as tests hold them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.support.held_sources import HeldSources
from tests.support.scripted_chat import KeptChat, open_chat
from tests.support.scripted_router import ScriptedRouter

from diagnosis_harness.adapters.persistence.run_store import SqlRunStore
from diagnosis_harness.adapters.queue.local_queue import LocalRunQueue
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason
from diagnosis_harness.application.run_worker import RunWorker
from diagnosis_harness.application.runs.run_service import RunService, RunsSettings
from diagnosis_harness.application.runs.sources import SourceStamp
from diagnosis_harness.application.runs.submission import SubmissionRules
from diagnosis_harness.application.runs.supervisor import RecoverySettings, RunSupervisor
from diagnosis_harness.kernel.errors import TechnicalFailure

SYSTEM = RoutingDecision(IntentType.SYSTEM_CHAT, RoutingReason.GREETING)
SHOP = SourceStamp("sha256:shop", "sha256:monday")
RULES = SubmissionRules(sources=("shop",), limit_s=60.0, limit_max_s=600.0, start_within_s=300.0)


class RunProcess:
    """Runs, worker and supervisor of one process, over a queue that a test looks into."""

    def __init__(self, kept: KeptChat, sources: HeldSources | None = None) -> None:
        self.kept = kept
        self.queue = LocalRunQueue()
        self.sources = sources or HeldSources(shop=SHOP)
        self.unkept: list[tuple[str, TechnicalFailure]] = []
        self.runs = RunService(
            kept.core,
            archive=kept.stores.archive,
            queue=self.queue,
            active=kept.stores.active,
            owner="me",
            settings=RunsSettings(RULES, unfinished_max=2, sources=self.sources),
        )
        self.worker = RunWorker(
            kept.chat,
            archive=kept.stores.archive,
            clock=kept.clock,
            failed=lambda run_id, failure: self.unkept.append((run_id, failure)),
            sources=self.sources,
        )
        self.supervisor = RunSupervisor(
            kept.core,
            kept.stores,
            recovery=kept.recovery,
            queue=self.queue,
            settings=RecoverySettings(),
            sources=self.sources,
        )


def other_process(kept: KeptChat, owner: str) -> SqlRunStore:
    """The store of rows as another process has it."""
    return SqlRunStore(kept.database, owner=owner)


def play(
    folder: Path, act: Callable[[RunProcess], Awaitable[None]], *, sources: HeldSources | None = None
) -> None:
    """Act on a process whose paths answer everything with a text."""

    async def run_act() -> None:
        async with open_chat(folder, router=ScriptedRouter(SYSTEM)) as kept:
            await asyncio.wait_for(act(RunProcess(kept, sources)), 60)

    asyncio.run(run_act())
