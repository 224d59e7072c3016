"""A real server on loopback whose runs are scripted by their questions, and a client that reads its streams.

Real stores in a file, the real use case, routes, streams and uvicorn; only what a path answers is played.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.no_uploads import no_uploads
from tests.support.scripted_chat import OneSource
from tests.support.scripted_router import ScriptedRouter
from uvicorn import Config

from diagnosis_harness.adapters.persistence.alert_inbox import SqlAlertInbox
from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.feedback import SqlFeedbackStore
from diagnosis_harness.adapters.persistence.keys import SqlKeyStore
from diagnosis_harness.adapters.persistence.recovery import SqlRunRecovery
from diagnosis_harness.adapters.persistence.run_log import SqlRunLog
from diagnosis_harness.adapters.persistence.run_store import SqlRunStore
from diagnosis_harness.adapters.queue.local_queue import LocalRunQueue
from diagnosis_harness.application.alerts.alerts import Alerts, AlertSettings
from diagnosis_harness.application.callers.caller import LOCAL
from diagnosis_harness.application.chat import ChatApplicationUseCase, ChatSettings, Paths
from diagnosis_harness.application.diagnosis_path import DiagnosisPath
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.path_answer import PathAnswer
from diagnosis_harness.application.router import Routing
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason
from diagnosis_harness.application.run_worker import RunWorker
from diagnosis_harness.application.runs.active import ActiveRuns
from diagnosis_harness.application.runs.feedback import RunFeedback
from diagnosis_harness.application.runs.run_service import RunService, RunsSettings
from diagnosis_harness.application.runs.run_stores import RunStores
from diagnosis_harness.application.runs.submission import SubmissionRules
from diagnosis_harness.application.runs.supervisor import RecoverySettings, RunSupervisor
from diagnosis_harness.application.service import Service
from diagnosis_harness.application.status import ChatApplicationStatus, emit_status
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.retry_policy import HarnessRetryPolicies
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.clock import Clock, SystemClock
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.server.app import make_app
from diagnosis_harness.server.bounded_connection import connection_class
from diagnosis_harness.server.stopping_server import StoppingServer
from diagnosis_harness.server.streams import Streams
from diagnosis_harness.settings import load_settings
from diagnosis_harness.testing.runs import AMPLE

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

WAIT_S = 20.0


@dataclass(slots=True)
class PlayedPath:
    """Tells as many stages as the question's first number says, then waits for `go`, then answers.

    A gate is open unless a test closes it: `gated` holds questions that wait.
    """

    core: DiagnosisHarnessCore
    go: asyncio.Event = field(default_factory=asyncio.Event)
    entered: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    raises: Exception | None = None

    def __post_init__(self) -> None:
        self.go.set()

    async def answer(self, ctx: RunContext, question: str, language: Language) -> PathAnswer:
        """Play it."""
        stages, _, pause_ms = question.partition("/")
        for _ in range(int(stages)):
            emit_status(self.core, ctx, ChatApplicationStatus.SYSTEM_RESPONDING)
            await self.core.pause(ctx, int(pause_ms or 0) / 1000)
        self.entered.put_nowait(ctx.run_id)
        await self.core.wait(ctx, lambda _: self._wait_until_open())
        if self.raises is not None:
            raise self.raises
        return PathAnswer({"kind": "SYSTEM_CHAT", "text": f"{question}\u2028\n\r\x00\x85"}, None)

    async def _wait_until_open(self) -> None:
        await self.go.wait()


@dataclass(slots=True)
class StreamServer:
    """What a test of streams holds."""

    service: Service
    streams: Streams
    path: PlayedPath
    database: Database
    server: StoppingServer
    port: int

    async def ask(self, question: str, **body: Any) -> EventClient:
        """Open a chat stream."""
        return await EventClient.connect(self.port, "POST", "/v1/chat", body={"question": question, **body})

    async def watch(self, run_id: str, last_event_id: str | None = None) -> EventClient:
        """Open the stream of a run."""
        headers = {} if last_event_id is None else {"last-event-id": last_event_id}
        return await EventClient.connect(self.port, "GET", f"/v1/runs/{run_id}/events", headers=headers)

    async def submit(self, question: str) -> str:
        """Queue a run."""
        from diagnosis_harness.application.runs.submission import Submission

        return (await self.service.runs.submit(LOCAL, Submission(question=question))).row.run_id

    async def still(self) -> None:
        """Return when no run is at work and no stream is open."""
        async with asyncio.timeout(WAIT_S):
            while len(self.streams.chats) or len(self.streams.hub) or len(self.service.stores.active):
                await turns(5)


class Wait:
    """Real time that passes between two looks at a real server; no test's outcome hangs on its length."""

    @staticmethod
    async def seconds(delay_s: float) -> None:
        """Let so much time pass."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(delay_s, done.set_result, None)
        try:
            await done
        finally:
            timer.cancel()

    @staticmethod
    async def moment() -> None:
        """A moment."""
        await Wait.seconds(0.002)


async def turns(count: int) -> None:
    """Let the loop turn, with a little real time between."""
    for _ in range(count):
        await Wait.moment()


@asynccontextmanager
async def streaming(
    folder: Path,
    *,
    clock: Clock | None = None,
    heartbeat_s: float = 15.0,
    write_limit_s: float = 30.0,
    works: bool = True,
    finalise_timeout_s: float = 10.0,
) -> AsyncIterator[StreamServer]:
    """The server, listening on a free port of loopback, in this event loop."""
    clock = clock or SystemClock()
    database = await Database.open(f"sqlite:///{folder / 'runs.db'}")
    log = SqlRunLog(database, owner="me", clock=clock)
    workers = WorkerPool(threads_max=2)
    core = DiagnosisHarnessCore(clock=clock, ids=RandomIds(), sink=log, workers=workers)
    await log.start()
    path = PlayedPath(core)
    service = _service(core, log, database, path, finalise_timeout_s=finalise_timeout_s)
    if works:
        await service.queue.listen(service.worker.work, parallel_max=4)
    settings = load_settings().server.model_copy(
        update={"heartbeat_s": heartbeat_s, "rate_per_minute": 1_000_000}
    )
    app = make_app(service, settings, needs_key=False)
    streams: Streams = app.state.streams
    config = Config(
        app,
        http=connection_class(clock, write_limit_s=write_limit_s),
        host="127.0.0.1",
        port=0,
        lifespan="on",
        log_level="critical",
        ws="none",
        backlog=2048,
        timeout_graceful_shutdown=10,
    )
    server = StoppingServer(config, streams.stop)
    try:
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await turns(1)
        port = server.servers[0].sockets[0].getsockname()[1]
        try:
            yield StreamServer(service, streams, path, database, server, port)
        finally:
            server.should_exit = True
            await serving
    finally:
        await service.queue.close()
        await log.stop()
        await database.close()
        workers.close()


def _service(
    core: DiagnosisHarnessCore,
    log: SqlRunLog,
    database: Database,
    path: PlayedPath,
    *,
    finalise_timeout_s: float,
) -> Service:
    stores = RunStores(
        owner="me",
        store=SqlRunStore(database, owner="me"),
        log=log,
        archive=SqlRunArchive(database),
        active=ActiveRuns(),
    )
    decision = RoutingDecision(IntentType.SYSTEM_CHAT, RoutingReason.ASKS_ABOUT_SYSTEM)
    chat = ChatApplicationUseCase(
        core,
        routing=Routing(core, RoleBoundary(core), ScriptedRouter(decision)),
        paths=Paths(path, path, DiagnosisPath(core, OneSource(), lambda tools: None)),  # type: ignore[arg-type, return-value]  # never taken
        stores=stores,
        settings=ChatSettings(AMPLE, HarnessRetryPolicies(), finalise_timeout_s=finalise_timeout_s),
    )
    queue = LocalRunQueue()
    rules = SubmissionRules(sources=(), limit_s=60.0, limit_max_s=600.0, start_within_s=600.0)
    archive, active, most = stores.archive, stores.active, RunsSettings(rules, 100_000)
    runs = RunService(core, archive=archive, queue=queue, active=active, owner="me", settings=most)
    recovery = SqlRunRecovery(database)
    inbox, limits = SqlAlertInbox(database), AlertSettings(waiting_max=10, unfinished_max=10)
    return Service(
        core=core,
        chat=chat,
        runs=runs,
        feedback=RunFeedback(runs, SqlFeedbackStore(database), clock=core.clock),
        alerts=Alerts(runs, inbox=inbox, queue=queue, clock=core.clock, settings=limits),
        stores=stores,
        feed=log,
        keys=SqlKeyStore(database),
        queue=queue,
        worker=RunWorker(chat, archive=stores.archive, clock=core.clock, failed=lambda *_: None),
        uploads=no_uploads(database, core),
        supervisor=RunSupervisor(core, stores, recovery=recovery, queue=queue, settings=RecoverySettings()),
    )


# ------------------------------------------------------------------ the client


@dataclass(frozen=True, slots=True)
class Received:
    """One event as a client has it."""

    id: str
    name: str
    data: Any


class Parser:
    """Reads an event stream as the standard says (WHATWG HTML, "Interpreting an event stream")."""

    def __init__(self) -> None:
        self._rest = b""
        self._id, self._event, self._data = "", "", [""]
        self._data = []
        self.comments = 0

    def feed(self, data: bytes) -> list[Received]:
        """The events that the bytes complete."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        came = []
        for raw in lines:
            line = raw.decode("utf-8")
            assert "\r" not in line
            if not line:
                if self._data:
                    came.append(Received(self._id, self._event, json.loads("\n".join(self._data))))
                self._event, self._data = "", []
                continue
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            match name:
                case "":
                    self.comments += 1
                case "id":
                    self._id = value
                case "event":
                    self._event = value
                case "data":
                    self._data.append(value)
        return came


