"""The latest events of a run that is watched in this process, each encoded once for all watchers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from diagnosis_harness.application.runs.row import RunRow
from diagnosis_harness.application.status import ChatApplicationStatus
from diagnosis_harness.server.event_id import EventId
from diagnosis_harness.server.sse_frames import encode_event
from diagnosis_harness.server.sse_session import SseEvent, Status, Traced
from diagnosis_harness.trace.event import TraceEvent, TraceName

_STAGES = {stage.value: stage for stage in ChatApplicationStatus}


class Frame:
    """One event of the log as streams show it. `event` is None for RUN_FINISHED; the row has its content."""

    __slots__ = ("_data", "event", "id")

    def __init__(self, logged: TraceEvent) -> None:
        self.id = EventId(logged.seq)
        self.event: SseEvent | None = _stream_event(logged)
        self._data: bytes | None = None

    @property
    def data(self) -> bytes:
        """The bytes of the event, encoded for the first reader and shared by all."""
        if self._data is None:
            self._data = b"" if self.event is None else encode_event(self.event, self.id)
        return self._data


def _stream_event(logged: TraceEvent) -> SseEvent | None:
    if logged.name is TraceName.RUN_FINISHED:
        return None
    if logged.name is TraceName.STATUS and (stage := _STAGES.get(str(logged.payload.get("stage")))):
        return Status(stage)
    return Traced(logged)


class EventBuffer:
    """A bounded part of the log without gaps, up to the last event known here.

    A watcher that is behind this part, such as a replay or a slow reader, reads the log page by page until it
    has caught up.

    Attributes:
        wakers: one for each reader, called whenever an event or the row arrives.
        row: the run's row, once the run has ended and its RUN_FINISHED is written.
        wants_row: a reader has reached the end and waits for the row, which must be looked up.
        end_is_delivered: the task that executes the run delivers its row here, so it is not looked up.
        holders: number of users; the buffer is dropped when it reaches 0.
    """

    def __init__(self, run_id: str, *, events_max: int) -> None:
        self.run_id = run_id
        self.wakers: set[Callable[[], None]] = set()
        self.row: RunRow | None = None
        self.wants_row = False
        self.end_is_delivered = False
        self.holders = 0
        self._events_max = events_max
        self._frames: list[Frame] = []
        self._ends: dict[EventId, bytes] = {}
        self._before_seq: int | None = None  # the buffer begins after this event; None while it is empty

    @property
    def last_seq(self) -> int | None:
        """The seq of the last known event."""
        return None if self._before_seq is None else self._before_seq + len(self._frames)

    @property
    def is_finished(self) -> bool:
        """Whether RUN_FINISHED is in the buffer."""
        return bool(self._frames) and self._frames[-1].event is None

    def add(self, events: Iterable[TraceEvent]) -> None:
        """Take in written events, in order; skip known events, and start over after a gap."""
        for event in events:
            last_seq = self.last_seq
            if last_seq is None or event.seq > last_seq + 1:
                self._before_seq, self._frames = event.seq - 1, []
            elif event.seq <= last_seq:
                continue
            self._frames.append(Frame(event))
        surplus = len(self._frames) - self._events_max
        if (
            surplus >= self._events_max and self._before_seq is not None
        ):  # half at a time, since each cut copies the list
            del self._frames[:surplus]
            self._before_seq += surplus
        self.wake()

    def reaches_to(self, seq: int) -> None:
        """Note that a reader has read the log up to this event."""
        if self._before_seq is None:
            self._before_seq = seq

    def after(self, seq: int) -> Sequence[Frame] | None:
        """The frames after an event; None if the log has to be read for them."""
        if self._before_seq is None or seq < self._before_seq:
            return None
        return self._frames[seq - self._before_seq :]

    def take_end(self, row: RunRow) -> None:
        """Take the run's row, ended and closed. If RUN_FINISHED did not arrive here, readers read the log."""
        self.row, self.wants_row = row, False
        if not self.is_finished:
            self._before_seq, self._frames = None, []
        self.wake()

    def encode_end(self, event: SseEvent, event_id: EventId) -> bytes:
        """One of the run's closing events as bytes, encoded once for all readers."""
        if event_id not in self._ends:
            self._ends[event_id] = encode_event(event, event_id)
        return self._ends[event_id]

    def wake(self) -> None:
        """Wake all readers."""
        for waker in self.wakers:
            waker()
