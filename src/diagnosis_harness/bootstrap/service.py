"""One process of the service: stores, paths, queue and care, opened together and closed in order."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec

from diagnosis_harness.adapters.evidence_stores.redis import RedisEvidenceStore
from diagnosis_harness.adapters.knowledge.base import FolderKnowledge
from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
from diagnosis_harness.adapters.persistence.care import SqlRunCare
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.evidence import SqlEvidenceStore
from diagnosis_harness.adapters.persistence.keys import SqlKeyStore
from diagnosis_harness.adapters.persistence.run_log import SqlRunLog
from diagnosis_harness.adapters.persistence.run_store import SqlRunStore
from diagnosis_harness.adapters.queue.local_queue import LocalRunQueue
from diagnosis_harness.adapters.telemetry.exporter import TraceExporter
from diagnosis_harness.application.chat import ChatApplicationUseCase, ChatSettings, Paths
from diagnosis_harness.application.diagnose import DiagnoseUseCase
from diagnosis_harness.application.diagnosis_path import DiagnosisPath
from diagnosis_harness.application.knowledge_query import KnowledgeQuery
from diagnosis_harness.application.router import Routing
from diagnosis_harness.application.run_worker import RunWorker
from diagnosis_harness.application.runs.active import ActiveRuns
from diagnosis_harness.application.runs.asking import AskingRules
from diagnosis_harness.application.runs.caretaker import CareSettings, Caretaker
from diagnosis_harness.application.runs.closed_runs import ClosedRuns
from diagnosis_harness.application.runs.desk import Runs, RunsSettings
from diagnosis_harness.application.runs.keeping import Keeping
from diagnosis_harness.application.runs.queue import RunQueue
from diagnosis_harness.application.service import DATABASE, EVIDENCE, Service, Write
from diagnosis_harness.application.system.chat import SystemChat
from diagnosis_harness.application.system.profile import RunLimits, SystemProfile, ToolProfile
from diagnosis_harness.bootstrap.knowledge import open_library
from diagnosis_harness.bootstrap.players import Players
from diagnosis_harness.bootstrap.shelf import FolderShelf, Progress
from diagnosis_harness.bootstrap.telemetry import exporting
from diagnosis_harness.bootstrap.upkeep import Upkeep
from diagnosis_harness.bootstrap.workbench import build_boundary, build_use_case
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.clock import Clock, SystemClock
from diagnosis_harness.kernel.errors import TechnicalFailure
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.settings import Settings
from diagnosis_harness.tools.access import RoleAccess
from diagnosis_harness.tools.spec import Tool
from diagnosis_harness.tools.store import EvidenceStore
from diagnosis_harness.trace.sink import FanOutSink, TraceSink

_LOG = logging.getLogger("diagnosis_harness.service")


def _silent(file: str, done: int, total: int) -> None:
    del file, done, total


@asynccontextmanager
async def open_service(
    settings: Settings,
    *,
    works: bool,
    progress: Progress = _silent,
    players: Players | None = None,
    tools: Sequence[Tool] = (),
    also: Sequence[TraceSink] = (),
) -> AsyncIterator[Service]:
    """Open the service in this event loop; it is closed in order, whatever its runs are at.

    Args:
        works: whether this process takes background runs from the queue.
        progress: told while the configured folders and the runbooks are read.
        players: who plays the roles; the embedded players when it is left out.
        tools: tools of your own, beside those over the configured folders.
        also: sinks that get every event after the log has taken it.

    Raises:
        InvalidInput: a setting, a folder or the database cannot be used; one sentence says which.
        StoreFailure: the database or the queue cannot be reached.
    """
    clock, ids = SystemClock(), RandomIds()
    owner = f"{socket.gethostname()[:60]}-{os.getpid()}-{ids.new_secret()[:12]}"
    async with AsyncExitStack() as stack:
        workers = WorkerPool(threads_max=settings.run.worker_threads)
        stack.callback(workers.close)
        shelf = _shelf(settings, tools)
        await shelf.warm(progress)
        library = open_library(settings, clock=clock, progress=progress)
        knowledge = None if library is None else library.base
        stores = await _Stores.opened(stack, settings, owner)
        log = SqlRunLog(stores.database, owner=owner, clock=clock)
        await log.start()
        stack.push_async_callback(log.stop)
        core = DiagnosisHarnessCore(clock=clock, ids=ids, sink=FanOutSink((log, *also)), workers=workers)
        closed = ClosedRuns()
        keeping = Keeping(
            owner=owner,
            store=SqlRunStore(stores.database, owner=owner),
            log=log,
            archive=SqlRunArchive(stores.database, evidence=stores.elsewhere, closed=closed),
            active=ActiveRuns(),
        )
        export = exporting(settings, archive=keeping.archive, feed=log, closed=closed)
        exporter = await stack.enter_async_context(export)
        players = players or Players()
        looked = _Looked(shelf, stores.evidence, knowledge, workers)
        chat = _chat(core, settings, keeping, players, _paths(core, settings, players, looked))
        queue = await _queue(stack, settings, owner)
        care = SqlRunCare(stores.database, evidence=stores.elsewhere, closed=closed)
        caretaker = Caretaker(core, keeping, care=care, queue=queue, settings=_care_settings(settings))
        writes = _writes(stores, caretaker, clock=clock, owner=owner)
        upkeep = Upkeep(caretaker, clock=clock, settings=settings.care, evidence=writes.get(EVIDENCE))
        parts = _Parts(keeping, log, chat, queue, works, closed, exporter, caretaker, upkeep, writes)
        service = _assembled(core, settings, stores, parts)
        await stack.enter_async_context(upkeep.going())
        if works:
            await queue.listen(service.worker.work, parallel_max=settings.queue.parallel_max)
        yield service


def _shelf(settings: Settings, tools: Sequence[Tool]) -> FolderShelf:
    return FolderShelf(
        settings.sources,
        memory_limit_mb=settings.folder.memory_limit_mb,
        open_max=settings.folder.open_max,
        beside=tools,
    )


class _Stores:
    """The database, and where evidence is kept."""

    def __init__(
        self, database: Database, evidence: EvidenceStore, elsewhere: RedisEvidenceStore | None
    ) -> None:
        self.database = database
        self.evidence = evidence
        self.elsewhere = elsewhere

    @classmethod
    async def opened(cls, stack: AsyncExitStack, settings: Settings, owner: str) -> _Stores:
        database = await Database.opened(
            settings.database.url,
            pool_size=settings.database.pool_size,
            busy_timeout_s=settings.database.busy_timeout_s,
        )
        stack.push_async_callback(database.close)
        if not settings.evidence.url:
            return cls(database, SqlEvidenceStore(database, owner=owner), None)
        redis = RedisEvidenceStore.at(settings.evidence.url, ttl_s=settings.evidence.ttl_s)
        stack.push_async_callback(redis.close)
        return cls(database, redis, redis)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What the service is put together from."""

    keeping: Keeping
    log: SqlRunLog
    chat: ChatApplicationUseCase
    queue: RunQueue
    works: bool
    closed: ClosedRuns
    exporter: TraceExporter | None
    caretaker: Caretaker
    upkeep: Upkeep
    writes: Mapping[str, Write]


