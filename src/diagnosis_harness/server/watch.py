"""Decides what one client of a run's stream gets next, and what it waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from diagnosis_harness.application.runs.store import RunArchive
from diagnosis_harness.harness.termination import CancellationReason
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.server.event_buffer import EventBuffer, Frame
from diagnosis_harness.server.event_id import METADATA_ID, EventId
from diagnosis_harness.server.sse_frames import HEARTBEAT, encode_event, retry_hint
from diagnosis_harness.server.sse_session import (
    Failure,
    RunIds,
    SseSession,
    SseState,
    SseStep,
    Status,
    Traced,
    disconnect_session,
    finish_by_row,
    finish_with_failure,
    open_session,
    report_stage,
    report_trace_event,
    resume_session,
)

PAGE_EVENTS = 500
CHUNK_BYTES = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchPlan:
    """What a client wants.

    Attributes:
        after: the last event that it received on an earlier connection; None for a first one.
        starts_run: whether its connection started the run, so that losing it cancels the run.
        with_trace: whether it wants the other events of the log as well.
    """

    ids: RunIds
    after: EventId | None = None
    starts_run: bool = False
    with_trace: bool = True
    retry_ms: int = 1_000


class Watch:
    """A reader of an event buffer. Each call of `next` gives what can be sent now; nothing is queued for it.

    Attributes:
        session: the state of the connection.
        waits_for_store: the log could not be read; it is read again at the next wake-up.
    """

    def __init__(
        self,
        plan: WatchPlan,
        tail: EventBuffer,
        archive: RunArchive,
        *,
        wants_row: Callable[[], None],
        cancels: Callable[[CancellationReason], None] | None = None,
    ) -> None:
        """`wants_row` is called when the run is over and its row is needed, `cancels` when it must end."""
        self.session = SseSession(starts_run=plan.starts_run)
        self.waits_for_store = False
        self._plan = plan
        self._buffer = tail
        self._archive = archive
        self._wants_row = wants_row
        self._cancels = cancels
        self._after = METADATA_ID if plan.after is None else plan.after
        # The event itself is read again, since a later part of it may not have been sent.
        self._seq = max(self._after.seq - 1, 0)
        self._finished_seq: int | None = None
        self._failure: Failure | None = None
        self._is_over = False
        self._is_closing = False
        self._is_woken = False
        self._waiter: asyncio.Future[None] | None = None
        self._beat_is_due = False
        self._has_sent = False

    # ------------------------------------------------------------------ called by the hub and the connection

    def wake(self) -> None:
        """Wake the reader: there may be something new."""
        self._is_woken = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def beat(self) -> None:
        """Note that a heartbeat is due, unless something was sent since the last one."""
        if not self._has_sent:
            self._beat_is_due = True
            self.wake()
        self._has_sent = False

    def fail(self, failure: Failure) -> None:
        """Send this failure, since the run's row has no end that can be sent."""
        self._failure = failure
        self.wake()

    def close(self) -> None:
        """End the stream when nothing is left to send at once; the client reconnects elsewhere."""
        self._is_closing = True
        self.wake()

    def disconnect(self) -> None:
        """Note that the client disconnected, or cannot be written to."""
        step = disconnect_session(self.session)
        self.session = step.session
        self._is_over = True
        self.wake()
        if step.cancel is not None and self._cancels is not None:
            self._cancels(step.cancel)

    # ------------------------------------------------------------------ called by the response

    @property
    def is_lost(self) -> bool:
        """Whether no client is connected."""
        return self.session.state is SseState.DISCONNECTED

    async def next(self) -> bytes:
        """Wait for the next bytes to send; none when the stream has ended."""
        while not self._is_over:
            self._is_woken = False
            if self.session.state is SseState.NEW:
                return self._first_bytes()
            chunk = self._available()
            if chunk is None:
                chunk = await self._ready()
            if chunk:
                self._has_sent, self._beat_is_due = True, False
                return chunk
            if self._is_closing or self._is_over:
                break
            if self._beat_is_due:
                self._beat_is_due = False
                return HEARTBEAT
            await self._wait_for_news()
        return b""

    async def _wait_for_news(self) -> None:
        if self._is_woken:
            return
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _first_bytes(self) -> bytes:
        """The metadata, unless the client has it, and the retry hint, so that headers are sent at once."""
        is_first = self._plan.after is None
        step = (
            open_session(self.session, self._plan.ids)
            if is_first
            else resume_session(self.session, self._plan.ids)
        )
        self.session = step.session
        data = b"".join(encode_event(event, METADATA_ID) for event in step.events)
        return retry_hint(self._plan.retry_ms) + data

    def _available(self) -> bytes | None:
        """The bytes that can be sent without waiting; None if the log or the end has to be read."""
        frames = self._buffer.after(self._seq)
        if frames is None or self._failure is not None:
            return None
        chunk = self._take_chunk(frames)
        return chunk if chunk or self._finished_seq is None else None

    async def _ready(self) -> bytes:
        if self._failure is not None:
            return self._last_bytes(finish_with_failure(self.session, self._failure), None)
        try:
            frames = self._buffer.after(self._seq)
            chunk = self._take_chunk(await self._read() if frames is None else frames)
        except StoreFailure:
            self.waits_for_store = True
            return b""
        self.waits_for_store = False
        return chunk or self._end()

    async def _read(self) -> Sequence[Frame]:
        """Read a page of the log."""
        run_id = self._buffer.run_id
        events = await self._archive.events(run_id, after_seq=self._seq, limit=PAGE_EVENTS)
        if len(events) < PAGE_EVENTS:
            self._buffer.reaches_to(events[-1].seq if events else self._seq)
        return [Frame(event) for event in events]

    def _take_chunk(self, frames: Sequence[Frame]) -> bytes:
        """Advance over frames, up to the size of one chunk, and return those that this client wants."""
        taken, size_bytes = [], 0
        for frame in frames:
            self._seq = frame.id.seq
            if frame.event is None:
                self._finished_seq = frame.id.seq
                break
            if frame.id > self._after and self._shows(frame):
                taken.append(frame.data)
                size_bytes += len(frame.data)
                if size_bytes >= CHUNK_BYTES:
                    break
        return b"".join(taken)

    def _shows(self, frame: Frame) -> bool:
        match frame.event:
            case Status(stage):
                return report_stage(self.session, stage).refusal is None
            case Traced(event) if self._plan.with_trace:
                return report_trace_event(self.session, event).refusal is None
            case _:
                return False

    def _end(self) -> bytes:
        """The closing events, once the log has been read to its end and the row has arrived."""
        if self._finished_seq is None:
            return b""
        row = self._buffer.row
        if row is None:
            self._wants_row()
            return b""
        return self._last_bytes(finish_by_row(self.session, row), self._finished_seq)

    def _last_bytes(self, step: SseStep, seq: int | None) -> bytes:
        """The closing events, without those that the client received on an earlier connection."""
        self.session = step.session
        self._is_over = True
        data = []
        for part, event in enumerate(step.events):
            if seq is None:
                data.append(encode_event(event, None))
            elif (event_id := EventId(seq, part)) > self._after:
                data.append(self._buffer.encode_end(event, event_id))
        return b"".join(data)
