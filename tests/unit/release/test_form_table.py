"""The table of forms and results: total, and of one mind with the release table, exit codes and sessions."""

from __future__ import annotations

from itertools import product

import pytest

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.previous_turn import PublishedResultPolicy
from diagnosis_harness.cli.exit_codes import exit_code
from diagnosis_harness.diagnosis.question_form import QuestionForm
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.decision import WorkEnd, decide
from diagnosis_harness.release.form_table import ANSWERED_BY_FACTS, FORM_TABLE, FormResult
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome

ENDS = {
    FormResult.CONCLUDED: (WorkEnd.SUPPORTED, True, False),
    FormResult.ANSWERED: (WorkEnd.ANSWERED, True, False),
    FormResult.SOUND: (WorkEnd.ANSWERED, True, False),
    FormResult.FACTS_ONLY: (WorkEnd.NO_CONCLUSION, True, False),
    FormResult.CONTEXT_MISSING: (WorkEnd.NO_CONCLUSION, False, True),
    FormResult.EVIDENCE_REJECTED: (WorkEnd.EVIDENCE_INVALID, True, False),
    FormResult.NOT_SUPPORTED: (WorkEnd.UNSUPPORTED, True, False),
    FormResult.NOT_JUDGED: (WorkEnd.JUDGE_UNAVAILABLE, True, False),
    FormResult.NOTHING: (WorkEnd.NO_CONCLUSION, False, False),
    FormResult.CANCELLED: (WorkEnd.CANCELLED, False, False),
}
"""How the work ends for each result: end, verified facts, missing context."""
pairs = list(product(QuestionForm, FormResult))


def test_the_table_has_a_row_for_every_form_and_result() -> None:
    """And no other."""
    assert set(FORM_TABLE) == set(pairs)
    assert set(ENDS) == set(FormResult)


@pytest.mark.parametrize(("form", "result"), pairs)
def test_a_row_is_of_one_mind_with_the_others(form: QuestionForm, result: FormResult) -> None:
    """With the release table, the exit codes, and what enters the next turn."""
    row = FORM_TABLE[form, result]
    end, facts, missing = ENDS[result]
    if result is FormResult.ANSWERED and form not in ANSWERED_BY_FACTS:
        end = WorkEnd.NO_CONCLUSION  # of a form that asks for a cause
    decided = decide(end, facts=facts, missing=missing)

    assert (row.outcome, row.fallback) == (decided.outcome, decided.fallback)
    assert row.exit_code == exit_code(row.outcome, decided.state)
    assert row.enters_next_turn == PublishedResultPolicy().publishes(IntentType.DIAGNOSIS, row.outcome)


def test_facts_answer_no_question_for_a_cause() -> None:
    """A fact about the suspect is no yes."""
    for form in set(QuestionForm) - ANSWERED_BY_FACTS:
        assert FORM_TABLE[form, FormResult.ANSWERED].fallback is FallbackType.INSUFFICIENT_EVIDENCE


def test_a_failure_that_ran_out_of_time_or_budget_has_a_code_of_its_own() -> None:
    """The table holds that of a plain failure."""
    assert exit_code(ReleaseOutcome.FAILED, RunState.TIMED_OUT) == 124
    assert exit_code(ReleaseOutcome.FAILED, RunState.BUDGET_EXHAUSTED) == 4
