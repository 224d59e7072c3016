"""Log lines of traced requests, and those that instances write by themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.simulator.effects import Effects
from diagnosis_harness.simulator.spans import Span
from diagnosis_harness.simulator.system import Role, System

SLOW_S = 1.0


@dataclass(frozen=True, slots=True)
class Line:
    """One log line of an instance; `trace_id` and `span_id` are empty outside traced requests."""

    time_s: float
    entity: str
    level: str
    message: str
    trace_id: str = ""
    span_id: str = ""


def write_logs(
    system: System,
    spans: Sequence[Span],
    effects: Effects,
    time_s: NDArray[np.float64],
    *,
    rng: np.random.Generator,
) -> tuple[Line, ...]:
    """All lines by time. Databases, caches and outside providers write none."""
    talking = {s.name for s in system.services if s.role in {Role.ENTRY, Role.SERVICE}}
    lines = [line for span in spans if span.part in talking for line in _of_span(span, rng)]
    lines += list(_by_themselves(system, effects, time_s, rng))
    return tuple(sorted(lines, key=lambda line: (line.time_s, line.entity, line.message)))


def _of_span(span: Span, rng: np.random.Generator) -> Iterator[Line]:
    end_s = span.start_s + span.duration_s
    took = f"{1000.0 * span.duration_s:.0f} ms"
    if span.kind == "client":
        callee = span.operation.split(" ", 1)[0]
        if span.error:
            yield _line(span, end_s, "WARN", f"call to {callee} failed after {took}")
        elif span.duration_s > SLOW_S:
            yield _line(span, end_s, "WARN", f"slow call to {callee}: {took}")
        return
    if span.error:
        yield _line(
            span, end_s, "ERROR", f"{span.operation} failed with status 500 in {took}: {_reason(span)}"
        )
    elif rng.random() < 0.5:
        yield _line(
            span,
            end_s,
            "INFO",
            f"{span.operation} status 200 in {took}, user {int(rng.integers(100_000, 1_000_000))}",
        )


def _reason(span: Span) -> str:
    name = span.part.title().replace("-", "")
    return f"IllegalStateException at {name}Handler.apply({name}Handler.java:{40 + len(span.operation)})"


def _by_themselves(
    system: System, effects: Effects, time_s: NDArray[np.float64], rng: np.random.Generator
) -> Iterator[Line]:
    for part in system.services:
        if part.role not in {Role.ENTRY, Role.SERVICE}:
            continue
        for index, instance in enumerate(part.instances):
            heap = effects.heap[part.name][:, index]
            for tick in range(int(rng.integers(0, 9)), len(time_s), 9):
                at_s = float(time_s[tick] + rng.uniform(0.0, 1.0))
                used = round(100.0 * float(heap[tick]))
                pause = (
                    8.0 + 400.0 * float(effects.pauses[part.name][tick, index]) + float(rng.exponential(6.0))
                )
                level = "WARN" if used > 85 else "INFO"
                yield Line(at_s, instance, level, f"collection paused {pause:.0f} ms, heap {used}% used")
            for tick in range(int(rng.integers(0, 12)), len(time_s), 12):
                at_s = float(time_s[tick] + rng.uniform(1.0, 2.0))
                yield Line(
                    at_s, instance, "INFO", f"pool: {int(rng.integers(2, 20))} of 64 connections in use"
                )
    for at_s, instance in effects.restarts:
        yield Line(at_s, instance, "ERROR", "java.lang.OutOfMemoryError: Java heap space")
        yield Line(at_s + 4.0, instance, "INFO", "started in 3.8 seconds, exit code of last run 137")


def _line(span: Span, at_s: float, level: str, message: str) -> Line:
    return Line(at_s, span.entity, level, message, span.trace_id, span.span_id)
