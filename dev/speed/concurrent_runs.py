"""A thousand concurrent runs of five steps, each side in its own process, which also runs this file."""

from __future__ import annotations

import asyncio
import json
import re
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from statistics import median

from dev.speed.figure import Figure
from dev.speed.fresh_process import answer_of

RUNS, STEPS = 1_000, 5
LATENCY_S = 0.05  # of the fake llm, so that all runs are alive at the same time
TOPIC = f"{RUNS:,} concurrent runs of {STEPS} steps, {LATENCY_S * 1e3:g} ms of llm latency"


def measure(*, rounds: int) -> list[Figure]:
    """CPU and peak memory, ours against pydantic-ai's."""
    answers: dict[str, list[dict[str, float]]] = {"ours": [], "rival": []}
    for _ in range(rounds):
        for side, kept in answers.items():
            kept.append(dict(answer_of(["-m", "dev.speed.concurrent_runs", side])))

    def typical(side: str, what: str) -> float:
        return median(answer[what] for answer in answers[side])

    def ratio(what: str) -> float:
        pairs = zip(answers["ours"], answers["rival"], strict=True)
        return median(ours[what] / rival[what] for ours, rival in pairs)

    return [
        Figure(TOPIC, "CPU", typical("ours", "cpu_s"), "s"),
        Figure(TOPIC, "  pydantic-ai", typical("rival", "cpu_s"), "s"),
        Figure(TOPIC, "  ratio", ratio("cpu_s"), "×", 0.10),
        Figure(TOPIC, "time on the clock", typical("ours", "wall_s"), "s", note="0.3 s is the floor"),
        Figure(TOPIC, "  pydantic-ai", typical("rival", "wall_s"), "s"),
        Figure(TOPIC, "peak memory", typical("ours", "peak_mb"), "MB"),
        Figure(TOPIC, "  pydantic-ai", typical("rival", "peak_mb"), "MB"),
        Figure(TOPIC, "  ratio", ratio("peak_mb"), "×", 0.6),
    ]


def _ours() -> Callable[[], Awaitable[None]]:
    from dev.speed.core_loop import run_steps, system_core

    return partial(run_steps, system_core(), STEPS, latency_s=LATENCY_S)


def _rival() -> Callable[[], Awaitable[None]]:
    from dev.speed.rival_loop import RivalLoop

    return RivalLoop(STEPS, latency_s=LATENCY_S).run


def _main(side: str) -> None:
    run = _ours() if side == "ours" else _rival()

    async def all_at_once() -> None:
        await asyncio.gather(*(run() for _ in range(RUNS)))

    cpu_s, wall_s = time.process_time(), time.perf_counter()
    asyncio.run(all_at_once())
    answer = {
        "cpu_s": time.process_time() - cpu_s,
        "wall_s": time.perf_counter() - wall_s,
        "peak_mb": _peak_mb(),
    }
    print(json.dumps(answer))


def _peak_mb() -> float:
    """The peak memory of this program. On Linux `ru_maxrss` is inherited from the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"^VmHWM:\s+(\d+) kB$", status.read_text(encoding="utf-8"), re.MULTILINE)
        if found is not None:
            return int(found[1]) / 1024
    per_mb = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / per_mb


if __name__ == "__main__":
    _main(sys.argv[1])
