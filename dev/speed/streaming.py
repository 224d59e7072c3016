"""Many event streams from one server process: the cost of a delivered event, and the memory of a stream.

The server is a separate process, which also runs this file. It is compared with a plain StreamingResponse
that sends prepared frames through one queue for each stream. `python -m dev.speed.streaming`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import IO, Any, cast

from dev.speed.figure import Figure, as_text
from dev.speed.fresh_process import ROOT
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route
from tests.support.rows import a_request
from tests.support.scripted_log import ScriptedLog, make_ended_row

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.run_log import SqlRunLog
from diagnosis_harness.adapters.persistence.run_store import SqlRunStore
from diagnosis_harness.application.runs.active import ActiveRuns
from diagnosis_harness.application.runs.store import RunArchive
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.ids import RandomIds
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.server.error_middleware import ErrorMiddleware
from diagnosis_harness.server.event_buffer import Frame
from diagnosis_harness.server.event_stream import EventStream
from diagnosis_harness.server.metrics import Metrics
from diagnosis_harness.server.sse_session import RunIds
from diagnosis_harness.server.stream_hub import HubSettings, StreamHub
from diagnosis_harness.server.watch import Watch, WatchPlan
from diagnosis_harness.testing.runs import AMPLE, Rig
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase, bound_payload

STREAMS, EVENTS = 500, 200
TARGET_US = 30
TURNS = 4  # of the loop between two events of a stream: each is then sent by itself, as the worst case is
KINDS = ("own", "shared", "bare")


def measure(*, rounds: int, streams: int = STREAMS, events: int = EVENTS) -> list[Figure]:
    """CPU per delivered event and memory per stream, ours and plain responses in turns."""
    answers: dict[str, list[dict[str, float]]] = {kind: [] for kind in (*KINDS, "append")}
    for _ in range(rounds):
        for kind, kept in answers.items():
            kept.append(_serve_streams(kind, streams, events))

    def typical(kind: str, what: str) -> float:
        return median(answer[what] for answer in answers[kind])

    def ratio(kind: str) -> float:
        pairs = zip(answers[kind], answers["bare"], strict=True)
        return median(ours["event_us"] / bare["event_us"] for ours, bare in pairs)

    topic = f"{streams} event streams of {events} events, one process"
    sent = f"{typical('own', 'event_bytes'):.0f} bytes; each event sent by itself"
    return [
        Figure(topic, "CPU per delivered event", typical("shared", "event_us"), "µs", TARGET_US, sent),
        Figure(topic, "  plain StreamingResponse, framed before", typical("bare", "event_us"), "µs"),
        Figure(topic, "  ratio", ratio("shared"), "×"),
        Figure(topic, "the same, each stream a run of its own", typical("own", "event_us"), "µs"),
        Figure(topic, "  of which framing, once for each run", typical("own", "framing_us"), "µs"),
        Figure(topic, "  ratio", ratio("own"), "×"),
        Figure(topic, "memory of a stream", typical("own", "stream_kb"), "KB"),
        Figure(topic, "  plain StreamingResponse", typical("bare", "stream_kb"), "KB"),
        Figure(topic, "the process with all streams", typical("own", "process_mb"), "MB"),
        Figure(topic, "CPU per event appended to SQLite", typical("append", "event_us"), "µs", note="apart"),
    ]


def _serve_streams(kind: str, streams: int, events: int) -> dict[str, float]:
    """Start a server, read all of its streams to their ends, and return its measurements."""
    command = [sys.executable, "-m", "dev.speed.streaming", "serve", kind, str(streams), str(events)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        said = cast("IO[str]", process.stdout)
        port = int(said.readline())
        if port:
            asyncio.run(_read_all(port, streams, events))
        answer: dict[str, float] = json.loads(said.readline())
    return answer


# ------------------------------------------------------------------ the clients


class _Reader(asyncio.Protocol):
    """Counts events and stores nothing."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._tail = b""
        self.events = 0
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask."""
        request = f"GET /{self._number} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        cast("asyncio.Transport", transport).write(request.encode())

    def data_received(self, data: bytes) -> None:
        """Count."""
        data = self._tail + data
        self.events += data.count(b"\nevent: ")
        self._tail = data[-7:]

    def connection_lost(self, exc: Exception | None) -> None:
        """The end."""
        del exc
        if not self.over.done():
            self.over.set_result(None)


async def _read_all(port: int, streams: int, events: int) -> None:
    loop = asyncio.get_running_loop()
    readers = []
    for number in range(streams):
        _, reader = await loop.create_connection(partial(_Reader, number), "127.0.0.1", port)
        readers.append(reader)
    await asyncio.gather(*(reader.over for reader in readers))
    short = [reader.events for reader in readers if reader.events != events + 3]  # metadata and the end
    if short:
        raise RuntimeError(f"{len(short)} of {streams} streams were not whole: {short[:5]}")


# ------------------------------------------------------------------ the servers


class _Account:
    """What the server measures about itself."""

    def __init__(self, streams: int, events: int) -> None:
        self.streams, self.events = streams, events
        self.rss_kb = _rss_kb()
        self.open = 0
        self.answer: dict[str, float] = {}

    async def take_account(self, publish: Callable[[], Awaitable[None]]) -> None:
        """Wait until all streams are connected, publish, wait until all have ended, and record the costs."""
        await _until(lambda: self.open == self.streams)
        await asyncio.sleep(0.2)
        gc.collect()
        self.answer["stream_kb"] = (_rss_kb() - self.rss_kb) / self.streams
        self.answer["process_mb"] = _rss_kb() / 1024
        before_s = time.process_time()
        await publish()
        await _until(lambda: self.open == 0)
        delivered = self.streams * (self.events + 2)
        self.answer["event_us"] = (time.process_time() - before_s) / delivered * 1e6


def _rss_kb() -> float:
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    return float(status.read_text(encoding="utf-8").partition("VmRSS:")[2].split()[0])


async def _until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 - what is waited for is another library's, or a sum
        await asyncio.sleep(0.01)


async def _turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


async def _serve_bare(account: _Account, serve: Callable[[object], Coroutine[Any, Any, None]]) -> None:

    queues: dict[int, asyncio.Queue[bytes]] = {}
    frame = _frame()

    async def stream(request: Request) -> StreamingResponse:
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        queues[int(request.path_params["number"])] = queue
        account.open += 1

        async def chunks() -> AsyncIterator[bytes]:
            yield frame
            while chunk := await queue.get():
                yield chunk
            account.open -= 1

        return StreamingResponse(chunks(), media_type="text/event-stream")

    async def publish() -> None:
        for last in (*[frame] * (account.events + 2), b""):
            for queue in queues.values():
                queue.put_nowait(last)
            await _turns()

    asking = asyncio.create_task(serve(Starlette(routes=[Route("/{number}", stream)])))
    await account.take_account(publish)
    await asking


async def _serve_ours(
    account: _Account, serve: Callable[[object], Coroutine[Any, Any, None]], *, shared: bool
) -> None:
    log, active, rig = ScriptedLog(), ActiveRuns(), Rig()
    archive = cast("RunArchive", log)
    hub = StreamHub(feed=log, archive=archive, active=active, clock=SystemClock(), settings=HubSettings())
    contexts = [rig.run() for _ in range(1 if shared else account.streams)]

    async def stream(request: Request) -> EventStream:
        ctx = contexts[0 if shared else int(request.path_params["number"])]
        return EventStream(_count_watches(account, hub, RunIds(ctx.session_id, ctx.run_id)))

    async def publish() -> None:
        for seq in range(1, account.events + 1):
            for ctx in contexts:
                hub.take_events(ctx.run_id, (replace(EVENT, seq=seq, run_id=ctx.run_id),))
            await _turns()
        last = replace(EVENT, seq=account.events + 1, name=TraceName.RUN_FINISHED)
        for ctx in contexts:
            hub.take_events(ctx.run_id, (replace(last, run_id=ctx.run_id),))
            hub.take_end(make_ended_row(ctx.session_id, ctx.run_id, ReleaseOutcome.SUCCESS))

    edge = Middleware(ErrorMiddleware, ids=RandomIds(), metrics=Metrics(), clock=SystemClock())
    app = Starlette(routes=[Route("/{number}", stream)], middleware=[edge])
    with ExitStack() as stack:
        for ctx in contexts:
            stack.enter_context(active.track(ctx))
        async with hub.serving():
            asking = asyncio.create_task(serve(app))
            await account.take_account(publish)
            await asking


@contextmanager
def _count_watches(account: _Account, hub: StreamHub, ids: RunIds) -> Iterator[Watch]:
    with hub.watching(WatchPlan(ids=ids)) as watch:
        account.open += 1
        yield watch
    account.open -= 1


PAYLOAD = {"tool": "find_changed_signals", "tool_call_id": "t12", "note": "n" * 90}


def _event() -> TraceEvent:
    return TraceEvent(
        100,
        "run-0123456789abcdef0123456789abcdef",
        1_700_000_000.25,
        TraceName.TOOL_PROGRESS,
        TracePhase.TOOL,
        TraceEventStatus.SUCCEEDED,
        bound_payload(PAYLOAD),
    )


EVENT = _event()


def _frame() -> bytes:
    return Frame(EVENT).data


async def _append(account: _Account) -> None:
    """The cost of writing the events, without that of delivering them."""
    with tempfile.TemporaryDirectory() as folder:
        clock = SystemClock()
        database = await Database.open(str(Path(folder) / "runs.db"))
        store, log = SqlRunStore(database, owner="me"), SqlRunLog(database, owner="me", clock=clock)
        core = DiagnosisHarnessCore(clock=clock, ids=RandomIds(), sink=log)
        await log.start()
        contexts = [
            core.start_run(session_id="s", limits=AMPLE, timeout_s=600) for _ in range(account.streams)
        ]
        for ctx in contexts:
            await store.begin(ctx, a_request(ctx.run_id), owner="me", at_s=clock.now_s())
            log.open(ctx)
        before_s = time.process_time()
        for _ in range(account.events):
            for ctx in contexts:
                core.emit(ctx, TraceName.TOOL_PROGRESS, TracePhase.TOOL, TraceEventStatus.SUCCEEDED, PAYLOAD)
            await _turns()
        for ctx in contexts:
            await log.flush(ctx)
        account.answer["event_us"] = (
            (time.process_time() - before_s) / (account.streams * account.events) * 1e6
        )
        await log.stop()
        await database.close()


async def _serve(kind: str, streams: int, events: int) -> None:
    account = _Account(streams, events)
    if kind == "append":
        print(0, flush=True)
        await _append(account)
    elif kind == "bare":
        await _serve_bare(account, partial(_listening, account))
    else:
        await _serve_ours(account, partial(_listening, account), shared=kind == "shared")
    account.answer["event_bytes"] = len(_frame())
    before_s = time.process_time()
    for _ in range(2_000):
        _frame()
    account.answer["framing_us"] = (time.process_time() - before_s) / 2_000 * 1e6
    print(json.dumps(account.answer), flush=True)


async def _listening(account: _Account, app: object) -> None:
    """Listen, print the address, and serve until everything was delivered."""
    from uvicorn import Config, Server

    config = Config(app, port=0, lifespan="off", log_level="error", ws="none", backlog=2_048)  # type: ignore[arg-type]  # an ASGI application
    server = Server(config)
    serving = asyncio.create_task(server.serve())
    await _until(lambda: server.started)
    account.rss_kb = _rss_kb()
    print(server.servers[0].sockets[0].getsockname()[1], flush=True)
    await _until(lambda: "event_us" in account.answer)
    server.should_exit = True
    await serving


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the figures; or, as `serve`, be the server."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--streams", type=int, default=STREAMS)
    parser.add_argument("--events", type=int, default=EVENTS)
    options = parser.parse_args(arguments)
    print(as_text(measure(rounds=options.rounds, streams=options.streams, events=options.events)))
    return 0


def _main() -> int:
    if sys.argv[1:2] == ["serve"]:
        import uvloop

        kind, streams, events = sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
        uvloop.run(_serve(kind, streams, events))
        return 0
    return main()


if __name__ == "__main__":
    sys.exit(_main())
