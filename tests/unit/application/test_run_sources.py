"""A process works on runs whose source it has; a run whose source no process has ends for that reason."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.held_sources import HeldSources
from tests.support.run_process import SHOP, RunProcess, play

from diagnosis_harness.application.callers.caller import LOCAL
from diagnosis_harness.application.runs.request import RunKind
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.application.runs.sources import ANY_LANE, SourceStamp, lane_of
from diagnosis_harness.application.runs.submission import Submission
from diagnosis_harness.harness.termination import RunState

BANK = SourceStamp("sha256:bank", "sha256:monday")
START_WITHIN_S = 300.0


async def queue_run(process: RunProcess, source: str | None, stamp: SourceStamp | None) -> str:
    """A run that another process has queued."""
    request = replace(
        process.kept.request(kind=RunKind.BACKGROUND, source=source),
        stamp=stamp,
        start_by_s=process.kept.clock.now_s() + START_WITHIN_S,
    )
    await process.kept.stores.archive.submit(request)
    return request.run_id


async def row_of(process: RunProcess, run_id: str) -> RunRow:
    """The row."""
    return await process.runs.row(LOCAL, run_id)


def code_of(row: RunRow) -> str | None:
    """The code of its failure."""
    return None if row.ending is None or row.ending.failure is None else row.ending.failure.code


async def _never(run_id: str) -> None:
    """Nothing is taken here."""
    del run_id
    await asyncio.Event().wait()


def test_a_run_is_kept_with_the_source_as_it_is_when_it_is_asked(tmp_path: Path) -> None:
    """Also if the source has changed since the process began: it is read again."""
    sources = HeldSources(shop=SHOP)

    async def act(process: RunProcess) -> None:
        first = (await process.runs.submit(LOCAL, Submission(question="why?"))).row
        sources.set_stamps(shop=BANK)
        second = (await process.runs.submit(LOCAL, Submission(question="why?"))).row
        assert [each.request.stamp for each in (first, second)] == [SHOP, BANK]
        assert (await row_of(process, second.run_id)).request.stamp == BANK

    play(tmp_path, act, sources=sources)


@pytest.mark.parametrize(
    ("source", "stamp", "is_worked_on"),
    [
        ("shop", SHOP, True),
        ("shop", SourceStamp(SHOP.identity, "sha256:tuesday"), True),  # changed in content: it is the same
        ("copy-of-shop", SHOP, True),  # another machine has it under another name
        ("shop", BANK, False),  # another source has its name
        ("bank", BANK, False),
        ("shop", None, True),  # an older program kept the name alone
        ("bank", None, False),
        (None, None, True),
    ],
)
def test_a_delivery_is_worked_on_where_its_source_is_and_left_where_it_is_not(
    tmp_path: Path, source: str | None, stamp: SourceStamp | None, *, is_worked_on: bool
) -> None:
    """A run that is left to others stays QUEUED for a process that has its source."""

    async def act(process: RunProcess) -> None:
        run_id = await queue_run(process, source, stamp)
        await process.worker.work(run_id)
        status = (await row_of(process, run_id)).status
        assert status is (RunStatus.SUCCESS if is_worked_on else RunStatus.QUEUED)

    play(tmp_path, act)


def test_a_source_that_changes_into_another_one_is_the_same_to_its_own_process(tmp_path: Path) -> None:
    """What was queued before the change is worked on after it, and what is queued then as well."""
    sources = HeldSources(shop=SHOP)

    async def act(process: RunProcess) -> None:
        before = await queue_run(process, "shop", SHOP)
        sources.set_stamps(shop=BANK)
        await sources.refresh()
        after = await queue_run(process, "shop", BANK)
        for run_id in (before, after):
            await process.worker.work(run_id)
            assert (await row_of(process, run_id)).status is RunStatus.SUCCESS

    play(tmp_path, act, sources=sources)


def test_what_is_left_to_others_is_counted_for_each_source(tmp_path: Path) -> None:
    """And whether the name is known here as well: then it is another source."""

    async def act(process: RunProcess) -> None:
        for source, stamp in (("shop", SHOP), ("shop", BANK), ("bank", BANK), ("bank", BANK), (None, None)):
            await queue_run(process, source, stamp)
        left = (await process.supervisor.recover()).left
        reported = {(each.backlog.name, each.backlog.runs, each.is_another) for each in left}
        assert reported == {("shop", 1, True), ("bank", 2, False)}
        assert process.supervisor.left == 3

    play(tmp_path, act)


def test_before_a_run_is_left_to_others_the_own_sources_are_looked_at_again(tmp_path: Path) -> None:
    """A folder that has changed under a worker is found by the first run about what it holds now."""
    sources = HeldSources(shop=SHOP)

    async def act(process: RunProcess) -> None:
        run_id = await queue_run(process, "shop", BANK)
        sources.set_stamps(shop=BANK)
        process.kept.clock.advance(11.0)
        account = await process.supervisor.recover()
        assert (account.left, account.requeued) == ((), (run_id,))

    play(tmp_path, act, sources=sources)


def test_runs_of_other_sources_hold_up_no_own_one(tmp_path: Path) -> None:
    """However many older ones wait for a process that is not there."""

    async def act(process: RunProcess) -> None:
        for _ in range(110):
            await queue_run(process, "bank", BANK)
        process.kept.clock.advance(1.0)
        own = await queue_run(process, "shop", SHOP)
        process.kept.clock.advance(11.0)
        account = await process.supervisor.recover()
        assert account.requeued == (own,)
        assert account.left[0].backlog.runs == 110

    play(tmp_path, act)


def test_a_run_that_no_process_could_work_on_ends_with_that_reason(tmp_path: Path) -> None:
    """Not as if there had been no room; a run that this process takes ends TIMED_OUT as before."""

    async def act(process: RunProcess) -> None:
        await process.queue.listen(_never, parallel_max=1)
        ours, nobodys = await queue_run(process, "shop", SHOP), await queue_run(process, "bank", BANK)
        process.kept.clock.advance(START_WITHIN_S)
        await process.supervisor.recover()
        for run_id, state, code in (
            (ours, RunState.TIMED_OUT, "DEADLINE_EXCEEDED"),
            (nobodys, RunState.FAILED, "SOURCE_NOT_SERVED"),
        ):
            row = await row_of(process, run_id)
            assert row.ending is not None
            assert (row.ending.state, code_of(row), row.is_closed) == (state, code, True)

    play(tmp_path, act)


def test_a_run_about_no_source_was_never_without_one(tmp_path: Path) -> None:
    """If no process works on runs, it ends TIMED_OUT."""

    async def act(process: RunProcess) -> None:
        run_id = await queue_run(process, None, None)
        process.kept.clock.advance(START_WITHIN_S)
        await process.supervisor.recover()
        assert code_of(await row_of(process, run_id)) == "DEADLINE_EXCEEDED"

    play(tmp_path, act)


@pytest.mark.parametrize(
    ("lanes", "lives", "code"),
    [
        ((ANY_LANE, lane_of("bank", BANK.identity)), True, "DEADLINE_EXCEEDED"),
        ((ANY_LANE, lane_of("bank", BANK.identity)), False, "SOURCE_NOT_SERVED"),
        ((ANY_LANE,), True, "SOURCE_NOT_SERVED"),
        (None, True, "DEADLINE_EXCEEDED"),  # an older program does not say what it takes
    ],
)
def test_whether_another_process_has_the_source_is_what_it_says_as_long_as_it_lives(
    tmp_path: Path, lanes: tuple[str, ...] | None, *, lives: bool, code: str
) -> None:
    """A killed process's last heartbeat stays; nothing is decided before it is known to be dead."""

    async def act(process: RunProcess) -> None:
        run_id = await queue_run(process, "bank", BANK)
        process.kept.clock.advance(START_WITHIN_S)
        await process.kept.recovery.record_heartbeat("other", at_s=0.0, lanes=lanes)
        for beat in range(3):
            await process.supervisor.recover()
            process.kept.clock.advance(5.0)
            if lives:
                await process.kept.recovery.record_heartbeat("other", at_s=beat + 1.0, lanes=lanes)
        assert code_of(await row_of(process, run_id)) == code

    play(tmp_path, act)


def test_processes_say_which_runs_they_take(tmp_path: Path) -> None:
    """One that does not work on queued runs takes none, whatever sources it has."""

    async def act(process: RunProcess) -> None:
        await process.supervisor.send_heartbeat()
        assert (await process.kept.recovery.heartbeats())["me"].lanes == frozenset()
        await process.queue.listen(_never, parallel_max=1)
        await process.supervisor.send_heartbeat()
        assert (await process.kept.recovery.heartbeats())["me"].lanes == frozenset(process.sources.lanes())

    play(tmp_path, act)
