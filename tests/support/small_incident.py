"""A small incident from a seed: five services, metrics, spans, one fault or none, all in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.testing.sources import InMemorySources, SpanRow, span_table
from diagnosis_harness.toolbox.ports import AlertInfo, CallEdge, ChangeEvent, LogLine, Series

ONSET_S = 1_704_117_900.0  # 2024-01-01T14:05:00Z
STEP_S = 30.0
BEFORE, AFTER = 120, 20  # steps: an hour of normal operation, ten minutes of the incident
CALLS: Mapping[str, tuple[str, ...]] = {
    "shop": ("checkout", "catalog"),
    "checkout": ("payment", "stock-db"),
    "catalog": ("stock-db",),
    "payment": (),
    "stock-db": (),
}
OWN_S: Mapping[str, float] = {
    "shop": 0.02,
    "checkout": 0.03,
    "catalog": 0.025,
    "payment": 0.05,
    "stock-db": 0.008,
}


@dataclass(frozen=True, slots=True)
class SmallFault:
    """What is wrong from `ONSET_S` on; factors of 1, zeros: nothing.

    `slower` multiplies the service's own time, `busier` its CPU, `failing` is the share of its requests that
    fail, `delay_s` is added to every call to it.
    """

    service: str
    slower: float = 1.0
    busier: float = 1.0
    failing: float = 0.0
    delay_s: float = 0.0


CPU_FAULT = SmallFault("payment", slower=6.0, busier=5.0)
NETWORK_FAULT = SmallFault("payment", delay_s=0.4)
ERROR_FAULT = SmallFault("checkout", failing=0.4)
STORE_FAULT = SmallFault("stock-db", slower=20.0)


def small_incident(
    fault: SmallFault | None, *, seed: int = 0, metrics: bool = True, spans: bool = True
) -> InMemorySources:
    """Metrics of every service and its one instance, 20 traces a minute, and an alert a minute late."""
    rng = np.random.default_rng(seed)
    time_s = np.asarray(ONSET_S + STEP_S * (np.arange(-BEFORE, AFTER) + 0.5), dtype=np.float64)
    rows = _trace_rows(fault, rng)
    return InMemorySources(
        incident=_metrics(fault, time_s, rng) if metrics else (),
        incident_spans=span_table(rows) if spans else None,
        call_edges=tuple(CallEdge(caller, callee) for caller, found in CALLS.items() for callee in found),
        part_of={f"{service}-7d9f": service for service in CALLS},
        alert=AlertInfo(
            entity="shop",
            signal="error_rate" if fault is not None and fault.failing else "latency",
            statistic=None if fault is not None and fault.failing else "p90",
            time_s=ONSET_S + 60.0,
        ),
        log_lines=(
            LogLine(
                ONSET_S + 5.0, "payment-7d9f", "ERROR", "timeout after 3000 ms\n\u202eignore this\x1b[31m"
            ),
            LogLine(ONSET_S + 9.0, "checkout-7d9f", "INFO", "order 77 placed"),
        ),
        change_events=(
            ChangeEvent(ONSET_S - 3_000.0, "catalog", "deploy", "catalog 4.2.0\nrolled out"),
            ChangeEvent(ONSET_S - 30.0, "checkout", "deploy", "checkout 2.0.1 rolled out"),
        ),
        name="small incident",
    )


def _metrics(
    fault: SmallFault | None, time_s: NDArray[np.float64], rng: np.random.Generator
) -> tuple[Series, ...]:
    late = time_s >= ONSET_S
    total: dict[str, NDArray[np.float64]] = {}
    failed: dict[str, NDArray[np.float64]] = {}
    found: list[Series] = []
    for service in reversed(tuple(CALLS)):  # callees stand after their callers
        hit = fault if fault is not None and fault.service == service else SmallFault(service)
        own = OWN_S[service] * rng.lognormal(0.0, 0.06, len(time_s)) * np.where(late, hit.slower, 1.0)
        total[service] = own.copy()
        failed[service] = rng.uniform(0.0, 0.004, len(time_s)) + np.where(late, hit.failing, 0.0)
        for callee in CALLS[service]:
            called = fault.delay_s if fault is not None and fault.service == callee else 0.0
            total[service] += total[callee] + np.where(late, called, 0.0)
            failed[service] += failed[callee]
        cpu = 20.0 * rng.lognormal(0.0, 0.05, len(time_s)) * np.where(late, hit.busier, 1.0)
        instance = f"{service}-7d9f"
        found += [
            Series(service, "latency_p90", "s", time_s, total[service] * 1.6),
            Series(service, "error_rate", "ratio", time_s, np.minimum(failed[service], 1.0)),
            Series(service, "requests_per_s", "1/s", time_s, rng.normal(50.0, 2.0, len(time_s))),
            Series(instance, "cpu_percent", "percent", time_s, np.minimum(cpu, 100.0)),
            Series(instance, "memory_bytes", "bytes", time_s, 4e8 * rng.lognormal(0.0, 0.02, len(time_s))),
        ]
    return tuple(found)


def _trace_rows(fault: SmallFault | None, rng: np.random.Generator) -> list[SpanRow]:
    walk = _Walk(fault, rng, [])
    starts = np.sort(rng.uniform(ONSET_S - BEFORE * STEP_S, ONSET_S + AFTER * STEP_S, 1_400))
    for trace, start_s in enumerate(starts.tolist()):
        walk.serve("shop", trace=trace, parent=-1, start_s=start_s)
    return walk.rows


@dataclass(frozen=True, slots=True)
class _Walk:
    """Traces in the making."""

    fault: SmallFault | None
    rng: np.random.Generator
    rows: list[SpanRow]

    def serve(self, service: str, *, trace: int, parent: int, start_s: float) -> tuple[float, bool]:
        """Append the span of one request and all below it; how long it took and whether it failed."""
        hit = self._hit(service, start_s)
        own_s = OWN_S[service] * float(self.rng.lognormal(0.0, 0.3)) * hit.slower
        failed = bool(self.rng.random() < hit.failing)
        at, name, instance = len(self.rows), f"GET /{service}", f"{service}-7d9f"
        self.rows.append(SpanRow(trace, parent, instance, name, start_s, 0.0))
        now_s = start_s + own_s
        for callee in () if failed else CALLS[service]:
            way_s = 0.002 * float(self.rng.lognormal(0.0, 0.3)) + self._hit(callee, start_s).delay_s
            client, call = len(self.rows), f"call {callee}"
            self.rows.append(SpanRow(trace, at, instance, call, now_s, 0.0))
            took_s, broke = self.serve(callee, trace=trace, parent=client, start_s=now_s + way_s / 2)
            self.rows[client] = SpanRow(trace, at, instance, call, now_s, took_s + way_s, broke)
            now_s += took_s + way_s
            failed = failed or broke
        self.rows[at] = SpanRow(trace, parent, instance, name, start_s, now_s - start_s, failed)
        return now_s - start_s, failed

    def _hit(self, service: str, start_s: float) -> SmallFault:
        hit = self.fault is not None and self.fault.service == service and start_s >= ONSET_S
        return self.fault if hit and self.fault is not None else SmallFault(service)
