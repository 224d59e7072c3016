"""`diagnose worker` is asked to stop: active runs may end, queued ones are left to other processes."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from diagnosis_harness.application.callers.caller import LOCAL
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.application.runs.submission import Submission
from diagnosis_harness.application.service import Service
from diagnosis_harness.bootstrap.service import open_service
from diagnosis_harness.harness.waiting import sleep
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.settings import load_settings
from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.simulator.folder import simulate_folder

WAIT_S = 60.0
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An incident that a diagnosis takes a while for."""
    return simulate_folder(FaultKind.CPU, seed=1, parent=tmp_path_factory.mktemp("incident")).folder


@dataclass(slots=True)
class Scene:
    """A worker of the command line, a service that looks on, and a lock that holds diagnoses up."""

    service: Service
    worker: subprocess.Popen[str]
    settings_file: Path

    async def ask(self, question: str) -> str:
        """Queue a run."""
        return (await self.service.runs.submit(LOCAL, Submission(question=question))).row.run_id

    async def row(self, run_id: str) -> RunRow:
        """A row as it stands."""
        return await self.service.runs.row(LOCAL, run_id)

    async def until(self, run_id: str, *wanted: RunStatus) -> RunRow:
        """The row, when its status is one of these."""
        async with asyncio.timeout(WAIT_S):
            while (row := await self.row(run_id)).status not in wanted:
                await sleep(SystemClock(), 0.05)
        return row

    async def wait_for_exit(self) -> int:
        """The exit code, when the worker has ended."""
        return await asyncio.to_thread(self.worker.wait, WAIT_S)


@pytest.fixture
def settings_file(postgres_url: str, folder: Path, tmp_path: Path) -> Path:
    """A settings file as an operator writes it."""
    file = tmp_path / "settings.toml"
    file.write_text(
        f"""
[database]
url = "{postgres_url}"
busy_timeout_s = 3.0
[run]
finalise_timeout_s = 3.0
[supervision]
drain_s = 60.0
dead_after_s = 60.0
[sources.shop]
folder = "{folder}"
""",
        encoding="utf-8",
    )
    return file


@contextmanager
def working(settings_file: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """The command, from when it says that it works; gone afterwards."""
    command = [sys.executable, "-m", "diagnosis_harness", "--settings", str(settings_file), "worker"]
    with subprocess.Popen(
        [*command, "--parallel", "1"],
        env=ENVIRONMENT | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            _wait_for_output(process, "Working as ")
            yield process
        finally:
            process.kill()


def _wait_for_output(process: subprocess.Popen[str], words: str) -> None:
    assert process.stderr
    output = []
    for line in process.stderr:
        output.append(line)
        if words in line:
            return
    raise AssertionError("".join(output))


@asynccontextmanager
async def scene(settings_file: Path, **environment: str) -> AsyncIterator[Scene]:
    """The scene."""
    with working(settings_file, **environment) as worker:
        async with open_service(load_settings(settings_file), accept_background_runs=False) as service:
            yield Scene(service, worker, settings_file)


@contextmanager
def hold_up(url: str) -> Iterator[psycopg.Connection]:
    """No evidence can be kept: a diagnosis waits, for one tool after the other."""
    with psycopg.connect(url) as connection:
        connection.execute("LOCK TABLE evidence_record IN ACCESS EXCLUSIVE MODE")
        yield connection
        connection.rollback()


def test_a_worker_asked_to_stop_lets_its_run_end_and_leaves_the_rest_to_others(
    settings_file: Path, postgres_url: str
) -> None:
    """It exits 0; the run that waited is QUEUED still, and the next worker does it."""

    async def story() -> None:
        async with scene(settings_file) as at:
            with hold_up(postgres_url) as lock:
                run_id = await at.ask("why is checkout slow?")
                await at.until(run_id, RunStatus.RUNNING)
                waits = await at.ask("what can you do?")
                at.worker.send_signal(signal.SIGTERM)
                await asyncio.to_thread(_wait_for_output, at.worker, "Stopping")
                assert (await at.row(run_id)).status is RunStatus.RUNNING
                lock.rollback()
            assert await at.wait_for_exit() == 0
            row = await at.row(run_id)
            assert row.is_closed
            assert row.status is RunStatus.SUCCESS
            assert (await at.row(waits)).status is RunStatus.QUEUED
            with working(settings_file) as another:
                await at.until(waits, RunStatus.SUCCESS)
                another.send_signal(signal.SIGTERM)
                assert await asyncio.to_thread(another.wait, WAIT_S) == 0

    asyncio.run(story())


def test_a_run_that_takes_longer_than_the_worker_waits_ends_failed(
    settings_file: Path, postgres_url: str
) -> None:
    """Its row and log are closed by the worker itself, which exits 0 within its bounds."""

    async def story() -> None:
        async with scene(settings_file, DIAGNOSE_SUPERVISION__DRAIN_S="0.5") as at:
            with hold_up(postgres_url):
                run_id = await at.ask("why is checkout slow?")
                await at.until(run_id, RunStatus.RUNNING)
                clock = SystemClock()
                told_s = clock.now_s()
                at.worker.send_signal(signal.SIGTERM)
                assert await at.wait_for_exit() == 0
                # To drain, to end the run, to let go of the statement that waits, and of the queue.
                assert clock.now_s() - told_s < 0.5 + 4 * 3.0 + 3.0 + 10.0
                row = await at.row(run_id)
            assert row.is_closed
            assert row.ending is not None
            assert row.ending.failure is not None
            assert (row.status, row.ending.failure.code) == (RunStatus.FAILED, "INTERNAL_FAILURE")
            assert row.ending.termination.detail == "the service stopped"

    asyncio.run(story())


def test_a_second_ctrl_c_leaves_at_once(settings_file: Path, postgres_url: str) -> None:
    """Exit code 130 without waiting; another process ends the run."""

    async def story() -> None:
        async with scene(settings_file) as at:
            with hold_up(postgres_url):
                run_id = await at.ask("why is checkout slow?")
                row = await at.until(run_id, RunStatus.RUNNING)
                at.worker.send_signal(signal.SIGINT)
                await asyncio.to_thread(_wait_for_output, at.worker, "Stopping")
                clock = SystemClock()
                told_s = clock.now_s()
                at.worker.send_signal(signal.SIGINT)
                assert await at.wait_for_exit() == 130
                assert clock.now_s() - told_s < 5.0
            assert row.owner
            await at.service.supervisor._recovery.sign_off(row.owner)
            ended = await at.until(run_id, RunStatus.FAILED)
            assert ended.ending is not None
            assert re.search("gone", ended.ending.termination.detail)

    asyncio.run(story())
