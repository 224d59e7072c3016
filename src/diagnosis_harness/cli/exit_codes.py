"""Exit codes."""

from __future__ import annotations

from typing import assert_never

from diagnosis_harness.cli.interrupt import CANCELLED
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.outcome import ReleaseOutcome

BAD_INPUT = 2
UNEXPECTED = 1

MEANINGS = {
    0: "SUCCESS: a conclusion that the recorded evidence supports, or the text of a question that is no "
    "diagnosis (`hello`, `which services do you see?`, a question to the runbooks). `verify`: "
    "everything holds. `demo`: also when nothing was injected and no cause was named.",
    1: "FAILED: no answer; also any unexpected error. `verify`: something does not hold.",
    2: "Invalid input: a folder, a file, an option.",
    3: "FALLBACK: a safe answer without a conclusion.",
    4: "FAILED: no answer, because the budget was used up.",
    124: "FAILED: no answer, because the time was used up (the code of `timeout` in coreutils).",
    130: "CANCELLED: stopped by its user (the code of shells for Ctrl+C). The evidence is kept.",
}


def exit_code(outcome: ReleaseOutcome, state: RunState) -> int:
    """The exit code of a run: that of its outcome; if there is no answer, the state decides."""
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