def _writes(stores: _Stores, caretaker: Caretaker, *, clock: Clock, owner: str) -> Mapping[str, Write]:
    """The heartbeat of this process, in each store: it is the smallest write there is."""
    elsewhere = stores.elsewhere
    if elsewhere is None:
        return {DATABASE: caretaker.beat}
    return {DATABASE: caretaker.beat, EVIDENCE: lambda: elsewhere.beat(owner, at_s=clock.now_s())}


def _assembled(core: DiagnosisHarnessCore, settings: Settings, stores: _Stores, parts: _Parts) -> Service:
    keeping, queue = parts.keeping, parts.queue
    return Service(
        core=core,
        chat=parts.chat,
        runs=Runs(
            core,
            archive=keeping.archive,
            queue=queue,
            active=keeping.active,
            owner=keeping.owner,
            settings=_runs_settings(settings),
        ),
        keeping=keeping,
        feed=parts.log,
        keys=SqlKeyStore(stores.database),
        queue=queue,
        worker=RunWorker(parts.chat, archive=keeping.archive, clock=core.clock, failed=_say_unkept),
        caretaker=parts.caretaker,
        closed=parts.closed,
        checks={"care": parts.upkeep.problem, "log": parts.log.problem},
        writes=parts.writes,
        exports=dict if parts.exporter is None else parts.exporter.counts.by_result,
        takes_runs=parts.works,
    )


