"""The runs of a core that have not ended: closing it ends them, and a fork leaves them to its parent."""

from __future__ import annotations

import os
from collections.abc import Callable
from weakref import WeakSet

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import ContractViolation


class OpenRuns:
    """Holds a run from its start to its end. Safe from any thread: each method is one step on one set."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._runs: set[RunContext] = set()
        self._is_closed = False
        self._process = os.getpid()
        _OF_THIS_PROCESS.add(self)

    def require_usable(self) -> None:
        """Refuse to open a run when the core is closed or this process is a fork.

        Raises:
            ContractViolation: the core is closed, or this process is a fork of the one that made it.
        """
        if self._is_closed:
            raise ContractViolation("the core is closed; make another one")
        if os.getpid() != self._process:
            raise ContractViolation("a core serves the process that made it; make another one after a fork")

    def hold(self, ctx: RunContext, disarm: Callable[[], None]) -> bool:
        """Hold a run until it ends; `disarm` then removes its timer.

        Returns:
            False when the core was closed while the run was opened: it must be ended like the others.
        """

        def forget() -> None:
            self._runs.discard(ctx)
            disarm()

        self._runs.add(ctx)
        ctx.lifecycle.listen(self, forget)
        return not self._is_closed

    def close(self) -> tuple[RunContext, ...]:
        """Accept no more runs, and return those that have not ended."""
        self._is_closed = True
        return tuple(self._runs)

    def leave_to_parent(self) -> None:
        """In a fork: every run continues in the parent and ends here."""
        runs, self._runs = tuple(self._runs), set()
        for ctx in runs:
            ctx.lifecycle.leave_to_parent(at_s=self._clock.now_s())
            ctx.cancellation.leave_to_parent()


_OF_THIS_PROCESS: WeakSet[OpenRuns] = WeakSet()


def _leave_all_to_parent() -> None:
    for runs in tuple(_OF_THIS_PROCESS):
        runs.leave_to_parent()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_leave_all_to_parent)