class EventClient:
    """A connection that reads a stream; plain sockets, so that it can vanish at any moment."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.parser = Parser()
        self.status = 0
        self.headers: dict[str, str] = {}
        self.events: list[Received] = []
        self.is_whole = False  # the response has come to its proper end
        self.body = b""

    @classmethod
    async def connect(
        cls,
        port: int,
        method: str,
        path: str,
        *,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> EventClient:
        """Send a request and read the head of its response."""
        client = cls(*await asyncio.open_connection("127.0.0.1", port))
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", "host: 127.0.0.1", f"content-length: {len(content)}"]
        lines += ["content-type: application/json"] if content else []
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        client.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
        try:
            await client._head()
        except BaseException:
            client.vanish()
            raise
        return client

    async def _head(self) -> None:
        async with asyncio.timeout(WAIT_S):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *rest = head.rstrip().split("\r\n")
        self.status = int(first.split(" ")[1])
        self.headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)
        }

    async def chunk(self) -> bytes:
        """The next chunk; none at the end of the response, or where the connection ends."""
        try:
            size = int(await self.reader.readuntil(b"\r\n"), 16)
            data = await self.reader.readexactly(size + 2)
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""
        self.is_whole = size == 0
        return data[:-2]

    async def next(self) -> list[Received]:
        """The events of the next chunk."""
        async with asyncio.timeout(WAIT_S):
            data = await self.chunk()
        self.body += data
        came = self.parser.feed(data)
        self.events += came
        return came

    async def until(self, name: str, count: int = 1) -> Received:
        """Read until so many events of this name have come."""
        while sum(event.name == name for event in self.events) < count:
            before = len(self.body)
            await self.next()
            assert len(self.body) > before, f"the stream ended before {name}: {self.names()}"
        return [event for event in self.events if event.name == name][count - 1]

    async def rest(self) -> Sequence[Received]:
        """Read to the end."""
        while True:
            before = len(self.body)
            await self.next()
            if len(self.body) == before:
                return self.events

    def names(self) -> list[str]:
        """Names of the events that came."""
        return [event.name for event in self.events]

    def ids(self) -> list[str]:
        """Their ids."""
        return [event.id for event in self.events]

    def vanish(self) -> None:
        """Be gone, without a word."""
        self.writer.transport.abort()

    async def close(self) -> None:
        """Close the connection."""
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()
