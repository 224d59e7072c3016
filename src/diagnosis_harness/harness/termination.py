"""The states of a run, the reasons to cancel it, and which reason leads to which state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from diagnosis_harness.harness.numbers import is_finite_number, short_repr


class RunState(StrEnum):
    """The state of the in-memory run."""

    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    TIMED_OUT = "TIMED_OUT"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"

    @property
    def is_terminal(self) -> bool:
        """Whether the run has ended; nothing follows a terminal state."""
        return self is not RunState.RUNNING


TERMINAL_STATES = frozenset(state for state in RunState if state.is_terminal)


class CancellationReason(StrEnum):
    """Why a run was cancelled."""

    CLIENT_DISCONNECTED = "CLIENT_DISCONNECTED"
    USER_REQUESTED = "USER_REQUESTED"
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    INTERNAL_FAILURE = "INTERNAL_FAILURE"


def state_for(reason: CancellationReason) -> RunState:
    """The terminal state that a cancellation reason asks for (lifecycle document §4)."""
    match reason:
        case CancellationReason.CLIENT_DISCONNECTED | CancellationReason.USER_REQUESTED:
            return RunState.CANCELLED
        case CancellationReason.DEADLINE_EXCEEDED:
            return RunState.TIMED_OUT
        case CancellationReason.BUDGET_EXHAUSTED:
            return RunState.BUDGET_EXHAUSTED
        case CancellationReason.INTERNAL_FAILURE:
            return RunState.FAILED
        case _:
            assert_never(reason)


END_OF_TIME_S = 253_402_300_800.0
"""The year 10000, which no ISO 8601 text of four digits can name."""


@dataclass(frozen=True, slots=True)
class RunTermination:
    """How a run ended; a run has exactly one.

    Attributes:
        state: a terminal state.
        reason: why, as a closed set; None for SUCCESS alone.
        at_s: when, in seconds since the epoch, UTC.
        detail: why, for a person; may be empty.
    """

    state: RunState
    reason: CancellationReason | None
    at_s: float
    detail: str = ""

    def __post_init__(self) -> None:
        if not self.state.is_terminal:
            raise ValueError("a termination has a terminal state")
        if not (is_finite_number(self.at_s) and 0 <= self.at_s < END_OF_TIME_S):
            raise ValueError(f"a termination has an instant that can be written, not {short_repr(self.at_s)}")
        expected = RunState.SUCCESS if self.reason is None else state_for(self.reason)
        if self.state is not expected:
            raise ValueError(f"{self.reason} ends a run {expected}, not {self.state}")
