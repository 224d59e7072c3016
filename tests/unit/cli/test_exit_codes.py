"""The exit code is a table over outcome and state, and the page says the same."""

from __future__ import annotations

import pytest

from diagnosis_harness.cli.exit_codes import BAD_INPUT, MEANINGS, exit_code
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.outcome import ReleaseOutcome

FAILED_BY = {RunState.TIMED_OUT: 124, RunState.BUDGET_EXHAUSTED: 4}


@pytest.mark.parametrize("state", RunState)
@pytest.mark.parametrize("outcome", ReleaseOutcome)
def test_every_outcome_and_state_has_one_code(outcome: ReleaseOutcome, state: RunState) -> None:
    """The outcome decides; only a failure asks the state why."""
    expected = {
        ReleaseOutcome.SUCCESS: 0,
        ReleaseOutcome.FALLBACK: 3,
        ReleaseOutcome.CANCELLED: 130,
        ReleaseOutcome.FAILED: FAILED_BY.get(state, 1),
    }

    assert exit_code(outcome, state) == expected[outcome]


def test_every_code_has_a_meaning_and_every_meaning_a_code() -> None:
    """The page lists what the process really says."""
    codes = {exit_code(outcome, state) for outcome in ReleaseOutcome for state in RunState}

    assert codes | {BAD_INPUT} == set(MEANINGS)
