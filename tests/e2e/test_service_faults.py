"""The whole service while its disk fills, its database goes away, and its evidence store is restarted.

Each time: typed ends and clear words, nothing shown that was not kept, and all is well afterwards without a
restart of the process.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.kill.played import cast
from tests.kill.stage import settings_at
from tests.support.servers import Databases, Valkey

from diagnosis_harness.application.callers.caller import LOCAL
from diagnosis_harness.application.runs.request import RunKind
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.application.runs.store import RunQuery
from diagnosis_harness.application.runs.submission import Submission
from diagnosis_harness.application.service import Service
from diagnosis_harness.bootstrap.service import open_service
from diagnosis_harness.harness.waiting import sleep
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import RunNotKept, StoreFailure
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.trace.event import TraceName

WAIT_S = 60.0


@dataclass(slots=True)
class Scene:
    """A service that works on queued runs, and that is chatted with."""

    service: Service
    executed: list[str]

    async def chat(self, question: str) -> RunRow:
        """Ask and wait for the end."""
        request = await self.service.runs.request(LOCAL, Submission(question=question), RunKind.CHAT)
        async with asyncio.timeout(WAIT_S):
            return await self.service.chat.answer(request, lambda _: None)

    async def submit(self, question: str) -> str:
        """Queue a run."""
        return (await self.service.runs.submit(LOCAL, Submission(question=question))).row.run_id

    async def at_work(self) -> None:
        """Return when a tool has been executed from now on."""
        before = len(self.executed)
        async with asyncio.timeout(WAIT_S):
            while len(self.executed) == before:
                await sleep(SystemClock(), 0.01)

    async def rows(self) -> list[RunRow]:
        """Every run there is."""
        return list((await self.service.stores.archive.runs(RunQuery(limit=500))).rows)

    async def wait_for_recovery(self) -> list[RunRow]:
        """Every run, when all have ended and are closed, each once; and a new question is answered."""
        async with asyncio.timeout(WAIT_S):
            while not all(row.is_closed for row in await self._rows_if_any()):
                await sleep(SystemClock(), 0.05)
        rows = await self.rows()
        for row in rows:
            names = [event.name for event in await self.service.runs.events(LOCAL, row.run_id)]
            assert names[-1] is TraceName.RUN_FINISHED
            assert names.count(TraceName.RUN_FINISHED) == 1
            records = await self.service.runs.records(LOCAL, row.run_id)
            assert not any(record.invocation is InvocationStatus.PROJECTING for record in records)
            assert row.ending is not None
            if row.status is RunStatus.FAILED:
                assert row.ending.failure is not None
                assert row.ending.failure.code == "INTERNAL_FAILURE"
                assert row.ending.failure.message.endswith(".")
                assert row.ending.answer is None
        assert (await self.chat("broad")).status is RunStatus.SUCCESS
        await self._background("broad")
        return rows

    async def _rows_if_any(self) -> list[RunRow]:
        try:
            return await self.rows()
        except StoreFailure:
            await sleep(SystemClock(), 0.2)
            return await self._rows_if_any()

    async def _background(self, question: str) -> None:
        run_id = await self.submit(question)
        async with asyncio.timeout(WAIT_S):
            while not (row := await self.service.runs.row(LOCAL, run_id)).is_closed:
                await sleep(SystemClock(), 0.05)
        assert row.status is RunStatus.SUCCESS


@asynccontextmanager
async def serving(url: str, folder: Path, **sections: dict[str, Any]) -> AsyncIterator[Scene]:
    """The service."""
    executed: list[str] = []
    players, tools = cast(executed.append)
    settings = settings_at(
        url, folder, run={"finalise_timeout_s": 2.0}, database={"busy_timeout_s": 2.0}, **sections
    )
    async with open_service(
        settings, accept_background_runs=True, players=players, extra_tools=tools
    ) as service:
        yield Scene(service, executed)


@contextmanager
def a_full_disk(folder: Path) -> Iterator[None]:
    """No file may grow beyond what the database has now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size_bytes = max(file.stat().st_size for file in folder.glob("runs.db*"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_disk_that_fills_ends_runs_typed_and_all_is_well_when_there_is_room(
    sqlite_url: str, tmp_path: Path
) -> None:
    """What goes on cannot be kept and says so; what is asked meanwhile is refused; later both are ended."""

    async def story() -> None:
        async with serving(sqlite_url, tmp_path) as scene:
            assert (await scene.chat("broad")).status is RunStatus.SUCCESS
            goes_on = asyncio.create_task(scene.chat("steady"))
            await scene.at_work()
            with a_full_disk(tmp_path):
                with pytest.raises(RunNotKept, match="the end of the run could not be stored"):
                    await goes_on
                with pytest.raises(StoreFailure, match="disk"):
                    await scene.chat("greet")
            rows = await scene.wait_for_recovery()
            assert sorted(row.status for row in rows) == [RunStatus.FAILED, RunStatus.SUCCESS]

    asyncio.run(story())


def test_a_database_that_disappears_in_the_middle_of_runs_and_comes_back(
    databases: Databases, postgres_url: str, tmp_path: Path
) -> None:
    """A chat whose end falls into that time is FAILED; what goes on goes on, and the queue delivers again."""
    server = databases.server
    if server is None:
        pytest.skip("program: the PostgreSQL server of TEST_DATABASE_URL is not ours to stop")

    async def story() -> None:
        async with serving(postgres_url, tmp_path) as scene:
            chat = asyncio.create_task(scene.chat("slow"))
            await scene.at_work()
            await scene.submit("slow")
            await scene.at_work()
            await asyncio.to_thread(server.stop)
            try:
                with pytest.raises(RunNotKept, match="the end of the run could not be stored"):
                    await asyncio.wait_for(asyncio.shield(chat), 30.0)
                with pytest.raises(StoreFailure, match="database"):
                    await scene.chat("greet")
            finally:
                await asyncio.to_thread(server.start)
            rows = await scene.wait_for_recovery()
            assert [row.status for row in rows if row.request.kind is RunKind.CHAT] == [RunStatus.FAILED]
            assert len(rows) == 2

    asyncio.run(story())


def test_an_evidence_store_that_is_restarted_in_the_middle_of_a_run(
    valkey_server: Valkey | None, valkey_url: str, sqlite_url: str, tmp_path: Path
) -> None:
    """Tools are refused while it is unavailable; stored records are kept, and the run ends by itself."""
    if valkey_server is None:
        pytest.skip("program: the server of TEST_REDIS_URL is not ours to stop")

    async def story() -> None:
        async with serving(sqlite_url, tmp_path, evidence={"url": valkey_url}) as scene:
            chat = asyncio.create_task(scene.chat("slow"))
            await scene.at_work()
            await scene.at_work()
            await asyncio.to_thread(valkey_server.stop)
            await sleep(SystemClock(), 0.3)
            await asyncio.to_thread(valkey_server.start)
            row = await chat
            assert row.status.is_final
            records = await scene.service.runs.records(LOCAL, row.run_id)
            assert sum(record.invocation is InvocationStatus.READY for record in records) >= 1
            await scene.wait_for_recovery()

    asyncio.run(story())
