"""A writer of the log that fails: by an event, by a bug of its own, or for good."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

import pytest
from tests.support.small_run_log import a_process

from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase

T = TypeVar("T")


def test_an_event_that_no_database_can_hold_fails_its_own_run_and_the_log_goes_on(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Its flush raises a typed failure and is logged; runs beside it and after it are written."""

    async def story() -> None:
        async with a_process(sqlite_url) as (process, log, archive, _clock):
            good, bad = await process.begin_run("r1"), await process.begin_run("r2")
            log.emit(replace(_event("r2", 2), payload=MappingProxyType({"x": {1, 2}})))  # type: ignore[dict-item]  # no JSON
            process.tell(good)
            await asyncio.wait_for(log.flush(good), 10)
            with pytest.raises(StoreFailure, match="TypeError"):
                await asyncio.wait_for(log.flush(bad), 10)
            assert len(await archive.events("r1")) == 2
            assert log.problem() is None

    asyncio.run(story())
    assert "TypeError" in caplog.text


def test_a_writer_that_fails_by_itself_fails_the_flushes_typed_and_goes_on(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it had in hand is lost to its runs; the next run is written as ever."""

    async def story() -> None:
        async with a_process(sqlite_url) as (process, log, archive, clock):
            first, second = await process.begin_run("r1"), await process.begin_run("r2")
            with monkeypatch.context() as broken:
                broken.setattr(log, "_batch", _raises)
                process.tell(first)
                with pytest.raises(StoreFailure, match="RuntimeError"):
                    await asyncio.wait_for(log.flush(first), 10)
            clock.advance(1.0)
            process.tell(second)
            await asyncio.wait_for(log.flush(second), 10)
            assert len(await archive.events("r2")) == 2

    asyncio.run(story())


def test_a_writer_that_is_gone_is_reported(sqlite_url: str) -> None:
    """Whoever asks whether the process can work hears of it."""

    async def story() -> None:
        async with a_process(sqlite_url) as (process, log, _archive, _clock):
            ctx = await process.begin_run("r1")
            assert log.problem() is None
            (task,) = (task for task in asyncio.all_tasks() if task.get_name() == "run-log")
            task.cancel()
            await asyncio.wait([task])
            assert log.problem() == "the log writer has ended"
            with pytest.raises(StoreFailure, match="has ended"):
                await log.flush(ctx)

    asyncio.run(story())


def _raises() -> None:
    raise RuntimeError("a bug")


def _event(run_id: str, seq: int) -> TraceEvent:
    return TraceEvent(
        seq=seq,
        run_id=run_id,
        at_s=0.0,
        name=TraceName.TOOL_PROGRESS,
        phase=TracePhase.TOOL,
        status=TraceEventStatus.SUCCEEDED,
        payload=MappingProxyType({}),
    )
