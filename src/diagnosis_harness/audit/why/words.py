"""An answer to "why" in words, in either language; also as JSON."""

from __future__ import annotations

from diagnosis_harness.audit.why.answer import WhyAnswer, WhyQuestion
from diagnosis_harness.audit.why.words_en import QUESTIONS_EN, SAID_EN
from diagnosis_harness.audit.why.words_zh import QUESTIONS_ZH, SAID_ZH
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language


def question_words(question: WhyQuestion, language: Language) -> str:
    """The question as a person asks it."""
    return (QUESTIONS_ZH if language is Language.ZH else QUESTIONS_EN)[question]


def sentences(answer: WhyAnswer, language: Language) -> tuple[str, ...]:
    """What is answered. Names and codes of the run stand in it as they are recorded."""
    said = SAID_ZH if language is Language.ZH else SAID_EN
    return tuple(said[sentence.say].format(**sentence.values) for sentence in answer.sentences)


def answer_json(answer: WhyAnswer, language: Language) -> JsonValue:
    """The answer as JSON: code, words, whether it arises, and the places in the document it rests on."""
    return {
        "question": answer.question.value,
        "asks": question_words(answer.question, language),
        "arises": answer.arises,
        "says": list(sentences(answer, language)),
        "rests_on": [{"place": fact.place, "value": fact.value} for fact in answer.facts],
    }
