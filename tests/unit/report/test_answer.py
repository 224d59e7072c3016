"""The first sentence of a form: it goes no further than the cause that was released."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, FaultKind, Predicate
from diagnosis_harness.diagnosis.draft import Cause, CauseLevel
from diagnosis_harness.diagnosis.inquiry import Inquiry, OnsetOrigin
from diagnosis_harness.diagnosis.question_form import FormRead, QuestionForm
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.report.answer import ANSWER_STATED, NAMING_TEXTS, answer_sentences
from diagnosis_harness.testing.evidence import ready_record
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind

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
    ("level", "scope", "message"),
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
    level: CauseLevel | None, scope: tuple[str, ...], message: str
) -> None:
    """Where it only starts there, or may start in what it calls, the cause is not shown."""
    assert first(CONFIRM, cause("checkout", level, *scope)) == message


def test_the_level_holds_in_chinese_as_well() -> None:
    """No language says yes to less."""
    sentence = first(CONFIRM, cause("checkout", CauseLevel.LOCALISED, "payments-db"), Language.ZH)

    assert sentence == "尚不能证明 checkout 是原因；问题始于 checkout 或它所调用的对象。"


@pytest.mark.parametrize("form", [FormRead(QuestionForm.CONFIRM, "web"), COMPARE])
def test_nothing_is_named_as_the_cause_if_the_trouble_only_starts_there(form: FormRead) -> None:
    """Neither as another one than was asked about, nor as one of two."""
    assert "points to" not in first(form, cause("checkout", CauseLevel.LOCALISED))
    assert "starts at checkout" in first(form, cause("checkout", CauseLevel.LOCALISED))
    assert "or in what" in first(form, cause("checkout", CauseLevel.LOCALISED, "payments-db"))
    assert "starts at" not in first(form, cause("checkout", CauseLevel.EXPLAINED))
    neither = first(COMPARE, cause("payments", CauseLevel.LOCALISED))
    assert neither.endswith("neither of them as the cause; by what was checked it starts at payments.")


MOVED = Claim(
    "k1",
    Predicate.CHANGED,
    "checkout",
    (EvidenceRef("t1", "i2"),),
    signal="latency_p95",
    value=0.5,
    baseline=0.1,
    unit="s",
    direction=Direction.UP,
    window=TimeWindow(1_700_000_000.0, 1_700_000_600.0),
)
HARM = EvidenceItem(
    "i2",
    ItemKind.SIGNAL_CHANGE,
    "latency rose",
    entity="checkout",
    signal="latency_p95",
    direction=Direction.UP,
    attributes={"bad": True, "z": 9.0},
)
HINT = replace(HARM, attributes={"bad": True, "z": 2.2})


def answer(form: FormRead, item: EvidenceItem, *claims: Claim, asked: Inquiry | None = None) -> str:
    """The first sentence from claims alone."""
    inquiry = asks(form) if asked is None else asked
    records = (ready_record(item),)
    return next(answer_sentences(inquiry, [], claims, records=records, language=Language.EN))


def test_nothing_shows_the_state_only_where_no_claim_is_about_the_entity() -> None:
    """A hint does not make a service unusual, and it is not hidden."""
    health = FormRead(QuestionForm.HEALTH, "checkout")

    assert answer(health, HARM, MOVED).startswith("checkout is not behaving as usual: latency_p95")
    assert answer(health, HINT, MOVED).startswith(
        "Whether checkout is as usual is not clear: latency_p95 of checkout rose"
    )
    assert answer(health, HINT, replace(MOVED, entity="payment")).startswith("Nothing that was checked")


def test_who_said_when_it_began_is_named() -> None:
    """The alert is not the question."""
    assert set(ANSWER_STATED) == set(OnsetOrigin) - {OnsetOrigin.NOBODY}
    when = FormRead(QuestionForm.WHEN)
    alerted = replace(asks(when), onset_s=1_700_000_000.0, onset_origin=OnsetOrigin.ALERT)

    assert answer(when, HARM, MOVED, asked=alerted).startswith(
        "By the alert it began at 2023-11-14 22:13:20 UTC"
    )


def test_that_nothing_left_its_normal_range_is_said_of_no_claim_that_did() -> None:
    """The report shows what moved instead."""
    when = FormRead(QuestionForm.WHEN)

    assert answer(when, HARM, MOVED).startswith("When it began is not shown: latency_p95 of checkout rose")
    assert answer(when, HINT, MOVED).startswith("When it began is not shown: no signal that was checked")
