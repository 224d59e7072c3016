"""What is published for each question form and result: one total table.

`release.decision` decides by how the work ended; this table adds what the question asked for. A form that
asks for no cause is answered by checked claims alone, and that is a SUCCESS; a form that asks for a cause is
answered by a cause, or by the checked claim that nothing is unusual. Neither a fallback nor a failure is
passed on to the next turn of a session.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from diagnosis_harness.diagnosis.question_form import QuestionForm
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome


class FormResult(StrEnum):
    """The result of the work on a question."""

    CONCLUDED = "CONCLUDED"  # a cause passed every guard
    ANSWERED = "ANSWERED"  # no cause; checked claims say what was asked
    SOUND = "SOUND"  # no cause; a checked claim says that nothing is unusual
    FACTS_ONLY = "FACTS_ONLY"  # checked claims, but none answers the question
    CONTEXT_MISSING = "CONTEXT_MISSING"  # no claims, and something needed is missing
    EVIDENCE_REJECTED = "EVIDENCE_REJECTED"  # EvidenceGuard refused the drafted cause
    NOT_SUPPORTED = "NOT_SUPPORTED"  # SemanticGuard refused the drafted cause
    NOT_JUDGED = "NOT_JUDGED"  # SemanticGuard gave no verdict on the drafted cause
    NOTHING = "NOTHING"  # the work failed, or time or budget ran out with nothing to show
    CANCELLED = "CANCELLED"


@dataclass(frozen=True, slots=True)
class FormRow:
    """What is published for one form and result.

    Attributes:
        exit_code: of `diagnose ask`; for NOTHING, that of a failure unless time (124) or budget (4) ran out.
        enters_next_turn: whether the next question of the session sees the result.
    """

    outcome: ReleaseOutcome
    fallback: FallbackType | None
    exit_code: int
    enters_next_turn: bool


ANSWERED_BY_FACTS: Final = frozenset(
    {
        QuestionForm.HEALTH,
        QuestionForm.COMPARE,
        QuestionForm.COMPARE_TIMES,
        QuestionForm.WHEN,
        QuestionForm.SHOW,
        QuestionForm.FOLLOW_UP,
    }
)
"""Forms that checked claims answer without a cause."""
_RELEASED = FormRow(ReleaseOutcome.SUCCESS, None, 0, enters_next_turn=True)


def _fallback(kind: FallbackType) -> FormRow:
    return FormRow(ReleaseOutcome.FALLBACK, kind, 3, enters_next_turn=False)


_THIN = _fallback(FallbackType.INSUFFICIENT_EVIDENCE)
_OF_RESULT: Final[Mapping[FormResult, FormRow]] = {
    FormResult.CONCLUDED: _RELEASED,
    FormResult.SOUND: _RELEASED,
    FormResult.ANSWERED: _THIN,  # a form that asks for a cause: facts alone do not answer it
    FormResult.FACTS_ONLY: _THIN,
    FormResult.CONTEXT_MISSING: _fallback(FallbackType.MISSING_REQUIRED_CONTEXT),
    FormResult.EVIDENCE_REJECTED: _fallback(FallbackType.EVIDENCE_VALIDATION_FAILED),
    FormResult.NOT_SUPPORTED: _fallback(FallbackType.SEMANTIC_UNSUPPORTED),
    FormResult.NOT_JUDGED: _fallback(FallbackType.SEMANTIC_UNAVAILABLE),
    FormResult.NOTHING: FormRow(ReleaseOutcome.FAILED, None, 1, enters_next_turn=False),
    FormResult.CANCELLED: FormRow(ReleaseOutcome.CANCELLED, None, 130, enters_next_turn=False),
}
FORM_TABLE: Final[Mapping[tuple[QuestionForm, FormResult], FormRow]] = MappingProxyType(
    {
        (form, result): _RELEASED
        if result is FormResult.ANSWERED and form in ANSWERED_BY_FACTS
        else _OF_RESULT[result]
        for form in QuestionForm
        for result in FormResult
    }
)
