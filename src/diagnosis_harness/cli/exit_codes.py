"""What the process says of a run when it ends."""

from __future__ import annotations

from typing import assert_never

from diagnosis_harness.cli.interrupt import CANCELLED
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.outcome import ReleaseOutcome

BAD_INPUT = 2
UNEXPECTED = 1

MEANINGS = {
    0: "SUCCESS: a conclusion that the recorded evidence bears out. `verify`: everything holds. "
    "`demo`: also when nothing had been injected and no cause was named.",
    1: "FAILED: no answer; also when something went wrong that should not. `verify`: not all of it holds.",
    2: "What was asked cannot be used: a folder, a file, an option.",
    3: "FALLBACK: a safe answer without a conclusion.",
    4: "FAILED: no answer, since the budget was used up.",
    124: "FAILED: no answer, since the time was used up (the code of `timeout` in coreutils).",
    130: "CANCELLED: stopped by its user (the code of shells for Ctrl+C). The evidence is kept.",
}


def exit_code(outcome: ReleaseOutcome, state: RunState) -> int:
    """The exit code of a run. The outcome decides; the state tells apart why there is no answer."""
    match outcome:
        case ReleaseOutcome.SUCCESS:
            return 0
        case ReleaseOutcome.FALLBACK:
            return 3
        case ReleaseOutcome.CANCELLED:
            return CANCELLED
        case ReleaseOutcome.FAILED:
            return {RunState.TIMED_OUT: 124, RunState.BUDGET_EXHAUSTED: 4}.get(state, 1)
        case _:
            assert_never(outcome)
