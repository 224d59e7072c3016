"""Telemetry of a small system in memory: any number of troubles, each with its own time, and a noisy host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.testing.sources import InMemorySources, SpanRow, span_table
from diagnosis_harness.toolbox.ports import AlertInfo, CallEdge, ChangeEvent, LogLine, Series

STEP_S = 30.0
BEFORE, AFTER = 300, 30
"""Steps of the recording before and after the time in question: 150 and 15 minutes."""
TRACES = 700
QUEUE_MOST = 1_000.0
"""The number of messages in a full queue."""
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with one service for a time. Factors of 1 and zeros mean nothing.

    Attributes:
        slower: multiplies the service's own time.
        busier: multiplies the CPU of every instance.
        failing: share of its requests that fail.
        delay_s: added to every call to it.
    """

    service: str
    start_s: float
    end_s: float
    slower: float = 1.0
    busier: float = 1.0
    failing: float = 0.0
    delay_s: float = 0.0

    def during(self, time_s: Floats | float) -> NDArray[np.bool_]:
        """The steps at which the trouble is active."""
        at = np.asarray(time_s)
        return (at >= self.start_s) & (at < self.end_s)


@dataclass(frozen=True)
class Plant:
    """A system and what happens to it.

    Attributes:
        calls: services with their callees; callers come before their callees.
        instances: instances of each service.
        onset_s: the time around which the recording is made.
        noisy: services whose CPU bursts by itself all the time.
        signals, operations: names of signals and operations that differ from the usual ones.
        full: services with a queue that is full from that time on.
        silent: services of which nothing is measured from that time on.
        share: CPU in percent that an idle instance needs.
    """

    calls: Mapping[str, tuple[str, ...]]
    instances: Mapping[str, tuple[str, ...]]
    onset_s: float
    troubles: tuple[Trouble, ...] = ()
    noisy: frozenset[str] = frozenset()
    full: Mapping[str, float] = field(default_factory=dict)
    silent: Mapping[str, float] = field(default_factory=dict)
    signals: Mapping[str, str] = field(default_factory=dict)
    operations: Mapping[str, str] = field(default_factory=dict)
    cpu_percent: float = 18.0
    kinds: frozenset[str] = frozenset({"metrics", "spans", "logs", "changes", "topology"})

    def signal(self, usual: str) -> str:
        """The name of the signal in this plant."""
        return self.signals.get(usual, usual)

    def operation(self, service: str) -> str:
        """The name of a service's only operation."""
        return self.operations.get(service, f"/{service}/serve")

    @property
    def entries(self) -> tuple[str, ...]:
        """Services that nobody calls."""
        called = {each for below in self.calls.values() for each in below}
        return tuple(name for name in self.calls if name not in called)

    def below(self, service: str) -> frozenset[str]:
        """The service and all that it calls, directly or not."""
        found = {service}
        for name, called in self.calls.items():  # callers come first, so once through is enough
            if name in found:
                found |= set(called)
        return frozenset(found)


def record(
    plant: Plant,
    rng: np.random.Generator,
    *,
    alert: AlertInfo,
    logs: tuple[LogLine, ...],
    changes: tuple[ChangeEvent, ...],
) -> InMemorySources:
    """Everything that was recorded of the plant."""
    rows = _traces(plant, rng) if "spans" in plant.kinds else []
    edges = tuple(CallEdge(caller, callee) for caller, called in plant.calls.items() for callee in called)
    owners = {each: service for service, held in plant.instances.items() for each in held}
    return InMemorySources(
        incident=_metrics(plant, rng) if "metrics" in plant.kinds else (),
        incident_spans=span_table(rows) if rows else None,
        call_edges=edges if "topology" in plant.kinds else (),
        part_of=owners if "topology" in plant.kinds else {},
        alert=alert,
        log_lines=logs if "logs" in plant.kinds else (),
        change_events=changes if "changes" in plant.kinds else (),
        name="a world of the liar",
    )


