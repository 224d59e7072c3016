"""The signal that work must stop.

It is final, the first reason counts, and each resource is notified once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import RLock

from diagnosis_harness.harness.callbacks import OnceCallbacks, call_contained
from diagnosis_harness.harness.handle import RunHandle
from diagnosis_harness.harness.lease import OpenCall
from diagnosis_harness.harness.lifecycle import RunLifecycle
from diagnosis_harness.harness.termination import CancellationReason, RunState, RunTermination, state_for

__all__ = ["CancelAnswer", "CancellationReason", "RunCancellation", "Signal", "state_for"]


@dataclass(frozen=True, slots=True)
class Signal:
    """The effect of one signal.

    Attributes:
        ended_run: whether it ended the run; False when the run had ended before.
        is_first: whether it is the first signal, whose reason is kept.
        callbacks: the registered resources to notify.
    """

    ended_run: bool
    is_first: bool
    callbacks: tuple[Callable[[], None], ...]


@dataclass(frozen=True, slots=True)
class CancelAnswer:
    """The effect of a cancel.

    Attributes:
        changed: whether this cancel ended the run; False when it had ended before.
        state: the present state of the run. reason: why it ended; None for SUCCESS.
        begun: how many llm and tool calls were ever started; this run starts no others.
        never_started: tool calls that were admitted and will not start.
        in_flight: calls that had started and not finished. They have been notified; whether they physically
            stop depends on the client or thread they run in. What they still return is discarded.
        notified: how many registered resources were notified.
    """

    changed: bool
    state: RunState
    reason: CancellationReason | None
    begun: int
    never_started: tuple[OpenCall, ...]
    in_flight: tuple[OpenCall, ...]
    notified: int


class RunCancellation(RunHandle):
    """A one-way latch. Cancelling is cooperative: it ends the run, refuses later work and notifies resources.

    Work that is already inside a provider or a thread may continue.
    """

    __slots__ = ("_callbacks", "_lifecycle", "_lock", "_reason")

    def __init__(self, lock: RLock, lifecycle: RunLifecycle) -> None:
        self._lock = lock
        self._lifecycle = lifecycle
        self._callbacks = OnceCallbacks(lock)
        self._reason: CancellationReason | None = None

    @property
    def reason(self) -> CancellationReason | None:
        """The first reason that was signalled; None before any signal."""
        return self._reason

    @property
    def is_cancelled(self) -> bool:
        """Whether a reason was signalled."""
        return self._reason is not None

    def signal(
        self, reason: CancellationReason, *, at_s: float, detail: str = "", in_background: bool = False
    ) -> Signal:
        """End the run with the state of the reason, unless it has ended; then notify every resource.

        State and reason are set in one step, so a callback already sees both. After an end without a reason
        (SUCCESS) the signal changes no outcome; resources that are still registered are notified anyway.

        Args:
            in_background: notify resources and trace from another thread, soon after this returns. A timer or
                a gate that finds the end serves other runs too and must not wait for this one's resources.
        """
        signal = self.latch(reason, at_s=at_s, detail=detail)
        self.notify(signal, in_background=in_background)
        return signal

    def latch(self, reason: CancellationReason, *, at_s: float, detail: str = "") -> Signal:
        """Change only the state, for a caller that holds the lock and notifies after releasing it."""
        with self._lock:
            ended_run = self._lifecycle.settle(RunTermination(state_for(reason), reason, at_s, detail))
            is_first = self._reason is None
            if is_first:
                self._reason = reason
            return Signal(ended_run, is_first, self._callbacks.close())

    def notify(self, signal: Signal, *, in_background: bool = False) -> None:
        """Tell waits and resources of a signal that `latch` has set; once, without the lock."""
        if signal.ended_run:
            self._lifecycle.wake()
        if in_background and (signal.ended_run or signal.callbacks):
            self._lifecycle.journal.hand_off(partial(self._notify_others, signal))
        else:
            self._notify_others(signal)

    def register(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have `callback` called once when the run is cancelled; at once when it has been.

        It is called without the run's lock: by a cancel in the thread that cancels, and at the deadline or a
        limit of the budget from a thread of its own. Whatever it raises is recorded in the trace
        (CALLBACK_FAILED) and does not keep the others from being called.

        Returns:
            A function that takes the callback out again; it may be called more than once.
        """
        ticket = object()
        if not self._callbacks.add(ticket, callback):
            call_contained(callback, self._lifecycle.journal)
        return partial(self._callbacks.remove, ticket)

    def leave_to_parent(self) -> None:
        """In a fork: drop the callbacks, since the parent notifies its resources."""
        self._callbacks.close()

    def _notify_others(self, signal: Signal) -> None:
        for callback in signal.callbacks:
            call_contained(callback, self._lifecycle.journal)
        if signal.ended_run:
            self._lifecycle.notify_end()
