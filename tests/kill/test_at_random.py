"""Processes killed at random moments, again and again, while runs are queued, go on and end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.kill.stage import Stage, assert_whole, open_stage

from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.harness.waiting import sleep
from diagnosis_harness.kernel.clock import SystemClock

KILLS = 200
SEEDS = 2
WORKERS = 3
RUNS_A_KILL = 4
SCRIPTS = ("broad", "greet", "consult payment", "hang", "burst", "steady")


@pytest.mark.proof
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("seed", range(SEEDS))
def test_kills_at_random_times_leave_no_run_half_done(
    seed: int,
    postgres_url: str,
    tmp_path: Path,
    scale: float,
    record_property: Callable[[str, object], None],
) -> None:
    """Two in three are killed from outside at any time, the rest at any place of a run's log."""

    async def story() -> None:
        rng = np.random.default_rng(seed)
        queue = {"queue": {"parallel_max": 3, "poll_interval_s": 0.05}}
        async with open_stage(postgres_url, tmp_path, **queue) as stage:
            await stage.start_members(WORKERS)
            runs = 0
            while _kill_one(stage) < round(KILLS / SEEDS * scale):
                asked = [_question(rng) for _ in range(RUNS_A_KILL)]
                runs += len(await stage.submit(*asked))
                await sleep(SystemClock(), float(rng.uniform(0.0, 0.5)))
                if rng.random() < 0.67:
                    await _kill(stage, rng)
                await stage.start_members(WORKERS - _alive(stage))
            # Whoever is left ends the rest; as long as a run asks for a death, it may take the last one.
            await _until_done(stage)
            assert await assert_whole(stage) == runs
            record_property("kills", _kill_one(stage))
            record_property("runs", runs)
            rows = (await stage.rows()).values()
            assert all(
                row.status is RunStatus.SUCCESS
                for row in rows
                if row.owner in {member.owner for member in stage.members if member.is_alive}
                and not row.request.question.startswith("burst")
            )

    asyncio.run(story())


def _question(rng: np.random.Generator) -> str:
    script = SCRIPTS[rng.integers(len(SCRIPTS))]
    if rng.random() > 0.2:
        return script
    moment = ("emitted", "written")[rng.integers(2)]
    return f"{script} dies {rng.integers(1, 36)} {moment}"


async def _kill(stage: Stage, rng: np.random.Generator) -> None:
    living = [member for member in stage.members if member.is_alive]
    if living:
        member = living[rng.integers(len(living))]
        member.signal(signal.SIGKILL)
        await member.dead()


async def _until_done(stage: Stage) -> None:
    async def is_done() -> bool:
        if _alive(stage) == 0:
            await stage.start_members(1)
        await stage.time_passes_for_the_dead()
        return all(row.is_closed for row in (await stage.rows()).values())

    await stage.until(is_done)


def _alive(stage: Stage) -> int:
    return sum(member.is_alive for member in stage.members)


def _kill_one(stage: Stage) -> int:
    return len(stage.members) - _alive(stage)
