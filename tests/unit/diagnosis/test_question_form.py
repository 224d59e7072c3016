"""The form of a question is read where its words leave no doubt; else it asks for the cause."""

from __future__ import annotations

import pytest

from diagnosis_harness.diagnosis.names import KnownNames, read_names
from diagnosis_harness.diagnosis.question_form import FormRead, QuestionForm, read_form

KNOWN = KnownNames.of(["checkout", "payments", "payments-db"])
WHY, CONFIRM = QuestionForm.WHY, QuestionForm.CONFIRM
CHANGE, HEALTH = QuestionForm.CONFIRM_CHANGE, QuestionForm.HEALTH


@pytest.mark.parametrize(
    ("question", "form", "subject"),
    [
        ("Why is checkout slow?", WHY, None),
        ("what is the cause of the errors of checkout?", WHY, None),
        ("checkout is slow since 14:05", WHY, None),
        ("为什么 checkout 变慢", WHY, None),
        ("什么导致 checkout 变慢？", WHY, None),
        ("Is payments-db the cause?", CONFIRM, "payments-db"),
        ("is payments-db to blame for checkout being slow?", CONFIRM, "payments-db"),
        ("could payments-db be the root cause", CONFIRM, "payments-db"),
        ("payments-db 是不是原因？", CONFIRM, "payments-db"),
        ("是不是 payments-db 导致的", CONFIRM, "payments-db"),
        ("was it the deploy?", CHANGE, None),
        ("Was it the deploy of payments?", CHANGE, "payments"),
        ("did the release of payments cause this?", CHANGE, "payments"),
        ("是发布导致的吗", CHANGE, None),
        ("is checkout healthy?", HEALTH, "checkout"),
        ("Is checkout slow?", HEALTH, "checkout"),
        ("are payments ok now?", HEALTH, "payments"),
        ("checkout 正常吗", HEALTH, "checkout"),
        ("is everything healthy?", WHY, None),
    ],
)
def test_a_question_has_one_form(question: str, form: QuestionForm, subject: str | None) -> None:
    """Also in Chinese; a cause that is asked for is never taken for one to confirm."""
    assert read_form(question, read_names(question, KNOWN)) == FormRead(form, subject)
