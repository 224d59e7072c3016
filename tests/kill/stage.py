"""Real processes of one service, started cheaply, and what must be true when some of them were killed."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.kill.victim import Role, main

from diagnosis_harness.adapters.persistence.log_rows import event_columns
from diagnosis_harness.application.callers.caller import LOCAL
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.application.runs.submission import Submission
from diagnosis_harness.application.service import Service
from diagnosis_harness.bootstrap.service import open_service
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.harness.waiting import sleep
from diagnosis_harness.kernel.canonical import digest
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.settings import Settings, load_settings
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.tools.stored import read_stored
from diagnosis_harness.trace.event import TraceEvent, TraceName

WAIT_S = 60.0

# A server that forks has loaded everything once and has no threads.
_FORKS = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    [
        "tests.kill.victim",
        "diagnosis_harness.adapters.queue.dbos_queue",
        "diagnosis_harness.server.app",
        *("alembic.command", "bm25s", "dbos._sys_db_sqlite", "mako.template", "snowballstemmer"),
        *("psycopg", "sqlalchemy.dialects.postgresql.psycopg", "uvicorn"),
    ]
)


def settings_at(url: str, folder: Path, **sections: dict[str, Any]) -> Settings:
    """Settings of a process: quick supervision, one run at a time, no waiting between attempts."""
    runbooks = folder / "runbooks"
    runbooks.mkdir(exist_ok=True)
    (runbooks / "payment.md").write_text(
        "# Payment is slow\n\nRestart the payment service and look at its queue.\n", encoding="utf-8"
    )
    given: dict[str, dict[str, Any]] = {
        "database": {"url": url, "busy_timeout_s": 20.0},
        "run": {"finalise_timeout_s": 20.0},
        "knowledge": {"folder": str(runbooks), "index_folder": str(folder / "index")},
        "supervision": {
            "heartbeat_s": 0.5,
            "poll_s": 0.5,
            "dead_after_s": 60.0,
            "requeue_after_s": 2.0,
            "drain_s": 2.0,
        },
        "queue": {"parallel_max": 1, "poll_interval_s": 0.3},
        "progress": {"no_gain": 1},
        "retry": {"delay_s": 0.001},
        "server": {"port": 0, "unfinished_runs": 1_000},
    }
    for name, values in sections.items():
        given[name] = {**given.get(name, {}), **values}
    settings = load_settings()
    return settings.model_copy(
        update={name: getattr(settings, name).model_copy(update=values) for name, values in given.items()}
    )


@dataclass(slots=True)
class Member:
    """One process."""

    process: BaseProcess
    line: Connection
    owner: str = ""
    url: str = ""
    is_aged: bool = False

    @property
    def is_alive(self) -> bool:
        """Whether it was not killed."""
        return self.process.is_alive()

    def signal(self, number: int) -> None:
        """Send it a signal."""
        os.kill(self.process.pid or 0, number)

    async def ready(self) -> None:
        """Return when it serves or listens."""
        await _readable(self.line.fileno())
        message = self.line.recv()
        self.owner, self.url = message["owner"], message.get("url", "")

    async def dead(self) -> None:
        """Return when it is gone."""
        await _readable(self.process.sentinel)
        self.process.join(WAIT_S)

    def close(self) -> None:
        """Be rid of it, whatever it does."""
        if self.is_alive:
            self.process.kill()
        self.process.join(WAIT_S)
        self.line.close()
        self.process.close()


def _set(came: asyncio.Future[None]) -> None:
    if not came.done():
        came.set_result(None)


async def _readable(number: int) -> None:
    loop = asyncio.get_running_loop()
    came: asyncio.Future[None] = loop.create_future()
    loop.add_reader(number, partial(_set, came))
    try:
        async with asyncio.timeout(WAIT_S):
            await came
    finally:
        loop.remove_reader(number)


@dataclass(slots=True)
class Stage:
    """A service of which this process is the server that survives: it submits, watches and cares."""

    service: Service
    settings: Settings
    folder: Path
    members: list[Member] = field(default_factory=list)

    async def start_members(self, count: int, *, serves: bool = False) -> list[Member]:
        """So many processes more, ready."""
        fresh = []
        for _ in range(count):
            ours, theirs = _FORKS.Pipe()
            process = _FORKS.Process(
                target=main, args=(Role(self.folder, self.settings, serves=serves), theirs), daemon=True
            )
            process.start()
            theirs.close()
            fresh.append(Member(process, ours))
        self.members += fresh
        await asyncio.gather(*(member.ready() for member in fresh))
        return fresh

    async def submit(self, *questions: str) -> list[str]:
        """Queue runs; their ids."""
        return [
            (await self.service.runs.submit(LOCAL, Submission(question=question))).row.run_id
            for question in questions
        ]

    async def row(self, run_id: str) -> RunRow:
        """A row as it stands."""
        return await self.service.runs.row(LOCAL, run_id)

    async def until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        """Return when something has come to be so."""
        try:
            async with asyncio.timeout(WAIT_S):
                while not await holds():
                    await sleep(SystemClock(), 0.1)
        except TimeoutError:
            raise AssertionError("\n".join(await self._standing())) from None

    async def _standing(self) -> list[str]:
        """The state of everything, for finding out why a test does not continue."""
        lines = [f"process {member.owner} lives: {member.is_alive}" for member in self.members]
        for row in (await self.rows()).values():
            names = [event.name.value for event in await self.events(row.run_id)]
            lines.append(
                f"{row.request.question}: {row.status} of {row.owner}, closed: {row.is_closed}, {names}"
            )
        return lines

    async def was_reported(self, kind: str, run_id: str) -> bool:
        """Whether any process reported an event of the run."""
        return any(line.startswith(f"{run_id} ") for _, line in self.diary(kind))

    async def time_passes_for_the_dead(self) -> None:
        """They have signed off, as after a long silence. A slow machine declares no process dead."""
        for member in self.members:
            if not member.is_alive and not member.is_aged:
                member.is_aged = True
                await self.service.supervisor._recovery.sign_off(member.owner)

    async def until_all_closed(self) -> dict[str, RunRow]:
        """Every run there is, when all have ended and are closed."""

        async def are_closed() -> bool:
            await self.time_passes_for_the_dead()
            return all(row.is_closed for row in (await self.rows()).values())

        await self.until(are_closed)
        return await self.rows()

    async def rows(self) -> dict[str, RunRow]:
        """Every run there is."""
        page = await self.service.stores.archive.runs(RunQuery(limit=500))
        assert page.next is None
        return {row.run_id: row for row in page.rows}

    async def events(self, run_id: str) -> tuple[TraceEvent, ...]:
        """The log of a run."""
        return await self.service.runs.events(LOCAL, run_id)

    def diary(self, kind: str) -> Iterable[tuple[str, str]]:
        """What the processes reported, each line with its process."""
        for file in sorted(self.folder.glob(f"{kind}-*")):
            for line in file.read_text(encoding="utf-8").splitlines():
                yield file.name, line


@asynccontextmanager
async def open_stage(url: str, folder: Path, **sections: dict[str, Any]) -> AsyncIterator[Stage]:
    """The stage; whatever became of its processes, none is left."""
    settings = settings_at(url, folder, **sections)
    async with open_service(settings, accept_background_runs=False) as service:
        stage = Stage(service, settings, folder)
        try:
            yield stage
        finally:
            for member in stage.members:
                with suppress(ProcessLookupError):
                    member.signal(signal.SIGCONT)
                member.close()


# ------------------------------------------------------------------ what must be true afterwards


async def assert_whole(stage: Stage) -> int:
    """Whatever was killed: each run ended once, in one process, and nothing acknowledged is lost.

    Returns:
        How many runs were looked at.
    """
    rows = await stage.until_all_closed()
    logs = {run_id: await stage.events(run_id) for run_id in rows}
    for run_id, row in rows.items():
        _assert_ended_once(row, logs[run_id])
        await _assert_records_whole(stage, run_id)
    _assert_acknowledged_stands(stage, logs)
    _assert_worked_on_once(stage)
    return len(rows)


def _assert_ended_once(row: RunRow, log: tuple[TraceEvent, ...]) -> None:
    about = f"{row.request.question}: {[event.name.value for event in log]}"
    assert row.status.is_final, about
    assert row.ending, about
    assert [event.seq for event in log] == list(range(1, len(log) + 1)), about
    names = Counter(event.name for event in log)
    assert log[-1].name is TraceName.RUN_FINISHED, about
    assert names[TraceName.RUN_FINISHED] == 1, about
    assert names[TraceName.RUN_ENDED] == (0 if row.started_s is None else 1), about
    ends = [event for event in log if event.name in (TraceName.RUN_ENDED, TraceName.RUN_FINISHED)]
    assert {event.payload["state"] for event in ends} == {row.ending.state.value}, about
    assert log[-1].payload["outcome"] == row.ending.outcome.value, about
    assert [event.at_s for event in log] == sorted(event.at_s for event in log), about


async def _assert_records_whole(stage: Stage, run_id: str) -> None:
    for record in await stage.service.runs.records(LOCAL, run_id):
        assert record.invocation is not InvocationStatus.PROJECTING
        if record.projection is not None:
            assert read_stored(record.projection.stored).projection == record.projection
            assert record.digest == digest(record.projection.stored)


def _assert_acknowledged_stands(stage: Stage, logs: dict[str, tuple[TraceEvent, ...]]) -> None:
    stands = {run_id: {event.seq: event_columns(event) for event in log} for run_id, log in logs.items()}
    for _, line in stage.diary("acknowledged"):
        event = json.loads(line)
        assert stands[event["run_id"]][event["seq"]] == event


def _assert_worked_on_once(stage: Stage) -> None:
    """No run starts in two processes, no event of it is reported twice, and no tool executes twice for it."""
    events = [line for line in stage.diary("emitted") if not _is_refused_claim(line[1])]
    executed = list(stage.diary("executed"))
    places: dict[str, set[str]] = defaultdict(set)
    for lines in (events, executed):
        twice = [line for line, count in Counter(line for _, line in lines).items() if count > 1]
        assert not twice, twice
        for file, line in lines:
            places[line.split(maxsplit=1)[0]].add(file.rpartition("-")[2])
    several = {run_id: processes for run_id, processes in places.items() if len(processes) > 1}
    assert not several, several


def _is_refused_claim(emitted: str) -> bool:
    """That a delivery came too late: the run was another's, and what ended here is nothing that was begun."""
    return emitted.split()[1:] == ["1", TraceName.RUN_ENDED.value]


async def expect_death(stage: Stage, run_id: str, kind: str, moment: str) -> None:
    """The process of a run died at the chosen place, and the run ended accordingly."""
    row = await stage.row(run_id)
    assert row.ending is not None
    if moment == "emitted":
        # A second process may have taken the delivery too late; its reports are not of the dead one.
        events = [line for _, line in stage.diary("emitted") if line.startswith(f"{run_id} ")]
        assert [line for line in events if not _is_refused_claim(line)][-1].split()[2] == kind, events
    else:
        acknowledged = [json.loads(line) for _, line in stage.diary("acknowledged")]
        assert any((event["run_id"], event["name"]) == (run_id, kind) for event in acknowledged)
    if kind == TraceName.RUN_FINISHED:  # its end was kept before: it stands
        assert (row.status, row.ending.state) == (RunStatus.SUCCESS, RunState.SUCCESS)
        assert row.ending.answer is not None
    else:
        assert row.ending.failure is not None
        assert (row.status, row.ending.failure.code) == (RunStatus.FAILED, "INTERNAL_FAILURE")
        assert row.ending.answer is None
