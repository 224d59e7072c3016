"""Spans of the few traced requests: one at the caller and one at the callee of each call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.simulator.requests import CallSample, PartSample
from diagnosis_harness.simulator.system import System


@dataclass(frozen=True, slots=True)
class Span:
    """One span; a root has no parent. `kind` is `server` at the callee and `client` at the caller."""

    trace_id: str
    span_id: str
    parent_id: str | None
    entity: str
    operation: str
    start_s: float
    duration_s: float
    error: bool
    kind: str
    part: str
    """Service of the entity; not written."""


@dataclass(slots=True)
class _Walk:
    """A trace under construction."""

    parts: Mapping[str, PartSample]
    tick: int
    trace_id: str
    spans: list[Span]

    def next_id(self) -> str:
        return f"{self.trace_id[:8]}{len(self.spans):08x}"


def trace_requests(
    system: System,
    parts: Mapping[str, PartSample],
    time_s: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    spans_max: int,
) -> tuple[Span, ...]:
    """Spans of randomly chosen requests, at most `spans_max`; a trace is complete or absent."""
    entry = parts[system.entry.name]
    ticks, samples = entry.total_s.shape
    tick_s = float(time_s[1] - time_s[0])
    each = 1.0 + 2.0 * (sum(system.visits().values()) - 1.0)
    chosen = np.sort(
        rng.choice(ticks * samples, size=min(ticks * samples, int(spans_max / each)), replace=False)
    )
    spans: list[Span] = []
    for place in chosen:
        tick, sample = divmod(int(place), samples)
        walk = _Walk(parts, tick, rng.bytes(16).hex(), [])
        start_s = float(time_s[tick]) + float(rng.uniform(0.0, tick_s))
        _serve(walk, entry, sample, parent_id=None, start_s=start_s, end_by_s=np.inf)
        if len(spans) + len(walk.spans) > spans_max:
            break
        spans += walk.spans
    return tuple(spans)


def _serve(
    walk: _Walk, part: PartSample, sample: int, *, parent_id: str | None, start_s: float, end_by_s: float
) -> None:
    """The spans of one served request and its calls; if the caller gives up, the rest is cancelled."""
    tick = walk.tick
    end_s = min(start_s + float(part.total_s[tick, sample]), end_by_s)
    span_id = walk.next_id()
    walk.spans.append(
        Span(
            trace_id=walk.trace_id,
            span_id=span_id,
            parent_id=parent_id,
            entity=part.instance_of(sample),
            operation=part.service.operations[int(part.operation[tick, sample])],
            start_s=start_s,
            duration_s=end_s - start_s,
            error=bool(part.failed[tick, sample]),
            kind="server",
            part=part.service.name,
        )
    )
    made = [call for call in part.calls if call.made[tick, sample]]
    pause_s = float(part.own_s[tick, sample]) / (len(made) + 1)
    at_s = start_s + pause_s
    for call in made:
        if at_s >= end_s:
            return
        elapsed_s = float(call.elapsed_s[tick, sample])
        _send(
            walk, part, sample, call, parent_id=span_id, start_s=at_s, end_by_s=min(at_s + elapsed_s, end_s)
        )
        at_s += elapsed_s + pause_s


def _send(  # noqa: PLR0913 - a call needs sender, request, time limits and parent span
    walk: _Walk,
    part: PartSample,
    sample: int,
    call: CallSample,
    *,
    parent_id: str,
    start_s: float,
    end_by_s: float,
) -> None:
    tick = walk.tick
    callee = walk.parts[call.call.callee]
    picked = int(call.picked[sample])
    span_id = walk.next_id()
    walk.spans.append(
        Span(
            trace_id=walk.trace_id,
            span_id=span_id,
            parent_id=parent_id,
            entity=part.instance_of(sample),
            operation=f"{call.call.callee} {callee.service.operations[int(callee.operation[tick, picked])]}",
            start_s=start_s,
            duration_s=end_by_s - start_s,
            error=bool(call.timed_out[tick, sample] or callee.failed[tick, picked]),
            kind="client",
            part=part.service.name,
        )
    )
    arrives_s = start_s + 0.5 * float(call.network_s[tick, sample])
    if arrives_s < end_by_s:
        _serve(walk, callee, picked, parent_id=span_id, start_s=arrives_s, end_by_s=end_by_s)
