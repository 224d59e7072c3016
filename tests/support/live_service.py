"""The whole service behind its real HTTP interface, in a thread of its own.

Everything is real: settings, stores in a file, queue, worker, a source in a folder, uvicorn on loopback. A
test may hold the analyst at a gate (`HeldAnalyst`), so that a run goes on for as long as the test wants.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
from uvicorn import Config

from diagnosis_harness.application.callers.api_key import ApiKey, new_key
from diagnosis_harness.application.callers.caller import CallerRole
from diagnosis_harness.application.service import Service
from diagnosis_harness.bootstrap.players import choose_players
from diagnosis_harness.bootstrap.service import open_service
from diagnosis_harness.diagnosis.policy import GiveDraft, PolicyAnswer, PolicyView
from diagnosis_harness.harness.budget import NO_TOKENS, TokenUsage
from diagnosis_harness.players.embedded.analyst import EmbeddedAnalyst
from diagnosis_harness.server.app import make_app
from diagnosis_harness.server.app_state import AppState
from diagnosis_harness.server.bounded_connection import connection_class
from diagnosis_harness.server.stopping_server import StoppingServer
from diagnosis_harness.settings import Settings, load_settings
from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.simulator.folder import simulate_folder

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

WAIT_S = 30.0
QUESTION = "Why did the service become slow?"
T = TypeVar("T")


class HeldAnalyst(EmbeddedAnalyst):
    """The analyst, who can be held before every decision.

    Args:
        is_brief: says nothing at all instead, where many runs are wanted and not what they find.
    """

    def __init__(self, *, is_brief: bool = False) -> None:
        super().__init__()
        self._is_brief = is_brief
        self._open = asyncio.Event()
        self._open.set()
        self._waiting: set[str] = set()
        self._changed = threading.Condition()

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """Decide, when the gate is open."""
        if not self._open.is_set():
            with self._changed:
                self._waiting.add(ctx.run_id)
                self._changed.notify_all()
        await self._open.wait()
        if self._is_brief:
            return GiveDraft(None), NO_TOKENS
        return await super().decide(ctx, view)

    def has_reached(self, run_id: str) -> bool:
        """Return True as soon as this run waits at the gate; False when it does not come. From any thread."""
        with self._changed:
            return self._changed.wait_for(lambda: run_id in self._waiting, WAIT_S)

    def hold(self) -> None:
        """Block all events; call it in the server's loop."""
        self._open.clear()

    def let_go(self) -> None:
        """Let everybody through; call it in the server's loop."""
        self._open.set()


