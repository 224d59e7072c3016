"""How one run stands: RUNNING, then exactly one end."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import RLock

from diagnosis_harness.harness.callbacks import OnceCallbacks
from diagnosis_harness.harness.handle import RunHandle
from diagnosis_harness.harness.journal import RunJournal
from diagnosis_harness.harness.termination import TERMINAL_STATES, RunState, RunTermination
from diagnosis_harness.kernel.errors import ContractViolation, RunAborted

__all__ = ["TERMINAL_STATES", "RunLifecycle", "RunState", "RunTermination"]


class RunLifecycle(RunHandle):
    """Takes the first termination and keeps it; safe from any thread.

    `lock` is the run's one lock: cancellation, budget and every gate of the core take the same one, so that
    what they decide happens before the run's end or not at all.
    """

    __slots__ = ("_listeners", "_termination", "journal", "lock")

    def __init__(self, lock: RLock, journal: RunJournal) -> None:
        self.lock = lock
        self.journal = journal
        self._termination: RunTermination | None = None
        self._listeners = OnceCallbacks(lock)

    @property
    def state(self) -> RunState:
        """RUNNING, or the state of the one termination."""
        termination = self._termination
        return RunState.RUNNING if termination is None else termination.state

    @property
    def termination(self) -> RunTermination | None:
        """The one termination; None while the run is RUNNING."""
        return self._termination

    def aborted(self) -> RunAborted:
        """The error that refuses work of a run that has ended."""
        termination = self._termination
        if termination is None:
            raise ContractViolation("the run has not ended")
        return RunAborted(termination.state, termination.reason)

    def finish(self, termination: RunTermination) -> bool:
        """End the run, unless it has ended: the first termination stands, whoever comes later.

        Returns:
            Whether this call ended the run; False means that it changed nothing.
        """
        changed = self.settle(termination)
        if changed:
            self.announce()
        return changed

    def settle(self, termination: RunTermination) -> bool:
        """The compare-and-set alone, for a caller that holds the lock and announces after letting it go."""
        with self.lock:
            if self._termination is not None:
                return False
            self._termination = termination
            return True

    def announce(self) -> None:
        """Tell the listeners and the trace of an end that `settle` has set; called once, without the lock."""
        for listener in self._listeners.close():
            listener()
        if self._termination is not None:
            self.journal.run_ended(self._termination)

    def on_end(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Have `listener` called once when the run ends, however it ends; at once when it has ended already.

        For the waits and timers of the core itself: a listener is quick and does not raise. A resource that
        wants to be told of a cancellation registers with `RunCancellation`.

        Returns:
            A function that takes the listener out again.
        """
        ticket = object()
        self.listen(ticket, listener)
        return partial(self._listeners.remove, ticket)

    def listen(self, ticket: object, listener: Callable[[], None]) -> None:
        """The same under a ticket of the caller's own, for `quieten`."""
        if not self._listeners.add(ticket, listener):
            listener()

    def quieten(self, ticket: object) -> None:
        """Take out what listens under a ticket."""
        self._listeners.remove(ticket)