@dataclass(frozen=True, slots=True)
class _Looked:
    """What the paths look into, and where they keep what they find."""

    shelf: FolderShelf
    evidence: EvidenceStore
    knowledge: FolderKnowledge | None
    workers: WorkerPool


def _paths(core: DiagnosisHarnessCore, settings: Settings, players: Players, looked: _Looked) -> Paths:
    shelf, knowledge = looked.shelf, looked.knowledge
    roles = RoleBoundary(core)
    access = RoleAccess(dict(settings.access))

    def use_case_over(tools: Sequence[Tool]) -> DiagnoseUseCase:
        boundary = build_boundary(core, settings, tools=tools, store=looked.evidence, access=access)
        return build_use_case(core, settings, boundary, players)

    def profile(ctx: RunContext) -> SystemProfile:
        return SystemProfile(
            name="diagnosis-harness",
            version=version("diagnosis-harness"),
            tools=tuple(ToolProfile(spec.name, spec.description) for spec in shelf.tools()),
            sources=shelf.profiles(),
            documents=None if knowledge is None else knowledge.holdings(ctx).documents,
            players=players.profiles(),
            limits=RunLimits(settings.run.timeout_s, settings.limits.llm_calls, settings.limits.tool_calls),
        )

    return Paths(
        system=SystemChat(core, roles, players.responder, profile),
        knowledge=KnowledgeQuery(core, roles, players.writer, knowledge, looked.workers),
        diagnosis=DiagnosisPath(core, shelf, use_case_over),
    )


def _chat(  # noqa: PLR0917 - what the use case is made of
    core: DiagnosisHarnessCore, settings: Settings, keeping: Keeping, players: Players, paths: Paths
) -> ChatApplicationUseCase:
    return ChatApplicationUseCase(
        core,
        routing=Routing(core, RoleBoundary(core), players.router),
        paths=paths,
        keeping=keeping,
        settings=ChatSettings(
            settings.budget_limits(), settings.retry_policies(), settings.run.finalise_timeout_s
        ),
    )


def _care_settings(settings: Settings) -> CareSettings:
    return CareSettings(settings.care.dead_after_s, settings.care.redeliver_after_s)


def _runs_settings(settings: Settings) -> RunsSettings:
    rules = AskingRules(
        sources=tuple(settings.sources),
        limit_s=min(settings.run.timeout_s, settings.server.run_limit_max_s),
        limit_max_s=settings.server.run_limit_max_s,
        start_within_s=settings.server.start_within_s,
    )
    return RunsSettings(rules, settings.server.unfinished_runs)


async def _queue(stack: AsyncExitStack, settings: Settings, owner: str) -> RunQueue:
    queue: RunQueue
    if find_spec("dbos") is None:
        _LOG.warning(
            "the extra `queue` is not installed: background runs stay in this process; one that waits when it"
            " stops is delivered when it is started again"
        )
        queue = LocalRunQueue()
    else:
        from diagnosis_harness.adapters.queue.database import queue_url
        from diagnosis_harness.adapters.queue.dbos_queue import DbosRunQueue

        queue = DbosRunQueue(
            settings.queue.url or queue_url(settings.database.url),
            executor_id=owner,
            poll_interval_s=settings.queue.poll_interval_s,
        )
    stack.push_async_callback(queue.close)
    return queue


def _say_unkept(run_id: str, failure: TechnicalFailure) -> None:
    _LOG.error("run %s could not be kept: %s", run_id, failure)
