"""The release table: total, without a dead row, and every row says what the seed's does."""

from __future__ import annotations

from itertools import product

import pytest

from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.decision import TABLE, WorkEnd, decide, end_of_state
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome

R, Out, F = RunState, ReleaseOutcome, FallbackType

# rule, how the work ended, verified facts, named missing information -> run state, outcome, fallback type
ROWS = [
    ("RL-10", WorkEnd.SUPPORTED, True, False, R.SUCCESS, Out.SUCCESS, None),
    ("RL-11", WorkEnd.NO_CONCLUSION, False, True, R.SUCCESS, Out.FALLBACK, F.MISSING_REQUIRED_CONTEXT),
    ("RL-12", WorkEnd.NO_CONCLUSION, True, False, R.SUCCESS, Out.FALLBACK, F.INSUFFICIENT_EVIDENCE),
    ("RL-13", WorkEnd.SATURATED, True, False, R.SUCCESS, Out.FALLBACK, F.INSUFFICIENT_EVIDENCE),
    ("RL-14", WorkEnd.PROTOCOL_STOP, True, False, R.SUCCESS, Out.FALLBACK, F.INSUFFICIENT_EVIDENCE),
    ("RL-15", WorkEnd.EVIDENCE_INVALID, True, False, R.SUCCESS, Out.FALLBACK, F.EVIDENCE_VALIDATION_FAILED),
    ("RL-16", WorkEnd.UNSUPPORTED, True, False, R.SUCCESS, Out.FALLBACK, F.SEMANTIC_UNSUPPORTED),
    ("RL-17", WorkEnd.JUDGE_UNAVAILABLE, True, False, R.SUCCESS, Out.FALLBACK, F.SEMANTIC_UNAVAILABLE),
    ("RL-18", WorkEnd.BUDGET_REACHED, True, False, R.BUDGET_EXHAUSTED, Out.FALLBACK, F.INSUFFICIENT_EVIDENCE),
    ("RL-19", WorkEnd.DEADLINE_REACHED, False, False, R.TIMED_OUT, Out.FAILED, None),
    ("RL-20", WorkEnd.BUDGET_REACHED, False, False, R.BUDGET_EXHAUSTED, Out.FAILED, None),
    ("RL-21", WorkEnd.INTERNAL_FAILURE, True, False, R.FAILED, Out.FAILED, None),
    ("RL-22", WorkEnd.CANCELLED, True, False, R.CANCELLED, Out.CANCELLED, None),
    ("RL-23", WorkEnd.SATURATED, False, False, R.FAILED, Out.FAILED, None),
    ("RL-23", WorkEnd.PROTOCOL_STOP, False, True, R.FAILED, Out.FAILED, None),
    ("RL-24", WorkEnd.NO_CONCLUSION, False, False, R.FAILED, Out.FAILED, None),
    ("RL-26", WorkEnd.DRAFT_ILLEGAL, True, False, R.SUCCESS, Out.FALLBACK, F.INSUFFICIENT_EVIDENCE),
    ("RL-26", WorkEnd.DRAFT_ILLEGAL, False, True, R.FAILED, Out.FAILED, None),
    ("RL-27", WorkEnd.POLICY_FAILED, True, False, R.FAILED, Out.FAILED, None),
    ("SV-08", WorkEnd.ENDED_EARLY, False, False, R.SUCCESS, Out.FALLBACK, F.INSUFFICIENT_EVIDENCE),
    ("GU-146", WorkEnd.ANSWERED, True, False, R.SUCCESS, Out.SUCCESS, None),
    ("GU-146", WorkEnd.ANSWERED, False, False, R.SUCCESS, Out.FALLBACK, F.INSUFFICIENT_EVIDENCE),
    ("RL-31", WorkEnd.DEADLINE_REACHED, True, False, R.TIMED_OUT, Out.FALLBACK, F.INSUFFICIENT_EVIDENCE),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1]}-{'facts' if row[2] else 'none'}")
def test_a_row_of_the_release_table(
    row: tuple[str, WorkEnd, bool, bool, RunState, ReleaseOutcome, FallbackType | None],
) -> None:
    """Rule, run state, outcome and fallback type of one end, all four."""
    rule, end, facts, missing, *expected = row
    decided = decide(end, facts=facts, missing=missing)
    assert [decided.rule, decided.state, decided.outcome, decided.fallback] == [rule, *expected]


def test_every_end_has_a_row_and_every_row_an_end() -> None:
    """The table answers all questions, and no row is unreachable."""
    answered = {
        decide(end, facts=facts, missing=missing)
        for end, facts, missing in product(WorkEnd, (True, False), (True, False))
    }
    assert answered == set(TABLE)


def test_a_fallback_and_only_a_fallback_has_a_type() -> None:
    """FALLBACK is a normal release and says which safe answer it is."""
    assert all((row.outcome is Out.FALLBACK) == (row.fallback is not None) for row in TABLE)


def test_no_outcome_determines_the_run_state() -> None:
    """FALLBACK occurs with three run states, FAILED with three; neither can be derived from the other."""
    by_outcome = {outcome: {row.state for row in TABLE if row.outcome is outcome} for outcome in Out}
    assert by_outcome[Out.FALLBACK] == {R.SUCCESS, R.BUDGET_EXHAUSTED, R.TIMED_OUT}
    assert by_outcome[Out.FAILED] == {R.FAILED, R.TIMED_OUT, R.BUDGET_EXHAUSTED}


@pytest.mark.parametrize("state", [R.SUCCESS, R.CANCELLED, R.TIMED_OUT, R.BUDGET_EXHAUSTED, R.FAILED])
def test_an_end_that_came_from_the_run_keeps_the_run_state(state: RunState) -> None:
    """What the run's own end decides never names another state."""
    for facts in (True, False):
        assert decide(end_of_state(state), facts=facts, missing=False).state is state
