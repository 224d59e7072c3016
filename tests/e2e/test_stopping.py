"""Ctrl+C before there is a run, at any moment: exit code 130, at most one sentence, never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

PLAIN = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "COLUMNS": "100"}
DIAGNOSE = ("-m", "diagnosis_harness")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An incident folder that takes a second to read: CSV, and one object a line."""
    folder = tmp_path_factory.mktemp("stopping")
    rows = "SELECT 1700000000 + t AS time, 'e' || e AS entity, 'latency_ms' AS signal, 0.001 * t AS value"
    duckdb.execute(f"COPY ({rows} FROM range(2500) a(t), range(100) b(e)) TO '{folder}/metrics.csv'")
    duckdb.execute(f"COPY ({rows} FROM range(1000) a(t), range(100) b(e)) TO '{folder}/metrics2.jsonl'")
    return folder


@contextmanager
def start_process(*arguments: str, pipe_bytes: int = -1) -> Iterator[subprocess.Popen[str]]:
    """A process that is still at work, and gone afterwards.

    With small pipes it cannot run far ahead of what was read of it: it waits for its reader, however late
    that one comes.
    """
    command = [sys.executable, *arguments]
    with subprocess.Popen(
        command,
        env=PLAIN,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        pipesize=pipe_bytes,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def read_bytes(process: subprocess.Popen[str]) -> int | None:
    """How much the process has read so far, files and modules; None once it has ended.

    Of a process that has ended and was not waited for, the kernel shows the counts to root alone.
    """
    try:
        counts = Path(f"/proc/{process.pid}/io").read_text(encoding="ascii")
    except PermissionError:
        return None
    for line in counts.splitlines():
        if line.startswith("rchar: "):
            return int(line.removeprefix("rchar: "))
    raise AssertionError("the kernel counts no reads")


@pytest.mark.parametrize("share", [0.02, 0.3, 0.7, 1.1, 1.6, 2.0])
def test_ctrl_c_while_the_folder_is_read_is_one_sentence(folder: Path, share: float) -> None:
    """Wherever it meets the reader: the database's own error for it is no bug of ours."""
    size = sum(file.stat().st_size for file in folder.iterdir())
    before = _read_by_imports()
    with start_process(*DIAGNOSE, "ask", "why", "--from", str(folder)) as process:
        while process.poll() is None:
            read = read_bytes(process)
            if read is None or read >= before + share * size:
                break
            os.sched_yield()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)

    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1:] == ["Stopped."]
    assert "Traceback" not in err


def _read_by_imports() -> int:
    """How much a process reads until it could open a folder."""
    with start_process(*DIAGNOSE, "ask", "why", "--from", "/nowhere") as process:
        read = 0
        while process.poll() is None:
            read = max(read, read_bytes(process) or 0)
    assert read > 0, "no count of a process at work can be read"
    return read


@pytest.mark.parametrize(
    "module",
    [
        "diagnosis_harness.kernel.errors", "typer", "diagnosis_harness.cli.bench", "rich.text",
        "diagnosis_harness.cli.live", "numpy._core._multiarray_umath", "numpy.linalg", "pydantic_settings",
        "diagnosis_harness.settings", "_duckdb", "duckdb",
    ],
)  # fmt: skip
def test_ctrl_c_while_modules_are_imported_shows_no_traceback(folder: Path, module: str) -> None:
    """From the first module of ours to the database, an extension module in the middle included."""
    ask = ("-X", "importtime", *DIAGNOSE, "ask", "why", "--from", str(folder))
    with start_process(*ask, pipe_bytes=4_096) as process:
        assert process.stderr is not None
        assert any(line.rpartition("| ")[2].strip() == module for line in process.stderr)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)

    output = [line for line in err.splitlines() if not line.startswith("import time:")]
    assert (process.returncode, out) == (130, "")
    assert output in ([], ["Stopped."])


def test_ctrl_c_again_and_again_shows_no_traceback(folder: Path) -> None:
    """An impatient user, also while the first one is being answered."""
    ask = ("-X", "importtime", *DIAGNOSE, "ask", "why", "--from", str(folder))
    with start_process(*ask, pipe_bytes=4_096) as process:
        assert process.stderr is not None
        assert any(line.rpartition("| ")[2].strip() == "rich.live" for line in process.stderr)
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            os.sched_yield()
        err = process.stderr.read()

    assert process.returncode == 130
    assert "Traceback" not in err