def _metrics(plant: Plant, rng: np.random.Generator) -> tuple[Series, ...]:
    time_s = np.asarray(plant.onset_s + STEP_S * (np.arange(-BEFORE, AFTER) + 0.5), dtype=np.float64)
    total: dict[str, Floats] = {}
    failed: dict[str, Floats] = {}
    found: list[Series] = []
    for service in reversed(tuple(plant.calls)):
        slower, failing = np.ones(len(time_s)), rng.uniform(0.0, 0.004, len(time_s))
        busier, way = np.ones(len(time_s)), np.zeros(len(time_s))
        for trouble in plant.troubles:
            if trouble.service == service:
                on = trouble.during(time_s)
                slower, busier = np.where(on, trouble.slower, slower), np.where(on, trouble.busier, busier)
                failing, way = np.where(on, failing + trouble.failing, failing), way + on * trouble.delay_s
        own = np.asarray(
            _own_s(service, plant) * rng.lognormal(0.0, 0.06, len(time_s)) * slower, dtype=np.float64
        )
        for callee in plant.calls[service]:
            own = own + total[callee]
            failing = failing + failed[callee]
        total[service], failed[service] = own + way, failing
        found += [
            Series(service, plant.signal("latency_p90"), "s", time_s, own * 1.6),
            Series(service, plant.signal("error_rate"), "ratio", time_s, np.minimum(failing, 1.0)),
            Series(
                service, plant.signal("requests_per_s"), "1/s", time_s, rng.normal(50.0, 2.0, len(time_s))
            ),
        ]
        for instance in plant.instances[service]:
            cpu = plant.cpu_percent * rng.lognormal(0.0, 0.05, len(time_s)) * busier
            if service in plant.noisy:
                cpu = cpu * np.where(_bursts(len(time_s), rng), 3.5, 1.0)
            memory = 4e8 * rng.lognormal(0.0, 0.02, len(time_s))
            found += [
                Series(instance, plant.signal("cpu_percent"), "percent", time_s, np.minimum(cpu, 100.0)),
                Series(instance, plant.signal("memory_bytes"), "bytes", time_s, memory),
            ]
        if (full_s := plant.full.get(service)) is not None:
            queue = np.where(time_s >= full_s, QUEUE_MOST, rng.integers(150, 400, len(time_s)))
            found.append(
                Series(service, plant.signal("queue_entries"), None, time_s, queue.astype(np.float64))
            )
    return tuple(_cut(each, plant) for each in found)


def _cut(one: Series, plant: Plant) -> Series:
    """A series up to the time at which its service falls silent."""
    owners = {each: service for service, held in plant.instances.items() for each in held}
    silent_s = plant.silent.get(owners.get(one.entity, one.entity))
    if silent_s is None:
        return one
    kept = one.time_s < silent_s
    return replace(one, time_s=one.time_s[kept], value=one.value[kept])


def _own_s(service: str, plant: Plant) -> float:
    """A service's own time, the same at every call."""
    return 0.008 + 0.011 * (1 + list(plant.calls).index(service) % 4)


def _bursts(count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Some five of every sixteen steps, all the time."""
    on = np.zeros(count, dtype=np.bool_)
    at = int(rng.integers(4))
    while at < count:
        on[at : at + int(rng.integers(4, 7))] = True
        at += int(rng.integers(12, 18))
    return on


def _traces(plant: Plant, rng: np.random.Generator) -> list[SpanRow]:
    walk = _Walk(plant, rng, [])
    first, last = plant.onset_s - BEFORE * STEP_S, plant.onset_s + AFTER * STEP_S
    early = rng.uniform(first, last, TRACES * 3 // 4)
    late = rng.uniform(plant.onset_s, last, TRACES // 4)
    for trace, start_s in enumerate(np.sort(np.concatenate([early, late])).tolist()):
        entry = plant.entries[trace % len(plant.entries)]
        walk.serve(entry, trace=trace, parent=-1, start_s=start_s)
    return walk.rows


@dataclass(frozen=True, slots=True)
class _Walk:
    """Traces under construction."""

    plant: Plant
    rng: np.random.Generator
    rows: list[SpanRow]

    def serve(self, service: str, *, trace: int, parent: int, start_s: float) -> tuple[float, bool]:
        """Append the span of a request and all below it; return its duration and whether it failed."""
        on = [each for each in self.plant.troubles if each.service == service and each.during(start_s)]
        slower = float(np.prod([each.slower for each in on])) if on else 1.0
        own_s = _own_s(service, self.plant) * float(self.rng.lognormal(0.0, 0.3)) * slower
        failed = bool(self.rng.random() < sum(each.failing for each in on))
        held = self.plant.instances[service]
        instance = held[trace % len(held)]
        at, name = len(self.rows), self.plant.operation(service)
        self.rows.append(SpanRow(trace, parent, instance, name, start_s, 0.0))
        now_s = start_s + own_s
        for callee in () if failed else self.plant.calls[service]:
            delay_s = sum(
                each.delay_s
                for each in self.plant.troubles
                if each.service == callee and each.during(start_s)
            )
            way_s = 0.002 * float(self.rng.lognormal(0.0, 0.3)) + delay_s
            client = len(self.rows)
            call = f"call:{self.plant.operation(callee)}"
            self.rows.append(SpanRow(trace, at, instance, call, now_s, 0.0))
            took_s, broke = self.serve(callee, trace=trace, parent=client, start_s=now_s + way_s / 2)
            self.rows[client] = SpanRow(trace, at, instance, call, now_s, took_s + way_s, broke)
            now_s += took_s + way_s
            failed = failed or broke
        self.rows[at] = SpanRow(trace, parent, instance, name, start_s, now_s - start_s, failed)
        return now_s - start_s, failed
