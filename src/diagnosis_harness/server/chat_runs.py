"""The runs that chat requests start: tasks of the application, each tied to one connection."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from diagnosis_harness.application.chat import ChatApplicationUseCase
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.application.runs.row import SERVICE_STOPPED, RunRow
from diagnosis_harness.audit.why.stream import StreamSeen, stream_seen
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.termination import CancellationReason, RunState
from diagnosis_harness.kernel.errors import FailureKind, RunNotKept, StoreFailure
from diagnosis_harness.release.decision import WorkEnd
from diagnosis_harness.report.failure import failure_sentence
from diagnosis_harness.server.error_log import log_unexpected_error
from diagnosis_harness.server.problems import PROBLEMS, ProblemKind
from diagnosis_harness.server.sse_session import SERVICE_STOPPING, Failure, RunIds, SseState
from diagnosis_harness.server.stream_hub import StreamHub
from diagnosis_harness.server.watch import Watch, WatchPlan

_LOG = logging.getLogger("diagnosis_harness.chat")
SEEN_MAX = 10_000
STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
_PROBLEM_OF_FAILURE = {
    STORE_UNAVAILABLE: ProblemKind.RUN_NOT_KEPT,
    SERVICE_STOPPING: ProblemKind.SERVICE_STOPPING,
}


class ChatRun:
    """One run and its connection."""

    def __init__(
        self,
        core: DiagnosisHarnessCore,
        hub: StreamHub,
        request: RunRequest,
        *,
        with_trace: bool,
        on_stream_end: Callable[[StreamSeen], None],
    ) -> None:
        """`on_stream_end` is called with how the client's stream ended."""
        ids = RunIds(request.session_id, request.run_id)
        self._core = core
        self._hub = hub
        self._request = request
        self._plan = WatchPlan(ids=ids, starts_run=True, with_trace=with_trace)
        self._on_stream_end = on_stream_end
        self._ctx: RunContext | None = None
        self._started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._end: tuple[CancellationReason, str] | None = None
        self._failure: Failure | None = None
        self._watch: Watch | None = None

    async def wait_for_start(self) -> None:
        """Return when the run is stored, so that its metadata may be sent.

        Raises:
            Exception: the run could not start; there is no stream then.
        """
        await self._started

    @contextmanager
    def open_watch(self) -> Iterator[Watch]:
        """The client's stream for the duration of the body. A client that leaves early ends the run."""
        with self._hub.watching(self._plan, self.cancel) as watch:
            self._watch = watch
            if self._failure is not None:
                watch.fail(self._failure)
            try:
                yield watch
            finally:
                watch.disconnect()
                ended = watch.session.state is SseState.TERMINAL
                self._on_stream_end(StreamSeen.TERMINAL if ended else StreamSeen.DISCONNECTED)

    def cancel(self, reason: CancellationReason, detail: str = "") -> None:
        """End the run, now or as soon as it has begun."""
        self._end = (reason, detail)
        if self._ctx is not None:
            self._core.cancel(self._ctx, reason, detail)

    async def run(self, chat: ChatApplicationUseCase) -> None:
        """Run to the end, and report the outcome to the client or to the task that waits for the start."""
        try:
            # The buffer exists before the first event is written, so the log never has to be read.
            with self._hub.buffering(self._request.run_id):
                self._hub.take_end(await chat.answer(self._request, self._on_start))
        except asyncio.CancelledError:
            self._fail(SERVICE_STOPPING, StoreFailure(SERVICE_STOPPED, kind=FailureKind.UNAVAILABLE))
            raise
        except RunNotKept as failure:
            self._fail(STORE_UNAVAILABLE, failure)
        except Exception as error:  # noqa: BLE001 - the edge: a bug ends only its own run
            self._fail(WorkEnd.INTERNAL_FAILURE.value, error)

    def _on_start(self, ctx: RunContext) -> None:
        self._ctx = ctx
        if not self._started.done():
            self._started.set_result(None)
        if self._end is not None:
            self._core.cancel(ctx, *self._end)

    def _fail(self, code: str, error: BaseException) -> None:
        if self._ctx is None:
            if not self._started.done():
                self._started.set_exception(error)
            return
        if not isinstance(error, RunNotKept):
            log_unexpected_error(_LOG, f"run {self._request.run_id}", error)
        language, problem = self._request.language, _PROBLEM_OF_FAILURE.get(code)
        message = (
            PROBLEMS[problem].title.in_(language)
            if problem
            else failure_sentence(WorkEnd.INTERNAL_FAILURE, language)
        )
        self._failure = Failure(self._plan.ids, code, message, RunState.FAILED)
        if self._watch is not None:
            self._watch.fail(self._failure)


class ChatRuns:
    """All such runs of this process. Used from one event loop."""

    def __init__(self, core: DiagnosisHarnessCore, chat: ChatApplicationUseCase, hub: StreamHub) -> None:
        self._core = core
        self._chat = chat
        self._hub = hub
        self._active: dict[asyncio.Task[None], ChatRun] = {}
        self._seen: dict[str, StreamSeen] = {}
        self._is_stopping = False

    def __len__(self) -> int:
        return len(self._active)

    def begin(self, request: RunRequest, *, with_trace: bool) -> ChatRun:
        """Start a run; it continues even if no task waits for it."""
        on_stream_end = partial(self._remember, request.run_id)
        run = ChatRun(self._core, self._hub, request, with_trace=with_trace, on_stream_end=on_stream_end)
        if self._is_stopping:
            run.cancel(CancellationReason.INTERNAL_FAILURE, SERVICE_STOPPED)
        task = asyncio.create_task(run.run(self._chat), name=f"chat-{request.run_id}")
        self._active[task] = run
        task.add_done_callback(self._on_done)
        on_stream_end(StreamSeen.OPEN)
        return run

    def client_stream_end(self, row: RunRow) -> StreamSeen:
        """How the stream of the run's own client ended, as far as this process knows."""
        return stream_seen(row, self._seen.get(row.run_id))

    async def stop(self, *, within_s: float) -> None:
        """End all runs and notify their clients; return once the runs are stored.

        They end FAILED with INTERNAL_FAILURE, since the service ends them and not a caller or client.
        """
        self._is_stopping = True
        for run in self._active.values():
            run.cancel(CancellationReason.INTERNAL_FAILURE, SERVICE_STOPPED)
        tasks = tuple(self._active)
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=within_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        del self._active[task]
        if not task.cancelled():
            task.exception()

    def _remember(self, run_id: str, seen: StreamSeen) -> None:
        if run_id not in self._seen and len(self._seen) >= SEEN_MAX:
            del self._seen[next(iter(self._seen))]
        self._seen[run_id] = seen
