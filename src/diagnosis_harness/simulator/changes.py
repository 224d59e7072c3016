"""Deploys, flags and configuration changes: harmless ones at any time, and the one that caused the fault."""

from __future__ import annotations

import numpy as np

from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.simulator.faults import Fault, FaultKind
from diagnosis_harness.simulator.system import Role, Service, System
from diagnosis_harness.toolbox.ports import ChangeEvent


def record_changes(
    system: System, fault: Fault | None, window: TimeWindow, rng: np.random.Generator, *, onset_s: float
) -> tuple[ChangeEvent, ...]:
    """All changes of the window, by time; harmless ones affect the faulty part as often as any other."""
    broke = fault if fault is not None and fault.kind is FaultKind.ERRORS_AFTER_DEPLOY else None
    able = [part for part in system.services if part.role in {Role.ENTRY, Role.SERVICE}]
    times = list(rng.uniform(window.start_s, window.end_s, int(rng.integers(1, 5))))
    if rng.random() < 0.6:  # there is always a deploy shortly before the outage
        times.append(onset_s - rng.uniform(20.0, 500.0))
    found = [_harmless(time_s, able[int(rng.integers(len(able)))], rng) for time_s in times]
    if broke is not None:
        found.append(_deploy(onset_s - rng.uniform(15.0, 90.0), system.service(broke.target), rng))
    return tuple(sorted(found, key=lambda change: (change.time_s, change.summary)))


def _harmless(time_s: float, part: Service, rng: np.random.Generator) -> ChangeEvent:
    draw = rng.random()
    if draw < 0.6:
        return _deploy(time_s, part, rng)
    if draw < 0.8:
        flag, percent = int(rng.integers(2, 9)), 10 * int(rng.integers(1, 9))
        return ChangeEvent(
            time_s=time_s,
            entity=part.name,
            kind="flag",
            summary=f"flag {part.name}-layout-{flag} on for {percent}%",
        )
    return ChangeEvent(
        time_s=time_s,
        entity=part.name,
        kind="config",
        summary=f"{part.name}: log level INFO, page size {int(rng.choice([20, 25, 50]))}",
    )


def _deploy(time_s: float, part: Service, rng: np.random.Generator) -> ChangeEvent:
    version = f"{int(rng.integers(1, 6))}.{int(rng.integers(0, 30))}.{int(rng.integers(0, 9))}"
    return ChangeEvent(
        time_s=time_s,
        entity=part.name,
        kind="deploy",
        summary=f"{part.name} {version} rolled out to {len(part.instances)} instances",
    )
