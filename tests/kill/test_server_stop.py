"""`diagnose serve` is asked to stop: the process closes all its resources and says so."""

from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx2
import psycopg
import pytest

from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.simulator.folder import simulate_folder

WAIT_S = 60.0
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
}  # fmt: skip


@contextmanager
def serving(*options: str, database: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command and its URL, from when it listens; gone afterwards."""
    with subprocess.Popen(
        [sys.executable, "-m", "diagnosis_harness", "serve", "--port", "0", *options],
        env=ENVIRONMENT | {"DIAGNOSE_DATABASE__URL": database},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            yield process, _until(process, r"Listening on (\S+)\. ")[1]
        finally:
            process.kill()


def _until(process: subprocess.Popen[str], pattern: str) -> re.Match[str]:
    assert process.stderr
    output = []
    for line in process.stderr:
        output.append(line)
        if found := re.search(pattern, line):
            return found
    raise AssertionError("".join(output))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_asked_to_stop_closes_everything_and_exits_0(tmp_path: Path, number: signal.Signals) -> None:
    """Like a worker, it shuts down on the signal and signs off, so no process must detect its death."""
    file = tmp_path / "runs.db"
    with serving(database=str(file)) as (process, url):
        assert httpx2.get(f"{url}/readyz", trust_env=False).status_code == 200
        process.send_signal(number)
        _until(process, r"^Stopping")
        _until(process, r"^Stopped\.$")
        assert process.wait(WAIT_S) == 0
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("SELECT count(*) FROM worker").fetchone() == (0,)


def test_a_second_ctrl_c_leaves_at_once(postgres_url: str, tmp_path: Path) -> None:
    """Exit code 130, though a run is at work and would have been waited for."""
    folder = simulate_folder(FaultKind.CPU, seed=1, parent=tmp_path).folder
    with (
        serving("--from", str(folder), database=postgres_url) as (process, url),
        psycopg.connect(postgres_url) as held_up,
    ):
        held_up.execute("LOCK TABLE evidence_record IN ACCESS EXCLUSIVE MODE")
        asked = {"question": "why is checkout slow?"}
        run = httpx2.post(f"{url}/v1/runs", json=asked, trust_env=False).json()
        clock = SystemClock()
        until_s = clock.now_s() + WAIT_S
        while httpx2.get(f"{url}/v1/runs/{run['run_id']}", trust_env=False).json()["status"] == "QUEUED":
            assert clock.now_s() < until_s
        process.send_signal(signal.SIGINT)
        _until(process, r"^Stopping")
        told_s = clock.now_s()
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_S) == 130
        assert clock.now_s() - told_s < 5.0
        held_up.rollback()


def test_a_server_that_asks_for_keys_and_has_none_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody could ask it anything."""
    monkeypatch.setitem(ENVIRONMENT, "DIAGNOSE_SERVER__REQUIRE_KEY", "true")
    with serving(database=str(tmp_path / "runs.db")) as (process, _):
        assert "diagnose keys add" in _until(process, "but none exists").string


def test_a_baseline_needs_an_incident(tmp_path: Path) -> None:
    """It is not left aside without a word."""
    command = [sys.executable, "-m", "diagnosis_harness", "serve", "--baseline", str(tmp_path)]
    finished = subprocess.run(command, env=ENVIRONMENT, capture_output=True, check=False, timeout=WAIT_S)
    assert finished.returncode == 2
    assert "--baseline: it is given without --from" in finished.stderr.decode()
