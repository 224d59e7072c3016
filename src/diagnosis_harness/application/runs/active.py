"""The runs that this process works on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from diagnosis_harness.harness.context import RunContext


class ActiveRuns:
    """By run id, from before a run is stored until after it is closed. Used from one event loop."""

    def __init__(self) -> None:
        self._contexts: dict[str, RunContext] = {}

    def __len__(self) -> int:
        return len(self._contexts)

    @contextmanager
    def track(self, ctx: RunContext) -> Iterator[None]:
        """Keep a run active for the time of the body."""
        self._contexts[ctx.run_id] = ctx
        try:
            yield
        finally:
            del self._contexts[ctx.run_id]

    def get(self, run_id: str) -> RunContext | None:
        """The context of an active run, or None."""
        return self._contexts.get(run_id)

    def all(self) -> tuple[RunContext, ...]:
        """All of them."""
        return tuple(self._contexts.values())
