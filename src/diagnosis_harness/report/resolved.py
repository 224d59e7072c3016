"""One line on how a question was understood: form, entities, time and zone. Pure.

Everything in the line is in the document (`inquiry`), so verifying the inquiry verifies the line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from diagnosis_harness.diagnosis.question_form import QuestionForm
from diagnosis_harness.kernel.language import Language, Text
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.kernel.window import parse_utc
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.excerpt import window_words
from diagnosis_harness.report.opening import COMMA
from diagnosis_harness.report.timestamps import display_time

FORM_WORDS: Final[Mapping[QuestionForm, Text]] = {
    QuestionForm.WHY: Text(en="what is the cause", zh="问原因"),
    QuestionForm.CONFIRM: Text(en="whether it is the cause", zh="问它是不是原因"),
    QuestionForm.CONFIRM_CHANGE: Text(en="whether a change is the cause", zh="问是不是变更导致"),
    QuestionForm.HEALTH: Text(en="whether it is as usual", zh="问它是否正常"),
    QuestionForm.COMPARE: Text(en="one beside the other", zh="问两者对比"),
    QuestionForm.COMPARE_TIMES: Text(en="before and after", zh="问前后对比"),
    QuestionForm.WHEN: Text(en="when it began", zh="问何时开始"),
    QuestionForm.SHOW: Text(en="what was recorded", zh="查看记录"),
    QuestionForm.FOLLOW_UP: Text(en="the same of another one", zh="接着问另一个"),
}
UNDERSTOOD: Final = Text(en="Understood as: {parts}", zh="理解为：{parts}")
SINCE: Final = Text(en="since {at}", zh="从 {at} 起")
ZONE: Final = Text(en="times in {zone}", zh="时区 {zone}")
PART: Final = Text(en=" · ", zh=" · ")


def describe_reading(document: RunDocument, language: Language) -> str | None:
    """The line; None if the run resolved no question."""
    inquiry = document.inquiry
    if inquiry is None or inquiry.question is None:
        return None
    read = inquiry.question
    asked_of = dict.fromkeys(name for name in (read.subject, read.other) if name is not None)
    affected = dict.fromkeys(inquiry.affected)
    parts = [FORM_WORDS[read.form].in_(language)]
    if names := list(asked_of | affected):
        parts.append(COMMA.in_(language).join(display_name(name) for name in names))
    if document.report.window is not None:
        parts.append(window_words(document.report.window, language=language))
    elif inquiry.onset_at is not None:
        parts.append(SINCE.render(language, at=display_time(parse_utc(inquiry.onset_at))))
    parts.append(ZONE.render(language, zone=read.zone))
    return UNDERSTOOD.render(language, parts=PART.in_(language).join(parts))
