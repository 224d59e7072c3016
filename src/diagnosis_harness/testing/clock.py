"""A clock that only a test moves, for comparisons and for waits."""

from __future__ import annotations

import threading
from collections.abc import Callable

from diagnosis_harness.kernel.clock import Timers


class ManualClock:
    """A `Clock` that stands still until `advance`, which calls the callbacks that become due."""

    def __init__(self, start_s: float = 1_700_000_000.0) -> None:
        self._now_s = start_s
        self._lock = threading.Lock()
        self._timers = Timers()

    def now_s(self) -> float:
        """The current time."""
        return self._now_s

    def call_at(self, at_s: float, callback: Callable[[], object]) -> Callable[[], None]:
        """Call `callback` when the clock reaches `at_s`; at once if it already has."""
        with self._lock:
            is_due = at_s <= self._now_s
            number = None if is_due else self._timers.add(at_s, callback)
        if number is None:
            callback()
            return lambda: None

        def disarm() -> None:
            with self._lock:
                self._timers.remove(number)

        return disarm

    def hand_off(self, call: Callable[[], None]) -> None:
        """Call it at once: with one thread, the effects of a timer precede the next step of the test."""
        call()

    def close(self) -> None:
        """Do nothing, since there is no thread to end."""

    def advance(self, seconds: float) -> None:
        """Move on by `seconds`, and call every callback that becomes due, in order and at its own time."""
        if seconds < 0:
            raise ValueError("time does not run backwards")
        target_s = self._now_s + seconds
        while True:
            with self._lock:
                due_s = self._timers.next_at_s()
                callback = self._timers.pop_due(target_s)
                self._now_s = target_s if callback is None or due_s is None else max(self._now_s, due_s)
            if callback is None:
                return
            callback()
