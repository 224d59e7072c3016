"""CPU per step, at 20 and at 100 steps: our core, and our whole loop, against pydantic-ai's agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from tools.speed.core_loop import repeated, run_steps, system_core
from tools.speed.diagnosis_loop import diagnose_steps
from tools.speed.figure import Figure
from tools.speed.rival_loop import RivalLoop
from tools.speed.rounds import Workload, in_turns

SHORT, LONG = 20, 100


def measure(*, rounds: int) -> list[Figure]:
    """Costs and ratios; both sides make the same steps in the same process, in turns."""
    core = system_core()
    workloads: dict[str, Workload] = {}
    for steps in (SHORT, LONG):
        workloads |= {
            f"core {steps}": _workload(partial(run_steps, core, steps), steps, 2000 // steps),
            f"core, threads {steps}": _workload(partial(run_steps, core, steps, blocking=True), steps, 5),
            f"loop {steps}": _workload(partial(diagnose_steps, core, steps), steps, 200 // steps),
            f"rival {steps}": _workload(RivalLoop(steps).run, steps, 100 // steps),
            f"rival, threads {steps}": _workload(RivalLoop(steps, blocking=True).run, steps, 100 // steps),
        }
    costs = in_turns(workloads, rounds=rounds)
    topic, whole = "Core, one llm call and one tool call a step", "Whole diagnosis loop, one tool call a step"
    figures = []
    for steps in (SHORT, LONG):
        figures += [
            Figure(topic, f"CPU per step, {steps} steps", costs.cost(f"core {steps}"), "µs", 20),
            Figure(topic, "  pydantic-ai's agent loop", costs.cost(f"rival {steps}"), "µs"),
            Figure(topic, "  ratio", costs.ratio(f"core {steps}", f"rival {steps}"), "×", 0.01),
        ]
    figures.append(Figure(topic, "100 steps against 20", costs.ratio("core 100", "core 20"), "×", 1.3))
    figures.append(Figure(topic, "  pydantic-ai, 100 against 20", costs.ratio("rival 100", "rival 20"), "×"))
    for steps in (SHORT, LONG):
        figures.append(
            Figure(topic, f"with a blocking tool, {steps} steps", costs.cost(f"core, threads {steps}"), "µs")
        )
    for steps in (SHORT, LONG):
        figures += [
            Figure(whole, f"CPU per step, {steps} steps", costs.cost(f"loop {steps}"), "µs"),
            Figure(whole, "  pydantic-ai, blocking tool", costs.cost(f"rival, threads {steps}"), "µs"),
            Figure(whole, "  ratio", costs.ratio(f"loop {steps}", f"rival, threads {steps}"), "×", 0.1),
        ]
    figures.append(Figure(whole, "100 steps against 20", costs.ratio("loop 100", "loop 20"), "×"))
    return figures


def _workload(run: Callable[[], Awaitable[None]], steps: int, runs: int) -> Workload:
    return Workload(lambda: asyncio.run(repeated(run, runs)), units=steps * runs)
