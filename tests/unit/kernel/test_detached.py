"""Calls that may block: each has a thread while it lasts, and no thread outlives the last of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from functools import partial
from typing import NoReturn

import pytest

from diagnosis_harness.kernel.detached import DetachedCalls


def _raising(error: type[BaseException]) -> Callable[[], NoReturn]:
    def raise_broken() -> NoReturn:
        raise error

    return raise_broken


def test_calls_that_block_keep_each_other_up_only_beyond_the_bound() -> None:
    """Two may block at once here; the third begins when one of them is over, and none is lost."""
    calls = DetachedCalls(threads_max=2)
    go_on, inside, third = threading.Event(), threading.Semaphore(0), threading.Event()

    def block() -> None:
        inside.release()
        assert go_on.wait(10)

    calls.submit(block)
    calls.submit(block)
    calls.submit(third.set)
    assert inside.acquire(timeout=10)
    assert inside.acquire(timeout=10)
    assert not third.is_set()
    go_on.set()

    assert third.wait(10)


def _wait_for(event: threading.Event) -> None:
    assert event.wait(10)


@pytest.mark.parametrize("error", [ValueError, asyncio.CancelledError, SystemExit, KeyboardInterrupt])
def test_a_call_that_raises_is_reported_and_the_next_is_made(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the same thread too: whatever one raises, the others behind it are still called."""
    reported: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda told: reported.append(told.exc_type))
    calls = DetachedCalls(threads_max=1)
    go_on, done = threading.Event(), threading.Event()
    calls.submit(partial(_wait_for, go_on))
    calls.submit(_raising(error))
    calls.submit(done.set)

    go_on.set()

    assert done.wait(10)
    assert reported == [error]


def test_a_machine_without_a_thread_left_makes_the_call_anyway(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the caller makes it: late for others is better than never."""

    class Full(threading.Thread):
        """A thread that the system does not start."""

        def start(self) -> None:
            """Refuse."""
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading, "Thread", Full)
    called: list[str] = []

    DetachedCalls().submit(lambda: called.append("made"))

    assert called == ["made"]
