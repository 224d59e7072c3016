"""Folds a run's trace into spans: work with a start and an end becomes a span, anything else an event in one.

Every event appears exactly once, a span lies inside its parent in time, and ids are derived from the run id,
so the same trace always gives the same spans. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from itertools import accumulate

from diagnosis_harness.trace import span_names as names
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase
from diagnosis_harness.trace.span_names import Attribute


class SpanStatus(StrEnum):
    """OpenTelemetry's three statuses of a span."""

    UNSET = "UNSET"
    OK = "OK"
    ERROR = "ERROR"


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """One event of the trace, at its time inside a span."""

    seq: int
    at_s: float
    name: str
    attributes: Mapping[str, Attribute]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One span.

    Attributes:
        span_id: 8 bytes.
        parent_id: None for the run's own span alone.
        is_client: whether it is a request to another system (a language model).
        seqs: the events that the span was made from, besides those in `events`.
    """

    span_id: bytes
    parent_id: bytes | None
    name: str
    start_s: float
    end_s: float
    is_client: bool = False
    attributes: Mapping[str, Attribute]
    events: tuple[SpanEvent, ...]
    status: SpanStatus
    message: str = ""
    seqs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RunSpans:
    """The spans of one run, its own first; `trace_id` has 16 bytes."""

    trace_id: bytes
    spans: tuple[Span, ...]


_PHASES = (TracePhase.ROUTING, TracePhase.KNOWLEDGE, TracePhase.GUARD)
"""Phases that get a span of their own; the run's span covers the others."""

_AT_ONCE = frozenset({TraceName.LLM_CALL, TraceName.KNOWLEDGE_RETRIEVAL})
"""Reported only on completion: one event covers the whole call."""

_POINTS = (
    frozenset({TraceName.RUN_STARTED, TraceName.STATUS, TraceName.SOURCE_CHANGED, TraceName.RUN_FINISHED})
    | _AT_ONCE
)
"""Events that never start something that another event ends, whatever their status."""


@dataclass(slots=True)
class _Draft:
    """A span under construction. `first` and `last` are indices in the trace, not seqs."""

    key: str
    name: str
    first: int
    last: int
    parent: _Draft | None = None
    opened: TraceEvent | None = None
    closed: TraceEvent | None = None
    points: list[int] = field(default_factory=list)


def spans_of(events: Sequence[TraceEvent], *, session_id: str | None = None) -> RunSpans:
    """The spans of one run's events, which must be in order; at least one span.

    A span without an end (the run is in progress, or its process died) lasts until the last event and is
    marked so. Events written only on completion, such as llm calls, are assumed to start at the previous
    event. A phase lasts from the event before its first one to its last.
    """
    run_id, last = events[0].run_id, len(events) - 1
    root = _Draft("run", names.RUN, 0, last)
    if events[0].name is TraceName.RUN_STARTED:
        root.opened = events[0]
    if events[last].name is TraceName.RUN_FINISHED:
        root.closed = events[last]
    pairs, rest = _pairs(events)
    phases = _phases(events, pairs)
    for phase in phases:
        phase.parent = root
    for pair in pairs:
        pair.parent = _of_phase(pair, events, phases) or root
    at_work, calls = (*phases, *pairs), []
    shown = {event.seq for event in (root.opened, root.closed) if event is not None}
    for place in rest:
        if events[place].name in _AT_ONCE:
            calls.append(_call(place, events, at_work, root))
        elif events[place].seq not in shown:
            _enclosing(place, events, at_work, root).points.append(place)
    times = tuple(accumulate((event.at_s for event in events), max))
    finished = _Finished(events, times, run_id, session_id)
    children = sorted((*at_work, *calls), key=lambda draft: draft.first)
    return RunSpans(_digest(run_id)[:16], tuple(finished.span(draft) for draft in (root, *children)))


def _pairs(events: Sequence[TraceEvent]) -> tuple[list[_Draft], list[int]]:
    """Each start with its end, if any, and the indices of all other events."""
    pairs: list[_Draft] = []
    open_pairs: dict[tuple[TraceName, str], _Draft] = {}
    rest: list[int] = []
    for place, event in enumerate(events):
        key = (event.name, str(event.payload.get("tool_call_id", "")))
        begins = event.status is TraceEventStatus.STARTED and event.name not in _POINTS
        if begins and key not in open_pairs:
            open_pairs[key] = _Draft(
                str(event.seq), names.span_name(event), place, len(events) - 1, opened=event
            )
            pairs.append(open_pairs[key])
        elif key in open_pairs and not begins:
            pair = open_pairs.pop(key)
            pair.last, pair.closed = place, event
        else:
            rest.append(place)
    return pairs, rest


def _phases(events: Sequence[TraceEvent], pairs: Sequence[_Draft]) -> tuple[_Draft, ...]:
    drafts = []
    for phase in _PHASES:
        places = [
            place for place, event in enumerate(events) if event.phase is phase and event.name not in _AT_ONCE
        ]
        if places:
            ends = [pair.last for pair in pairs if events[pair.first].phase is phase]
            drafts.append(
                _Draft(phase.value, phase.value, _start_of(places[0], events), max(places[-1], *ends, 0))
            )
    return tuple(drafts)


