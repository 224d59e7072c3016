"""The state of one run: RUNNING, then exactly one end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import RLock

from diagnosis_harness.harness.callbacks import OnceCallbacks, call_contained
from diagnosis_harness.harness.handle import RunHandle
from diagnosis_harness.harness.journal import RunJournal
from diagnosis_harness.harness.termination import (
    TERMINAL_STATES,
    CancellationReason,
    RunState,
    RunTermination,
)
from diagnosis_harness.kernel.errors import ContractViolation, RunAborted, RunForked

__all__ = ["TERMINAL_STATES", "RunLifecycle", "RunState", "RunTermination"]


class RunLifecycle(RunHandle):
    """Keeps the first termination; safe from any thread.

    `lock` is the run's only lock: cancellation, budget and every gate of the core also take it, so that their
    decisions take effect before the run's end or not at all.
    """

    __slots__ = ("_is_forked", "_listeners", "_termination", "_waits", "journal", "lock")

    def __init__(self, lock: RLock, journal: RunJournal) -> None:
        self.lock = lock
        self.journal = journal
        self._termination: RunTermination | None = None
        self._waits = OnceCallbacks(lock)
        self._listeners = OnceCallbacks(lock)
        self._is_forked = False

    @property
    def state(self) -> RunState:
        """RUNNING, or the state of the one termination."""
        termination = self._termination
        return RunState.RUNNING if termination is None else termination.state

    @property
    def termination(self) -> RunTermination | None:
        """The one termination; None while the run is RUNNING."""
        return self._termination

    def abort_error(self) -> RunAborted:
        """The error that refuses work of a run that has ended."""
        termination = self._termination
        if termination is None:
            raise ContractViolation("the run has not ended")
        if self._is_forked:
            return RunForked(termination.state, termination.reason)
        return RunAborted(termination.state, termination.reason)

    def finish(self, termination: RunTermination) -> bool:
        """End the run, unless it has ended: the first termination is kept.

        Returns:
            Whether this call ended the run; False means that it changed nothing.
        """
        changed = self.settle(termination)
        if changed:
            self.announce()
        return changed

    def settle(self, termination: RunTermination) -> bool:
        """Only the compare-and-set, for a caller that holds the lock and announces after releasing it."""
        with self.lock:
            if self._termination is not None:
                return False
            self._termination = termination
            self.journal.run_ended(termination)
            return True

    def announce(self) -> None:
        """Notify waits, listeners and the trace of an end that `settle` has set; once, without the lock."""
        self.wake()
        self.notify_end()

    def wake(self) -> None:
        """End the waits of the run. It is quick and calls no foreign code, so any thread may call it."""
        for wake in self._waits.close():
            wake()

    def notify_end(self) -> None:
        """Notify listeners, then the trace; takes as long as they do."""
        for listener in self._listeners.close():
            call_contained(listener, self.journal)
        self.journal.flush_end()

    def on_end(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have `listener` called once when the run ends, however it ends; at once when it has ended already.

        Whatever it raises is recorded in the trace (CALLBACK_FAILED) and not raised. A resource that needs
        only cancellations registers with `RunCancellation`.

        Returns:
            A function that removes the listener.
        """
        ticket = object()
        if not self._listeners.add(ticket, listener):
            call_contained(listener, self.journal)
        return partial(self._listeners.remove, ticket)

    def listen(self, ticket: object, wake: Callable[[], None]) -> None:
        """Register a wait or timer of the core, to end with the run; `wake` is quick and does not raise."""
        if not self._waits.add(ticket, wake):
            wake()

    def stop_listening(self, ticket: object) -> None:
        """Remove the wait or timer of a ticket."""
        self._waits.remove(ticket)

    def leave_to_parent(self, *, at_s: float) -> None:
        """In a fork: the run is over here, without callbacks. Called before anything else runs in the child.

        A thread that held the lock at the fork does not exist here and would never release it.
        """
        self.lock._at_fork_reinit()  # type: ignore[attr-defined]  # noqa: SLF001 - as the standard library's own locks do
        self._waits.close()
        self._listeners.close()
        self.journal.leave_to_parent()
        self._is_forked = True
        if self._termination is None:
            self._termination = RunTermination(
                RunState.FAILED, CancellationReason.INTERNAL_FAILURE, at_s, "left to the parent of a fork"
            )
