"""Databases for queues, and processes that listen to them."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import pytest

WORKER = Path(__file__).with_name("worker.py")
LIMIT_S = 60.0
Received: TypeAlias = "queue.SimpleQueue[tuple[str, str]]"


class Worker:
    """A process that listens; its lines come one by one."""

    def __init__(self, url: str, executor: str, mode: str, received: Received) -> None:
        self._executor = executor
        self._received = received
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", str(WORKER), url, executor, mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line.strip())
            self._received.put((self._executor, line.strip()))
        self._lines.put("")  # the end of them

    def line(self) -> str:
        """The next line; empty after the last one."""
        return self._lines.get(timeout=LIMIT_S)

    def took(self) -> str:
        """The id of the next run that it took."""
        line = self.line()
        assert line.startswith("took "), line
        return line.removeprefix("took ")

    def kill(self) -> None:
        """Kill -9."""
        self.process.kill()
        self.process.wait(LIMIT_S)

    def close(self) -> list[str]:
        """Let it end in an orderly way; the lines that were not read."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait(LIMIT_S)
        return self.rest()

    def rest(self) -> list[str]:
        """The lines that were not read of a process that has ended."""
        return list(iter(self.line, ""))

    def errors(self) -> str:
        """What it wrote to stderr, after its end."""
        assert self.process.stderr
        return self.process.stderr.read()

    def remove(self) -> None:
        """Whatever became of it, nothing is left."""
        self.kill()
        self._reader.join(LIMIT_S)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe
            pipe.close()


@pytest.fixture(name="received")
def open_received() -> Received:
    """What each process of a test has written, in order."""
    return queue.SimpleQueue()


@pytest.fixture
def worker(received: Received) -> Iterator[Callable[..., Worker]]:
    """Starts a process that listens, and waits until it does."""
    with ExitStack() as stack:

        def start(url: str, executor: str, mode: str = "take") -> Worker:
            started = Worker(url, executor, mode, received)
            stack.callback(started.remove)
            first = started.line()
            assert first == "listening", (first, started.errors())
            return started

        yield start


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> str:
    """A database of either kind."""
    found: str = request.getfixturevalue("postgres_url" if request.param == "postgresql" else "sqlite_url")
    return found
