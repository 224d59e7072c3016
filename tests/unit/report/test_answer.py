"""The first sentence of a form: it goes no further than the cause that was released."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.draft import Cause, CauseLevel
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.question_form import FormRead, QuestionForm
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.answer import NAMING_TEXTS, answer_sentences

CONFIRM = FormRead(QuestionForm.CONFIRM, "checkout")
COMPARE = FormRead(QuestionForm.COMPARE, "checkout", "web")


def asks(form: FormRead) -> Inquiry:
    """A question of this form."""
    asked = inquiry("checkout")
    return replace(asked, reading=replace(asked.reading, form=form))


def first(form: FormRead, cause: Cause, language: Language = Language.EN) -> str:
    """The first sentence for a released cause."""
    return next(answer_sentences(asks(form), [cause], [], records=(), language=language))


def cause(entity: str, level: CauseLevel | None, *scope: str) -> Cause:
    """A cause as it was released."""
    return Cause(entity, FaultKind.LATENCY, (), level=level, scope=scope)


def test_every_level_has_its_texts() -> None:
    """With and without a scope."""
    assert set(NAMING_TEXTS) == {(level, scoped) for level in CauseLevel for scoped in (False, True)}


@pytest.mark.parametrize(
    ("level", "scope", "said"),
    [
        (CauseLevel.EXPLAINED, (), "Yes, as far as the recorded evidence goes: checkout is the cause."),
        (CauseLevel.TRIGGER, (), "Yes, as far as the recorded evidence goes: checkout is the cause."),
        (CauseLevel.LOCALISED, (), "That checkout is the cause is not shown, but it starts at checkout."),
        (None, (), "That checkout is the cause is not shown, but it starts at checkout."),
        (
            CauseLevel.LOCALISED,
            ("payments-db",),
            "That checkout is the cause is not shown; it starts at checkout or in what it calls.",
        ),
    ],
)
def test_yes_is_for_a_cause_whose_happening_is_shown(
    level: CauseLevel | None, scope: tuple[str, ...], said: str
) -> None:
    """Where it only starts there, or may start in what it calls, the cause is not shown."""
    assert first(CONFIRM, cause("checkout", level, *scope)) == said


def test_the_level_holds_in_chinese_as_well() -> None:
    """No language says yes to less."""
    said = first(CONFIRM, cause("checkout", CauseLevel.LOCALISED, "payments-db"), Language.ZH)

    assert said == "尚不能证明 checkout 是原因；问题始于 checkout 或它所调用的对象。"


@pytest.mark.parametrize("form", [FormRead(QuestionForm.CONFIRM, "web"), COMPARE])
def test_nobody_is_named_as_the_cause_where_it_only_starts_there(form: FormRead) -> None:
    """Neither as another one than was asked about, nor as one of two."""
    assert "points to" not in first(form, cause("checkout", CauseLevel.LOCALISED))
    assert "starts at checkout" in first(form, cause("checkout", CauseLevel.LOCALISED))
    assert "or in what" in first(form, cause("checkout", CauseLevel.LOCALISED, "payments-db"))
    assert "starts at" not in first(form, cause("checkout", CauseLevel.EXPLAINED))
    neither = first(COMPARE, cause("payments", CauseLevel.LOCALISED))
    assert neither.endswith("neither of them as the cause; by what was checked it starts at payments.")
