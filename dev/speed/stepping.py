"""CPU per step, at 20 and at 100 steps: our core, and our whole loop, against pydantic-ai's agent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from dev.speed.core_loop import repeat, run_gated_steps, run_steps, system_core
from dev.speed.diagnosis_loop import diagnose_steps
from dev.speed.figure import Figure
from dev.speed.rival_loop import RivalLoop
from dev.speed.rounds import Rounds, Workload, in_turns

SHORT, LONG = 20, 100


def measure(*, rounds: int) -> list[Figure]:
    """Costs and ratios; both sides make the same steps in the same process, in turns."""
    core = system_core()
    workloads: dict[str, Workload] = {}
    for steps in (SHORT, LONG):
        workloads |= {
            f"gates {steps}": _workload(partial(run_gated_steps, core, steps), steps, 2000 // steps),
            f"core {steps}": _workload(partial(run_steps, core, steps), steps, 2000 // steps),
            f"core, threads {steps}": _workload(partial(run_steps, core, steps, blocking=True), steps, 5),
            f"loop {steps}": _workload(partial(diagnose_steps, core, steps), steps, 200 // steps),
            f"rival {steps}": _workload(RivalLoop(steps).run, steps, 100 // steps),
            f"rival, threads {steps}": _workload(RivalLoop(steps, blocking=True).run, steps, 100 // steps),
        }
    costs = in_turns(workloads, rounds=rounds)
    rival = "pydantic-ai's agent loop"
    return [
        *_side(costs, "The other side: " + rival, "rival", "CPU per step"),
        *_side(costs, "The other side: " + rival, "rival, threads", "with a blocking tool"),
        *_side(costs, CORE, "gates", "gates and charges alone", to="rival", at_most=(20, 0.01, 1.3)),
        *_side(costs, CORE, "core", "with bounded waits", to="rival", at_most=(20, 0.01, 1.3)),
        *_side(costs, CORE, "core, threads", "with bounded waits and a blocking tool", to="rival, threads"),
        *_side(costs, WHOLE, "loop", "CPU per step", to="rival, threads", at_most=(None, 0.1, None)),
    ]


CORE, WHOLE = "Core, one llm call and one tool call a step", "Whole diagnosis loop, one blocking tool a step"
Targets = tuple[float | None, float | None, float | None]


def _side(
    costs: Rounds,
    topic: str,
    side: str,
    name: str,
    *,
    to: str | None = None,
    at_most: Targets = (None, None, None),
) -> list[Figure]:
    """Costs at both lengths, their ratios to the other side, and how much they grow with the length."""
    figures = []
    for steps in (SHORT, LONG):
        figures.append(
            Figure(topic, f"{name}, {steps} steps", costs.cost(f"{side} {steps}"), "µs", at_most[0])
        )
        if to is not None:
            ratio = costs.ratio(f"{side} {steps}", f"{to} {steps}")
            figures.append(Figure(topic, "  to pydantic-ai", ratio, "×", at_most[1]))
    flat = costs.ratio(f"{side} {LONG}", f"{side} {SHORT}")
    return [*figures, Figure(topic, f"  {LONG} steps to {SHORT}", flat, "×", at_most[2])]


def _workload(run: Callable[[], Awaitable[None]], steps: int, runs: int) -> Workload:
    return Workload(lambda: asyncio.run(repeat(run, runs)), units=steps * runs)
