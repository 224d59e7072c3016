"""The first sentence of a form that asks for more than the cause: of released causes and passed claims alone.

Pure. It says yes of a cause only where that cause was released, and of behaviour what a checked claim says,
with its window; never that nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from diagnosis_harness.diagnosis.claim import Claim, Predicate
from diagnosis_harness.diagnosis.draft import Cause
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.question_form import QuestionForm
from diagnosis_harness.kernel.language import Language, Text
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.report.sentence import sentence

ANSWER_YES: Final = Text(
    en="Yes, as far as the recorded evidence goes: {entity} is the cause.",
    zh="是的，就已记录的证据而言：{entity} 是原因。",
)
ANSWER_OTHER: Final = Text(
    en="The evidence does not show that {entity} is the cause; it points to {other}.",
    zh="没有证据表明 {entity} 是原因；证据指向 {other}。",
)
ANSWER_OPEN: Final = Text(
    en="The evidence does not show whether {entity} is the cause.",
    zh="现有证据无法说明 {entity} 是否为原因。",
)
ANSWER_CHANGE: Final = Text(
    en="{change} The evidence does not show that it caused this.", zh="{change}但没有证据表明是它导致的。"
)
ANSWER_NO_CHANGE: Final = Text(
    en="The evidence does not show that a change caused this.", zh="没有证据表明是变更导致的。"
)
ANSWER_UNUSUAL: Final = Text(
    en="{entity} is not behaving as usual: {claim}", zh="{entity} 与平时不同：{claim}"
)
ANSWER_USUAL: Final = Text(
    en="Nothing unusual in what was examined: {claim}", zh="在已检查的范围内未见异常：{claim}"
)
ANSWER_UNSEEN: Final = Text(
    en="Nothing that was checked shows the state of {entity}.", zh="已核对的内容无法说明 {entity} 的状况。"
)
_UNUSUAL: Final = frozenset(
    {Predicate.CHANGED, Predicate.SLOWED, Predicate.FAILED, Predicate.SATURATED, Predicate.DROPPED}
)


def answer_sentences(
    inquiry: Inquiry, causes: Sequence[Cause], claims: Sequence[Claim], language: Language
) -> Iterator[str]:
    """The answer to the form of the question; none for WHY, whose answer is the conclusion itself.

    Args:
        causes: the released ones.
        claims: those that are published.
    """
    read = inquiry.reading.form
    match read.form:
        case QuestionForm.CONFIRM if read.subject is not None:
            yield _confirm(read.subject, inquiry, causes, language)
        case QuestionForm.CONFIRM_CHANGE:
            made = [each for each in claims if each.predicate is Predicate.DEPLOYED]
            own = [each for each in made if read.subject in (None, each.entity)]
            if own:
                yield ANSWER_CHANGE.render(language, change=sentence(own[0], language))
            else:
                yield ANSWER_NO_CHANGE.in_(language)
        case QuestionForm.HEALTH if read.subject is not None:
            yield _health(read.subject, inquiry, claims, language)
        case _:
            return


def _confirm(subject: str, inquiry: Inquiry, causes: Sequence[Cause], language: Language) -> str:
    shown = display_name(subject)
    named = [cause.entity for cause in causes]
    if not named:
        return ANSWER_OPEN.render(language, entity=shown)
    if not {subject, *inquiry.inventory.parts_of(subject)}.isdisjoint(named):
        return ANSWER_YES.render(language, entity=shown)
    return ANSWER_OTHER.render(language, entity=shown, other=display_name(named[0]))


def _health(subject: str, inquiry: Inquiry, claims: Sequence[Claim], language: Language) -> str:
    names = {subject, *inquiry.inventory.parts_of(subject)}
    own = [each for each in claims if each.entity in names]
    unusual = next((each for each in own if each.predicate in _UNUSUAL), None)
    usual = next((each for each in own if each.predicate is Predicate.NORMAL), None)
    shown = display_name(subject)
    if unusual is not None:
        return ANSWER_UNUSUAL.render(language, entity=shown, claim=sentence(unusual, language))
    if usual is not None:
        return ANSWER_USUAL.render(language, claim=sentence(usual, language))
    return ANSWER_UNSEEN.render(language, entity=shown)
