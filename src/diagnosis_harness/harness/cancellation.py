"""The signal that work must stop: one way, the first reason wins, every resource is told once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import RLock

from diagnosis_harness.harness.callbacks import OnceCallbacks
from diagnosis_harness.harness.handle import RunHandle
from diagnosis_harness.harness.lifecycle import RunLifecycle
from diagnosis_harness.harness.termination import CancellationReason, RunTermination, state_for
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase

__all__ = ["CancellationReason", "RunCancellation", "Signal", "state_for"]


@dataclass(frozen=True, slots=True)
class Signal:
    """What one signal did.

    Attributes:
        ended_run: whether it ended the run; False when the run had ended before.
        is_first: whether it is the first signal, whose reason stands.
        callbacks: the registered resources that are told of it.
    """

    ended_run: bool
    is_first: bool
    callbacks: tuple[Callable[[], None], ...]


class RunCancellation(RunHandle):
    """A one-way latch. Cancelling is cooperative: it ends the run, refuses what comes later, tells resources.

    It promises nothing about work that is already inside a provider or a thread.
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

    def signal(self, reason: CancellationReason, *, at_s: float, detail: str = "") -> Signal:
        """End the run with the state that the reason maps to, unless it has ended; then tell every resource.

        State and reason are set in one step, so a callback already sees both. After an end without a reason
        (SUCCESS) the signal changes no outcome; resources that are still registered are told all the same.
        """
        signal = self.latch(reason, at_s=at_s, detail=detail)
        self.tell(signal)
        return signal

    def latch(self, reason: CancellationReason, *, at_s: float, detail: str = "") -> Signal:
        """The change of state alone, for a caller that holds the lock and tells after letting it go."""
        with self._lock:
            ended_run = self._lifecycle.settle(RunTermination(state_for(reason), reason, at_s, detail))
            is_first = self._reason is None
            if is_first:
                self._reason = reason
            return Signal(ended_run, is_first, self._callbacks.close())

    def tell(self, signal: Signal) -> None:
        """Tell waits and resources of a signal that `latch` has set; once, without the lock."""
        if signal.ended_run:
            self._lifecycle.announce()
        for callback in signal.callbacks:
            self._call(callback)

    def register(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Have `callback` called once when the run is cancelled; at once when it has been.

        It is called without the run's lock, from the thread that cancels. One that raises is recorded in the
        trace (CALLBACK_FAILED) and does not keep the others from being called.

        Returns:
            A function that takes the callback out again; it may be called more than once.
        """
        ticket = object()
        if not self._callbacks.add(ticket, callback):
            self._call(callback)
        return partial(self._callbacks.remove, ticket)

    def _call(self, callback: Callable[[], None]) -> None:
        try:
            callback()
        except Exception as error:  # noqa: BLE001 - a resource's fault is recorded; the others must still be told
            self._lifecycle.journal.emit(
                TraceName.CALLBACK_FAILED,
                TracePhase.RUN,
                TraceEventStatus.FAILED,
                {"error": type(error).__name__, "message": str(error)},
            )