@dataclass(slots=True)
class RunningServer:
    """A running server, as a test holds it."""

    service: Service
    app_state: AppState
    port: int
    loop: asyncio.AbstractEventLoop
    analyst: HeldAnalyst
    clients: list[httpx2.Client] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    def client(self, key: str | None = None, **headers: str) -> httpx2.Client:
        """A client of it, with a key or without."""
        if key is not None:
            headers["authorization"] = f"Bearer {key}"
        client = httpx2.Client(base_url=self.url, headers=headers, timeout=WAIT_S, trust_env=False)
        self.clients.append(client)
        return client

    def inside(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something in the server's loop and wait for it."""

        async def finish() -> T:
            return await work()

        return asyncio.run_coroutine_threadsafe(finish(), self.loop).result(WAIT_S)

    def key(self, name: str, role: CallerRole = CallerRole.OPERATOR, **limits: int) -> str:
        """Make a key and give it as it is shown once."""
        service = self.service
        made = new_key(service.core.ids)
        key = ApiKey(
            key_id=made.key_id,
            name=name,
            role=role,
            secret_sha256=made.secret_sha256,
            created_at_s=service.core.clock.now_s(),
            **limits,
        )
        assert self.inside(lambda: service.keys.add(key))
        return made.shown

    def hold(self) -> None:
        """Let no diagnosis go on."""
        self.loop.call_soon_threadsafe(self.analyst.hold)
        self.inside(_nothing)

    def let_go(self) -> None:
        """Let them go on."""
        self.loop.call_soon_threadsafe(self.analyst.let_go)

    def wait_for_end(self, client: httpx2.Client, run_id: str) -> dict[str, Any]:
        """The run, once it is closed."""
        for _ in range(round(WAIT_S / 0.05)):
            content: dict[str, Any] = client.get(f"/v1/runs/{run_id}").json()
            if content["is_closed"]:
                return content
            threading.Event().wait(0.05)
        raise TimeoutError(f"{run_id} has not ended")


async def _nothing() -> None:
    """Only to know that what was called before has been done."""


def settings_for(
    folder: Path,
    *,
    database: str | None = None,
    evidence: str | None = None,
    alerts: Mapping[str, object] | None = None,
    uploads: Mapping[str, object] | None = None,
    **server: object,
) -> Settings:
    """Settings of a server that looks into a simulated incident in the folder.

    Args:
        database: URL of where everything is kept; a file in the folder when left out.
        evidence: URL of where evidence is kept; the database when left out.
        alerts: of the table of that name.
        uploads: the same.
    """
    incident = folder / "incident"
    if not incident.exists():
        simulated = simulate_folder(FaultKind.CPU, seed=7, parent=folder)
        simulated.folder.rename(incident)
    url = database or f"sqlite:///{folder / 'runs.db'}"
    lines = [
        f'[database]\nurl = "{url}"',
        f'[evidence]\nurl = "{evidence or ""}"',
        f'[sources.shop]\nfolder = "{incident}"',
        "[server]",
        *(f"{name} = {_toml(value)}" for name, value in server.items()),
        "[alerts]",
        *(f"{name} = {_toml(value)}" for name, value in (alerts or {}).items()),
        "[uploads]",
        *(f"{name} = {_toml(value)}" for name, value in (uploads or {}).items()),
    ]
    file = folder / "settings.toml"
    file.write_text("\n".join(lines), encoding="utf-8")
    return load_settings(file)


def _toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else repr(value)


@contextmanager
def run_server(
    folder: Path,
    *,
    needs_key: bool = False,
    works: bool = True,
    database: str | None = None,
    evidence: str | None = None,
    alerts: Mapping[str, object] | None = None,
    uploads: Mapping[str, object] | None = None,
    is_brief: bool = False,
    **server: object,
) -> Iterator[RunningServer]:
    """A server on a free port of loopback, for the time of the body."""
    settings = settings_for(
        folder, database=database, evidence=evidence, alerts=alerts, uploads=uploads, **server
    )
    analyst = HeldAnalyst(is_brief=is_brief)
    serving = _Serving(settings, analyst, needs_key=needs_key, works=works)
    thread = threading.Thread(target=serving.run, name="faced")
    thread.start()
    running: RunningServer | None = None
    try:
        running = serving.ready.result(WAIT_S * 2)
        yield running
    finally:
        if running is not None:
            running.let_go()
            for client in running.clients:
                client.close()
        serving.stop()
        thread.join(WAIT_S * 2)
        assert not thread.is_alive()


class _Serving:
    """What happens in the server's thread."""

    def __init__(self, settings: Settings, analyst: HeldAnalyst, *, needs_key: bool, works: bool) -> None:
        self.ready: Future[RunningServer] = Future()
        self._settings = settings
        self._analyst = analyst
        self._needs_key = needs_key
        self._works = works
        self._server: StoppingServer | None = None

    def run(self) -> None:
        """Serve until asked to stop."""
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self.ready.done():
                raise
            self.ready.set_exception(error)

    def stop(self) -> None:
        """Tell it to stop."""
        if self._server is not None:
            self._server.should_exit = True

    async def _serve(self) -> None:
        analyst, settings = self._analyst, self._settings
        async with open_service(
            settings, accept_background_runs=self._works, players=choose_players(settings, policy=analyst)
        ) as service:
            app = make_app(service, settings.server, needs_key=self._needs_key)
            config = Config(
                app,
                http=connection_class(
                    service.core.clock, write_limit_s=30.0, read_limit_s=settings.server.read_timeout_s
                ),
                host="127.0.0.1",
                port=0,
                lifespan="on",
                log_level="critical",
                ws="none",
            )
            server = self._server = StoppingServer(config, app.state.streams.stop)
            serving = asyncio.create_task(server.serve())
            while not server.started:
                await asyncio.wait([serving], timeout=0.01)
                if serving.done():
                    serving.result()
            port = server.servers[0].sockets[0].getsockname()[1]
            loop = asyncio.get_running_loop()
            self.ready.set_result(RunningServer(service, app.state.app_state, port, loop, analyst))
            await serving


def submit(client: httpx2.Client, question: str = QUESTION, **body: object) -> dict[str, Any]:
    """Queue a question that is routed to a diagnosis."""
    response = client.post("/v1/runs", json={"question": question, **body})
    assert response.status_code == 202, response.text
    content: dict[str, Any] = response.json()
    return content


def problem(response: httpx2.Response, status: int, slug: str) -> Mapping[str, Any]:
    """The problem document of a response that must be that problem."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    content: dict[str, Any] = response.json()
    assert content["type"] == f"urn:diagnosis-harness:problem:{slug}"
    assert content["status"] == status
    assert content["instance"] == f"urn:diagnosis-harness:request:{response.headers['x-request-id']}"
    return content
