"""A process that is killed in the middle of its appends: what was acknowledged is there, and nothing half."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest
from tests.support.rows import SUBMITTED_S, Kept

from diagnosis_harness.application.runs.store import Heartbeat
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.trace.event import TraceEventStatus, TraceName

KeptAt = Callable[..., AbstractAsyncContextManager[Kept]]

# Four runs at once; each acknowledged event and record is printed on standard output, one per line.
WORKS = """
import asyncio, sys
from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.evidence import SqlEvidenceStore
from diagnosis_harness.adapters.persistence.run_log import SqlRunLog
from diagnosis_harness.adapters.persistence.run_store import SqlRunStore
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.evidence import projecting_record, change_item, ready_record
from diagnosis_harness.testing.ids import CountingIds
from tests.support.rows import Process

async def work(process, number):
    run_id = f"r{number}"
    ctx = await process.begin_run(run_id)
    for step in range(1_000_000):
        call_id = f"t{step}"
        await process.evidence.begin(ctx, projecting_record(call_id, run_id=run_id))
        for _ in range(7):
            process.tell(ctx, step=step)
        await process.log.flush(ctx)
        await process.evidence.finish(ctx, ready_record(change_item(), tool_call_id=call_id, run_id=run_id))
        sys.stdout.write(f"{run_id} {1 + 7 * (step + 1)} {call_id}\\n")
        sys.stdout.flush()

async def main():
    base = await Database.open(sys.argv[1])
    clock = ManualClock()
    log = SqlRunLog(base, owner="doomed", clock=clock)
    await log.start()
    core = DiagnosisHarnessCore(clock=clock, ids=CountingIds(), sink=log)
    store, evidence = SqlRunStore(base, owner="doomed"), SqlEvidenceStore(base, owner="doomed")
    process = Process("doomed", core, store, log, log, evidence)
    await asyncio.gather(*(work(process, number) for number in range(4)))

asyncio.run(main())
"""


def _kill_after(url: str, lines: int) -> dict[str, tuple[int, list[str]]]:
    """What a process had acknowledged for each run, last event and records, when it was killed."""
    process = subprocess.Popen([sys.executable, "-c", WORKS, url], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = [process.stdout.readline() for _ in range(lines)]
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate(timeout=60)
    acknowledged: dict[str, tuple[int, list[str]]] = {}
    for line in [*output, *rest.splitlines(keepends=True)]:
        if not line.endswith("\n"):
            continue
        run_id, seq, call_id = line.split()
        _, calls = acknowledged.get(run_id, (0, []))
        acknowledged[run_id] = (int(seq), [*calls, call_id])
    return acknowledged


@pytest.mark.skipif(sys.platform == "win32", reason="platform: no SIGKILL there")
@pytest.mark.parametrize("lines", [1, 23, 60])
@pytest.mark.parametrize("place", ["sqlite_url", "postgres_url"])
def test_a_killed_process_leaves_what_it_acknowledged_and_all_its_runs_are_abandoned(
    place: str, lines: int, kept_at: KeptAt, request: pytest.FixtureRequest
) -> None:
    """Events without a gap, records whole, no row RUNNING, every log closed once."""
    url = request.getfixturevalue(place)
    acknowledged = _kill_after(url, lines)

    async def story() -> None:
        async with kept_at(url) as kept:
            assert await kept.recovery.heartbeats() == {"doomed": Heartbeat(None, has_work=True)}
            for run_id in await kept.recovery.running("doomed"):
                seq, calls = acknowledged.get(run_id, (0, []))
                await _is_whole(kept, run_id, seq, calls)
                assert await kept.recovery.abandon(run_id, owner="doomed", at_s=SUBMITTED_S + 60)
                await _is_closed(kept, run_id)
            assert await kept.recovery.heartbeats() == {}

    asyncio.run(story())


async def _is_whole(kept: Kept, run_id: str, seq: int, calls: list[str]) -> None:
    events = await kept.archive.events(run_id, limit=100_000)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert len(events) >= seq
    records = {record.tool_call_id: record for record in await kept.archive.records(run_id)}
    assert all(records[call_id].invocation is InvocationStatus.READY for call_id in calls)
    assert all(
        record.size_bytes for record in records.values() if record.invocation is InvocationStatus.READY
    )


async def _is_closed(kept: Kept, run_id: str) -> None:
    row = await kept.archive.run(run_id)
    assert row is not None
    assert row.is_closed
    names = [event.name for event in await kept.archive.events(run_id, limit=100_000)]
    assert names[-2:] == [TraceName.RUN_ENDED, TraceName.RUN_FINISHED]
    assert names.count(TraceName.RUN_FINISHED) == 1
    records = await kept.archive.records(run_id)
    assert not any(record.invocation is InvocationStatus.PROJECTING for record in records)


def test_what_a_lost_run_spent_is_read_off_its_log(sqlite_url: str, kept_at: KeptAt) -> None:
    """Steps and calls that had begun, each once, wherever its records are."""

    async def story() -> None:
        async with kept_at(sqlite_url) as kept:
            ctx = await kept.one.begin_run("r1")
            for name in (TraceName.AGENT_MODEL_STEP, TraceName.TOOL_INVOCATION, TraceName.TOOL_INVOCATION):
                kept.one.tell(ctx, name, status=TraceEventStatus.STARTED)
                kept.one.tell(ctx, name, status=TraceEventStatus.SUCCEEDED)
            await kept.one.log.flush(ctx)
            assert await kept.recovery.abandon("r1", owner="one", at_s=SUBMITTED_S + 60)
            row = await kept.archive.run("r1")
            assert row is not None
            assert row.ending is not None
            assert (row.ending.spent.agent_steps, row.ending.spent.tool_calls) == (1, 2)

    asyncio.run(story())
