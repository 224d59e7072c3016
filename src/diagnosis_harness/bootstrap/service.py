"""Builds one process of the service: stores, chat, queue and background tasks."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec

from diagnosis_harness.adapters.background.tasks import BackgroundTasks, TaskPeriods
from diagnosis_harness.adapters.evidence_stores.redis import RedisEvidenceStore
from diagnosis_harness.adapters.knowledge.base import FolderKnowledge
from diagnosis_harness.adapters.persistence.alert_inbox import SqlAlertInbox
from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.evidence import SqlEvidenceStore
from diagnosis_harness.adapters.persistence.feedback import SqlFeedbackStore
from diagnosis_harness.adapters.persistence.keys import SqlKeyStore
from diagnosis_harness.adapters.persistence.recovery import SqlRunRecovery
from diagnosis_harness.adapters.persistence.run_log import SqlRunLog
from diagnosis_harness.adapters.persistence.run_store import SqlRunStore
from diagnosis_harness.adapters.persistence.uploads import SqlUploadStore
from diagnosis_harness.adapters.queue.local_queue import LocalRunQueue
from diagnosis_harness.adapters.sources.catalog import LocalSourceCatalog
from diagnosis_harness.adapters.sources.part import Progress, ignore_progress
from diagnosis_harness.adapters.sources.uploads import UploadCatalog
from diagnosis_harness.application.alerts.alerts import Alerts, AlertSettings
from diagnosis_harness.application.chat import ChatApplicationUseCase, ChatSettings, Paths
from diagnosis_harness.application.diagnose import DiagnoseUseCase
from diagnosis_harness.application.diagnosis_path import DiagnosisPath
from diagnosis_harness.application.knowledge_query import KnowledgeQuery
from diagnosis_harness.application.router import Routing
from diagnosis_harness.application.run_worker import RunWorker
from diagnosis_harness.application.runs.active import ActiveRuns
from diagnosis_harness.application.runs.closed_runs import ClosedRuns
from diagnosis_harness.application.runs.feedback import RunFeedback
from diagnosis_harness.application.runs.queue import RunQueue
from diagnosis_harness.application.runs.run_service import RunService, RunsSettings
from diagnosis_harness.application.runs.run_stores import RunStores
from diagnosis_harness.application.runs.submission import SubmissionRules
from diagnosis_harness.application.runs.supervisor import RecoverySettings, RunSupervisor
from diagnosis_harness.application.service import DATABASE, EVIDENCE, Service, Write
from diagnosis_harness.application.system.chat import SystemChat
from diagnosis_harness.application.system.profile import SystemProfile
from diagnosis_harness.application.uploads.upload_service import UploadService
from diagnosis_harness.bootstrap.knowledge import open_library
from diagnosis_harness.bootstrap.players import MakePlayers, Players, choose_players
from diagnosis_harness.bootstrap.profile import system_profile
from diagnosis_harness.bootstrap.sources import build_catalog
from diagnosis_harness.bootstrap.stored_runs import open_redis
from diagnosis_harness.bootstrap.telemetry import exporting
from diagnosis_harness.bootstrap.uploads import open_uploads
from diagnosis_harness.bootstrap.workbench import build_boundary, build_use_case
from diagnosis_harness.bootstrap.workplace import build_core
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import InvalidSetting, TechnicalFailure
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.settings import Settings
from diagnosis_harness.tools.access import RoleAccess
from diagnosis_harness.tools.spec import Tool
from diagnosis_harness.tools.store import EvidenceStore
from diagnosis_harness.trace.sink import FanOutSink, TraceSink

_LOG = logging.getLogger("diagnosis_harness.service")


@asynccontextmanager
async def open_service(
    settings: Settings,
    *,
    accept_background_runs: bool,
    progress: Progress = ignore_progress,
    players: MakePlayers | None = None,
    extra_tools: Sequence[Tool] = (),
    extra_sinks: Sequence[TraceSink] = (),
) -> AsyncIterator[Service]:
    """Open the service in this event loop; resources are closed in reverse order even if runs are active.

    Args:
        accept_background_runs: whether this process takes runs from the queue.
        progress: called while the configured folders and the runbooks are read.
        players: the players of the roles; by default those in the settings.
        extra_tools: offered in addition to the tools over the configured folders.
        extra_sinks: receive every event after the log.

    Raises:
        InvalidInput: a setting, a folder or the database cannot be used; the message says which.
        StoreFailure: the database or the queue cannot be reached.
    """
    alert_settings, make_players = _alert_settings(settings), players or choose_players(settings)
    async with AsyncExitStack() as stack:
        catalog = build_catalog(settings, extra_tools)
        extras = _Extras(tuple(extra_tools), tuple(extra_sinks))
        opened = await _open_resources(stack, settings, catalog, progress=progress, extras=extras)
        core, stores, closed = opened.core, opened.stores, opened.closed
        exporter = await stack.enter_async_context(
            exporting(settings, archive=stores.archive, feed=opened.log, closed=closed)
        )
        chat = _chat(opened, settings, make_players(core))
        runs, supervisor = _runs(opened, settings), _supervisor(opened, settings)
        alerts, writes = _alerts(opened, runs, alert_settings), _writes(opened, supervisor)
        tasks = _background_tasks(opened, settings, supervisor, alerts, check_evidence=writes.get(EVIDENCE))
        worker = _worker(opened, chat)
        await stack.enter_async_context(tasks.running())
        if accept_background_runs:
            parallel_max = settings.queue.parallel_max
            await opened.queue.listen(worker.work, parallel_max=parallel_max, lanes=catalog.lanes_now())
        yield Service(
            core=core,
            chat=chat,
            runs=runs,
            feedback=RunFeedback(runs, SqlFeedbackStore(opened.database), clock=core.clock),
            alerts=alerts,
            stores=stores,
            feed=opened.log,
            keys=SqlKeyStore(opened.database),
            queue=opened.queue,
            worker=worker,
            uploads=opened.uploads,
            supervisor=supervisor,
            closed=closed,
            checks={"background": tasks.problem, "log": opened.log.problem},
            writes=writes,
            exports=dict if exporter is None else exporter.counts.by_result,
            left_runs=lambda: supervisor.left,
            takes_runs=accept_background_runs,
        )


def _alerts(opened: _Resources, runs: RunService, settings: AlertSettings) -> Alerts:
    inbox = SqlAlertInbox(opened.database, closed=opened.closed)
    return Alerts(runs, inbox=inbox, queue=opened.queue, clock=opened.core.clock, settings=settings)


def _worker(opened: _Resources, chat: ChatApplicationUseCase) -> RunWorker:
    archive, clock = opened.stores.archive, opened.core.clock
    return RunWorker(chat, archive=archive, clock=clock, failed=_log_failure, sources=opened.catalog)


def _background_tasks(
    opened: _Resources,
    settings: Settings,
    supervisor: RunSupervisor,
    alerts: Alerts,
    *,
    check_evidence: Write | None,
) -> BackgroundTasks:
    supervision = settings.supervision
    return BackgroundTasks(
        supervisor,
        alerts,
        clock=opened.core.clock,
        periods=TaskPeriods(supervision.heartbeat_s, supervision.poll_s, supervision.dead_after_s),
        check_evidence=check_evidence,
        remove_uploads=opened.uploads.remove_expired,
    )


@dataclass(frozen=True, slots=True)
class _Extras:
    """What the code that opens the service adds to it."""

    tools: tuple[Tool, ...]
    sinks: tuple[TraceSink, ...]


@dataclass(frozen=True, slots=True)
class _Resources:
    """The open resources of the process that its use cases share."""

    core: DiagnosisHarnessCore
    workers: WorkerPool
    database: Database
    redis: RedisEvidenceStore | None
    log: SqlRunLog
    closed: ClosedRuns
    stores: RunStores
    queue: RunQueue
    catalog: LocalSourceCatalog
    all_sources: UploadCatalog
    uploads: UploadService
    knowledge: FolderKnowledge | None


async def _open_resources(
    stack: AsyncExitStack,
    settings: Settings,
    catalog: LocalSourceCatalog,
    *,
    progress: Progress,
    extras: _Extras,
) -> _Resources:
    clock, ids = SystemClock(), RandomIds()
    owner = f"{socket.gethostname()[:60]}-{os.getpid()}-{ids.new_secret()[:12]}"
    last = stack.enter_context(ExitStack())  # closed last: earlier closings may wait using the core's clock
    await catalog.warm(progress)
    library = open_library(settings, clock=clock, progress=progress)
    database = await Database.open(
        settings.database.url,
        pool_size=settings.database.pool_size,
        busy_timeout_s=settings.database.busy_timeout_s,
    )
    stack.push_async_callback(database.close)
    redis = open_redis(stack, settings)
    log = SqlRunLog(database, owner=owner, clock=clock)
    await log.start()
    stack.push_async_callback(log.stop)
    core, workers = build_core(settings, sink=FanOutSink((log, *extras.sinks)), clock=clock, ids=ids)
    last.enter_context(core)
    all_sources, uploads = open_uploads(
        stack, settings, catalog, SqlUploadStore(database), clock=clock, extra_tools=extras.tools
    )
    closed = ClosedRuns()
    stores = RunStores(
        owner=owner,
        store=SqlRunStore(database, owner=owner),
        log=log,
        archive=SqlRunArchive(database, evidence=redis, closed=closed),
        active=ActiveRuns(),
    )
    return _Resources(
        core=core,
        workers=workers,
        database=database,
        redis=redis,
        log=log,
        closed=closed,
        stores=stores,
        queue=await _queue(stack, settings, owner),
        catalog=catalog,
        all_sources=all_sources,
        uploads=uploads,
        knowledge=None if library is None else library.base,
    )


def _runs(opened: _Resources, settings: Settings) -> RunService:
    rules = SubmissionRules(
        sources=tuple(settings.sources),
        limit_s=min(settings.run.timeout_s, settings.server.run_limit_max_s),
        limit_max_s=settings.server.run_limit_max_s,
        start_within_s=settings.server.start_within_s,
    )
    return RunService(
        opened.core,
        archive=opened.stores.archive,
        queue=opened.queue,
        active=opened.stores.active,
        owner=opened.stores.owner,
        settings=RunsSettings(rules, settings.server.unfinished_runs, opened.catalog, opened.uploads),
    )


def _supervisor(opened: _Resources, settings: Settings) -> RunSupervisor:
    return RunSupervisor(
        opened.core,
        opened.stores,
        recovery=SqlRunRecovery(opened.database, evidence=opened.redis, closed=opened.closed),
        queue=opened.queue,
        settings=RecoverySettings(settings.supervision.dead_after_s, settings.supervision.requeue_after_s),
        sources=opened.catalog,
    )


def _writes(opened: _Resources, supervisor: RunSupervisor) -> Mapping[str, Write]:
    """The heartbeat of this process in each store, the smallest possible write."""
    redis, owner, clock = opened.redis, opened.stores.owner, opened.core.clock
    if redis is None:
        return {DATABASE: supervisor.send_heartbeat}
    return {
        DATABASE: supervisor.send_heartbeat,
        EVIDENCE: lambda: redis.record_heartbeat(owner, at_s=clock.now_s()),
    }


def _chat(opened: _Resources, settings: Settings, players: Players) -> ChatApplicationUseCase:
    core, roles, catalog, knowledge = opened.core, RoleBoundary(opened.core), opened.catalog, opened.knowledge
    evidence: EvidenceStore = opened.redis or SqlEvidenceStore(opened.database, owner=opened.stores.owner)
    access = RoleAccess(dict(settings.access))

    def use_case_over(tools: Sequence[Tool]) -> DiagnoseUseCase:
        boundary = build_boundary(core, settings, tools=tools, store=evidence, access=access)
        return build_use_case(core, settings, boundary, players)

    def profile(ctx: RunContext) -> SystemProfile:
        documents = None if knowledge is None else knowledge.holdings(ctx).documents
        return system_profile(
            settings, players, tools=catalog.tools(), sources=catalog.profiles(), documents=documents
        )

    return ChatApplicationUseCase(
        core,
        routing=Routing(core, roles, players.router),
        paths=Paths(
            system=SystemChat(core, roles, players.responder, profile),
            knowledge=KnowledgeQuery(core, roles, players.writer, knowledge, opened.workers),
            diagnosis=DiagnosisPath(core, opened.all_sources, use_case_over),
        ),
        stores=opened.stores,
        settings=ChatSettings(
            settings.budget_limits(), settings.retry_policies(), settings.run.finalise_timeout_s
        ),
    )


def _alert_settings(settings: Settings) -> AlertSettings:
    alerts = settings.alerts
    if alerts.source and alerts.source not in settings.sources:
        known = ", ".join(settings.sources) or "none is configured"
        raise InvalidSetting("alerts.source", "it is not configured", f"name one that is: {known}")
    only = next(iter(settings.sources)) if len(settings.sources) == 1 else None
    return AlertSettings(alerts.waiting_max, alerts.unfinished_runs, alerts.source or only)


async def _queue(stack: AsyncExitStack, settings: Settings, owner: str) -> RunQueue:
    queue: RunQueue
    if find_spec("dbos") is None:
        _LOG.warning(
            "the extra `queue` is not installed: background runs are not shared with other processes; those"
            " that are still queued when this process stops run after its restart"
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


def _log_failure(run_id: str, failure: TechnicalFailure) -> None:
    _LOG.error("run %s could not be stored: %s", run_id, failure)
