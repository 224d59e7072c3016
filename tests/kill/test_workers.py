"""Workers killed at each kind of trace event, before it is written and after."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.kill.kinds import DELIVERY, GROUPS, NEVER, in_turns, question
from tests.kill.stage import assert_whole, expect_death, open_stage

from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.trace.event import TraceName


def test_every_kind_of_event_is_met_or_said_to_be_never_emitted() -> None:
    """A new kind of event needs a kill of its own, or a reason."""
    met = {name for group in GROUPS.values() for name in group}
    assert met | set(NEVER) == set(TraceName)
    assert not met & set(NEVER)


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("turn", [0, 1])
def test_what_killed_workers_leave_is_whole_and_what_had_not_begun_goes_on(
    turn: int, group: str, postgres_url: str, tmp_path: Path
) -> None:
    """On PostgreSQL: one worker dies in each run; one is left, and works on all that was queued behind."""
    asyncio.run(_kill_one(postgres_url, tmp_path, in_turns(GROUPS[group], turn)))


@pytest.mark.parametrize("group", ["looked", "ended"])
def test_the_same_on_one_file(group: str, sqlite_url: str, tmp_path: Path) -> None:
    """On SQLite, with one of the two moments for each kind; servers on one file die at every kind."""
    asyncio.run(_kill_one(sqlite_url, tmp_path, in_turns(GROUPS[group], 0)))


@pytest.mark.parametrize("place", ["postgres_url", "sqlite_url"])
def test_a_delivery_in_the_hand_of_a_killed_worker_is_worked_on_by_another(
    place: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """It had not begun, so it moves; it is done once, and well."""

    async def story() -> None:
        async with open_stage(request.getfixturevalue(place), tmp_path) as stage:
            workers = await stage.start_members(2)
            (run_id,) = await stage.submit(f"broad dies {DELIVERY} taken")
            await assert_whole(stage)
            row = await stage.row(run_id)
            assert row.status is RunStatus.SUCCESS
            assert [worker.owner for worker in workers if worker.is_alive] == [row.owner]

    asyncio.run(story())


async def _kill_one(url: str, folder: Path, kinds: Mapping[str, str]) -> None:
    async with open_stage(url, folder) as stage:
        workers = await stage.start_members(len(kinds) + 1)
        doomed = await stage.submit(*(question(kind, moment) for kind, moment in kinds.items()))
        behind = await stage.submit("broad", "greet", "consult payment")

        async def one_left() -> bool:
            return sum(worker.is_alive for worker in workers) == 1

        await stage.until(one_left)
        assert await assert_whole(stage) == len(doomed) + len(behind)
        for run_id, (kind, moment) in zip(doomed, kinds.items(), strict=True):
            await expect_death(stage, run_id, kind, moment)
        left = [worker.owner for worker in workers if worker.is_alive]
        for row in [await stage.row(run_id) for run_id in behind]:
            assert row.status is RunStatus.SUCCESS
            assert [row.owner] == left
