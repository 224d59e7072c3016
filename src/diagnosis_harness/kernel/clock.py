"""The clock port: the same `Clock` gives the time and fires the timers."""

from __future__ import annotations

import heapq
import itertools
import os
import threading
import time
from collections.abc import Callable
from typing import Protocol

from diagnosis_harness.kernel.detached import DetachedCalls
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.faults import report_fault


class Clock(Protocol):
    """Gives the time and calls back at a given time, so a test that controls the clock controls all waits."""

    def now_s(self) -> float:
        """Seconds since the Unix epoch, UTC. Never runs backwards."""
        ...

    def call_at(self, at_s: float, callback: Callable[[], object]) -> Callable[[], None]:
        """Call `callback` once, as soon as `now_s() >= at_s`; a time already past is due at once.

        The callback runs on any thread and outside the clock's lock. It must be quick and must not raise,
        since other callbacks wait behind it; it passes slow work to `hand_off`.

        Returns:
            A function that disarms the call. It may be called at any time, more than once and from any
            thread; it does not stop a callback that has started.
        """
        ...

    def hand_off(self, call: Callable[[], None]) -> None:
        """Run `call` once, soon, on a thread that no timer waits for; it must not raise."""
        ...

    def close(self) -> None:
        """Let the clock's threads end once nothing is armed, without waiting for them. May be called twice.

        Timers armed before or after this still fire, so that bookkeeping after the end keeps its limits.
        """
        ...


class Timers:
    """A heap of callbacks by due time, without a clock of its own; both clocks use it."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []
        self._callbacks: dict[int, Callable[[], object]] = {}
        self._numbers = itertools.count()

    def add(self, at_s: float, callback: Callable[[], object]) -> int:
        """Arm a callback and return its number."""
        number = next(self._numbers)
        self._callbacks[number] = callback
        heapq.heappush(self._heap, (at_s, number))
        return number

    def remove(self, number: int) -> None:
        """Disarm a callback; one that was called or disarmed before is left alone."""
        self._callbacks.pop(number, None)
        # Disarmed entries stay in the heap until they surface; most timers are disarmed long before that.
        if len(self._heap) > 64 and len(self._heap) > 2 * len(self._callbacks):
            self._heap = [entry for entry in self._heap if entry[1] in self._callbacks]
            heapq.heapify(self._heap)

    def next_at_s(self) -> float | None:
        """When the next callback is due, or None when nothing is armed."""
        while self._heap and self._heap[0][1] not in self._callbacks:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else None

    def pop_due(self, now_s: float) -> Callable[[], object] | None:
        """Take out the earliest callback that is due, or None."""
        due_s = self.next_at_s()
        if due_s is None or due_s > now_s:
            return None
        return self._callbacks.pop(heapq.heappop(self._heap)[1])


class SystemClock:
    """Wall time read once and continued by the monotonic clock: adjusting the system time has no effect.

    One daemon thread, started by the first `call_at`, serves all timers. `hand_off` uses separate threads. A
    clock belongs to the process that made it: in a fork it still gives the time, and arms nothing.
    """

    def __init__(self) -> None:
        self._offset_s = time.time() - time.monotonic()
        self._changed = threading.Condition(threading.Lock())
        self._timers = Timers()
        self._thread: threading.Thread | None = None
        self._sleeps_until_s = float("inf")
        self._detached = DetachedCalls()
        self._is_closed = False
        self._process = os.getpid()

    def now_s(self) -> float:
        """Seconds since the Unix epoch, UTC."""
        return self._offset_s + time.monotonic()

    def call_at(self, at_s: float, callback: Callable[[], object]) -> Callable[[], None]:
        """Call `callback` once at `at_s`, from the clock's own thread.

        Raises:
            ContractViolation: this process is a fork of the one that made the clock.
        """
        self._require_own_process()
        with self._changed:
            number = self._timers.add(at_s, callback)
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="diagnosis-clock", daemon=True)
                self._thread.start()
            elif at_s < self._sleeps_until_s:
                # Only an earlier time wakes the thread; it finds later ones when it wakes anyway.
                self._sleeps_until_s = at_s
                self._changed.notify()

        def disarm() -> None:
            if os.getpid() != self._process:
                return  # nothing is armed in a fork, and the copied lock may never be released
            with self._changed:
                self._timers.remove(number)
                if self._is_closed:
                    self._changed.notify()  # the thread may have been waiting for this one only

        return disarm

    def hand_off(self, call: Callable[[], None]) -> None:
        """Run `call` on a new thread, or on one that has just finished another such call.

        Raises:
            ContractViolation: this process is a fork of the one that made the clock.
        """
        self._require_own_process()
        self._detached.submit(call)

    def close(self) -> None:
        """Let the thread end as soon as nothing is armed; it is started again for what is armed later."""
        if os.getpid() != self._process:
            return
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    def _require_own_process(self) -> None:
        if os.getpid() != self._process:
            raise ContractViolation("a clock serves the process that made it; make another one after a fork")

    def _serve(self) -> None:
        while True:
            with self._changed:
                callback = self._timers.pop_due(self.now_s())
                if callback is None:
                    at_s = self._timers.next_at_s()
                    if at_s is None and self._is_closed:
                        self._thread = None
                        return
                    self._sleeps_until_s = float("inf") if at_s is None else at_s
                    # Every platform bounds a wait; waking early only repeats the check.
                    self._changed.wait(None if at_s is None else min(at_s - self.now_s(), 3600.0))
            if callback is not None:
                _call(callback)


def _call(callback: Callable[[], object]) -> None:
    try:
        callback()
    except BaseException as error:  # noqa: BLE001 - one caller's fault must not stop the timers of all others
        report_fault(error)
