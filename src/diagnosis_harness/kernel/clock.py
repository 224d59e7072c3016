"""Time as something handed over: what reads an instant, and what waits for one, asks the same `Clock`."""

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
    """Tells the time and calls back at a time. A test that owns the clock owns the waits as well."""

    def now_s(self) -> float:
        """Seconds since the Unix epoch, UTC. Never runs backwards."""
        ...

    def call_at(self, at_s: float, callback: Callable[[], object]) -> Callable[[], None]:
        """Call `callback` once, as soon as `now_s() >= at_s`; an instant already past is due at once.

        The callback comes from any thread, holds no lock of the clock, must be quick and must not raise.
        What may take its time goes from the callback to `hand_off`: other callbacks wait behind this one.

        Returns:
            A function that disarms the call. It may be called at any time, more than once and from any
            thread; a callback that is already on its way is not called back.
        """
        ...

    def hand_off(self, call: Callable[[], None]) -> None:
        """Have `call` called once, soon, where no timer waits for it to return; it must not raise."""
        ...

    def close(self) -> None:
        """Let the clock's threads end once nothing is armed; waits for none, and twice is once.

        What is armed is still called, also what is armed later: bookkeeping after the end stays bounded.
        """
        ...


class Timers:
    """Callbacks in order of their instants; knows no clock. Behind the system's clock and the manual one."""

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
        """The earliest armed instant, or None when nothing is armed."""
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
    """Wall time, read once and carried on by the monotonic clock: an adjustment of wall time moves nothing.

    One daemon thread, started by the first `call_at`, serves all timers. What is handed off has threads of
    its own. A clock serves the process that made it: in a fork it still tells the time, and arms nothing.
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
                # Only an earlier instant wakes the thread: a later one is found when it wakes anyway.
                self._sleeps_until_s = at_s
                self._changed.notify()

        def disarm() -> None:
            if os.getpid() != self._process:
                return  # nothing is armed in a fork, and the lock may be one that nobody gives back
            with self._changed:
                self._timers.remove(number)
                if self._is_closed:
                    self._changed.notify()  # this may have been the last one that the thread stayed for

        return disarm

    def hand_off(self, call: Callable[[], None]) -> None:
        """Call `call` from a thread of its own, or from one that has just finished another such call.

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
                    # A wait has an upper bound on every platform; an early wake only looks again.
                    self._changed.wait(None if at_s is None else min(at_s - self.now_s(), 3600.0))
            if callback is not None:
                _call(callback)


def _call(callback: Callable[[], object]) -> None:
    try:
        callback()
    except BaseException as error:  # noqa: BLE001 - one caller's fault must not stop the timers of all others
        report_fault(error)