def _start_of(place: int, events: Sequence[TraceEvent]) -> int:
    """The index of the previous event, skipping those written only on completion."""
    return next((at for at in range(place - 1, -1, -1) if events[at].name not in _AT_ONCE), place)


def _of_phase(pair: _Draft, events: Sequence[TraceEvent], phases: Sequence[_Draft]) -> _Draft | None:
    phase = events[pair.first].phase.value
    return next((draft for draft in phases if draft.key == phase), None)


def _call(place: int, events: Sequence[TraceEvent], spans: Sequence[_Draft], root: _Draft) -> _Draft:
    """The span of a call: a child of the open span that began last; never of a tool, which calls no llm."""
    event = events[place]
    at_work = [
        span
        for span in spans
        if span.first < place <= span.last
        and (span.opened is None or span.opened.name is not TraceName.TOOL_INVOCATION)
    ]
    draft = _Draft(str(event.seq), names.span_name(event), max(place - 1, 0), place, closed=event)
    draft.parent = max(at_work, key=lambda span: span.first, default=root)
    return draft


def _enclosing(place: int, events: Sequence[TraceEvent], spans: Sequence[_Draft], root: _Draft) -> _Draft:
    """The span of a single event: that of its tool call, else of its phase, else of the run."""
    event = events[place]
    call_id = event.payload.get("tool_call_id")
    at_work = [span for span in spans if span.first <= place <= span.last]
    for span in at_work:
        opened = span.opened
        if call_id is not None and opened is not None and opened.payload.get("tool_call_id") == call_id:
            return span
    of_phase = [
        span
        for span in at_work
        if span.key == event.phase.value or (span.opened is not None and _holds(span.opened, event))
    ]
    return max(of_phase, key=lambda span: span.first, default=root)


def _holds(opened: TraceEvent, event: TraceEvent) -> bool:
    """Whether this event belongs to an open step or repair."""
    return opened.phase is event.phase and opened.name is not TraceName.TOOL_INVOCATION


@dataclass(frozen=True, slots=True)
class _Finished:
    """Turns drafts into finished spans."""

    events: Sequence[TraceEvent]
    times: Sequence[float]
    run_id: str
    session_id: str | None

    def span(self, draft: _Draft) -> Span:
        if draft.parent is None:
            return self._root(draft)
        ends = [event for event in (draft.opened, draft.closed) if event is not None]
        attributes: dict[str, Attribute] = {} if ends else {names.PHASE: draft.key}
        for event in ends:
            attributes |= dict(names.operation_attributes(event)) | dict(names.payload_attributes(event))
        if ends and draft.closed is None:
            attributes[names.UNFINISHED] = True
        status, message = _status(draft.closed)
        return self._span(
            draft, attributes, status=status, message=message, seqs=tuple(event.seq for event in ends)
        )

    def _root(self, draft: _Draft) -> Span:
        """The span of the run; its status is that of the release, not of its parts."""
        ends = [event for event in (draft.opened, draft.closed) if event is not None]
        attributes = dict(names.run_attributes(self.run_id, self.session_id))
        for event in ends:
            attributes |= dict(names.payload_attributes(event))
        status, message = SpanStatus.UNSET, ""
        if draft.closed is None:
            attributes[names.UNFINISHED] = True
        else:
            status, message = _outcome(draft.closed)
        return self._span(
            draft, attributes, status=status, message=message, seqs=tuple(event.seq for event in ends)
        )

    def _span(
        self,
        draft: _Draft,
        attributes: Mapping[str, Attribute],
        *,
        status: SpanStatus,
        message: str,
        seqs: tuple[int, ...],
    ) -> Span:
        closed = draft.closed
        return Span(
            span_id=self._id(draft),
            parent_id=None if draft.parent is None else self._id(draft.parent),
            name=draft.name,
            start_s=self.times[draft.first],
            end_s=self.times[draft.last],
            is_client=closed is not None and closed.name is TraceName.LLM_CALL,
            attributes=attributes,
            events=tuple(self._event(place) for place in draft.points),
            status=status,
            message=message,
            seqs=seqs,
        )

    def _event(self, place: int) -> SpanEvent:
        event = self.events[place]
        own = {names.SEQ: event.seq, names.PHASE: event.phase.value, names.STATUS: event.status.value}
        payload = dict(names.payload_attributes(event))
        return SpanEvent(event.seq, self.times[place], event.name.value, {**own, **payload})

    def _id(self, draft: _Draft) -> bytes:
        return _digest(f"{self.run_id}/{draft.key}")[:8]


def _status(closed: TraceEvent | None) -> tuple[SpanStatus, str]:
    if closed is None or closed.status in (TraceEventStatus.STARTED, TraceEventStatus.SKIPPED):
        return SpanStatus.UNSET, ""
    if closed.status is TraceEventStatus.SUCCEEDED:
        return SpanStatus.OK, ""
    code = closed.payload.get("error_code", closed.payload.get("error"))
    return SpanStatus.ERROR, str(code or closed.status.value)


def _outcome(finished: TraceEvent) -> tuple[SpanStatus, str]:
    """The status for an outcome; a fallback is a safe answer, not an error."""
    outcome = str(finished.payload.get("outcome", ""))
    if outcome in ("SUCCESS", "FALLBACK"):
        return SpanStatus.OK, ""
    reason = finished.payload.get("reason")
    return SpanStatus.ERROR, " ".join(str(part) for part in (outcome, reason) if part)


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
