"""Measures the CPU time of several workloads in turns, so that a noisy machine affects all of them alike."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Workload:
    """Something to run, and the units of work in one run."""

    run: Callable[[], object]
    units: int


@dataclass(frozen=True, slots=True)
class Rounds:
    """CPU microseconds per unit of every workload in every round; places of the lists are rounds."""

    cost_us: Mapping[str, list[float]]

    def cost(self, name: str) -> float:
        """The median CPU time per unit, µs."""
        return median(self.cost_us[name])

    def ratio(self, name: str, to: str) -> float:
        """The median of the ratios of each round: a slow round affects both."""
        return median(a / b for a, b in zip(self.cost_us[name], self.cost_us[to], strict=True))


def in_turns(workloads: Mapping[str, Workload], *, rounds: int) -> Rounds:
    """Run every workload once to warm up, then once in each round; process CPU time, all threads."""
    for workload in workloads.values():
        workload.run()
    cost_us: dict[str, list[float]] = {name: [] for name in workloads}
    for _ in range(rounds):
        for name, workload in workloads.items():
            gc.collect()
            before_s = time.process_time()
            workload.run()
            cost_us[name].append((time.process_time() - before_s) / workload.units * 1e6)
    return Rounds(cost_us)
