"""An answer to "why": the question, sentences as data, and the places in the document that support them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from diagnosis_harness.audit.why.phrases import Phrase
from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language, Text


class WhyQuestion(StrEnum):
    """The seven questions of the lifecycle document, §15, in its order."""

    FALLBACK = "FALLBACK"
    STOPPED_CALLING = "STOPPED_CALLING"
    NO_EVIDENCE = "NO_EVIDENCE"
    TIME_OR_BUDGET = "TIME_OR_BUDGET"
    STATUS_SUCCESS = "STATUS_SUCCESS"
    NO_DONE = "NO_DONE"
    NO_PREVIOUS_TURN = "NO_PREVIOUS_TURN"


_QUESTIONS: Final[Mapping[WhyQuestion, Text]] = {
    WhyQuestion.FALLBACK: Text(en="Why was the answer a fallback?", zh="为什么得到的是兜底答复？"),
    WhyQuestion.STOPPED_CALLING: Text(
        en="Why did the agent stop calling tools?", zh="智能体为什么停止调用工具？"
    ),
    WhyQuestion.NO_EVIDENCE: Text(en="Why did a tool return no evidence?", zh="工具为什么没有返回证据？"),
    WhyQuestion.TIME_OR_BUDGET: Text(en="Did it run out of time or of budget?", zh="是超时还是预算耗尽？"),
    WhyQuestion.STATUS_SUCCESS: Text(
        en="Why is the status SUCCESS without a conclusion?", zh="为什么 status 是 SUCCESS 却没有结论？"
    ),
    WhyQuestion.NO_DONE: Text(en="Why was no `done` event sent?", zh="为什么没有发送 `done` 事件？"),
    WhyQuestion.NO_PREVIOUS_TURN: Text(
        en="Why does the next turn not see this one?", zh="下一轮为什么看不到本轮？"
    ),
}


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence as data: its phrase, and the values in it."""

    phrase: Phrase
    values: Mapping[str, str]

    @classmethod
    def of(cls, phrase: Phrase, **values: object) -> Sentence:
        """Make a sentence, with its values as text."""
        return cls(phrase, MappingProxyType({name: str(value) for name, value in values.items()}))


def quote_unless_plain(name: str) -> str:
    """A name that an agent may have chosen, in quotation marks unless it is plain."""
    return name if is_safe_segment(name) else json.dumps(name, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Fact:
    """The support of an answer: a path in the run document, and a short form of its value."""

    place: str
    value: str


@dataclass(frozen=True, slots=True)
class WhyAnswer:
    """The answer to one question about one run.

    Attributes:
        sentences: one or more. arises: False if the run gives no reason to ask; the sentences then say so.
    """

    question: WhyQuestion
    sentences: tuple[Sentence, ...]
    facts: tuple[Fact, ...]
    arises: bool

    def asks(self, language: Language) -> str:
        """The question in plain words."""
        return _QUESTIONS[self.question].in_(language)

    def says(self, language: Language) -> tuple[str, ...]:
        """The answer in words, with names and codes as they are recorded."""
        return tuple(each.phrase.value.render(language, **each.values) for each in self.sentences)

    def as_json(self, language: Language) -> JsonValue:
        """The answer as JSON: code, words, whether it arises, and the document paths that support it."""
        return {
            "question": self.question.value,
            "asks": self.asks(language),
            "arises": self.arises,
            "says": list(self.says(language)),
            "rests_on": [{"place": fact.place, "value": fact.value} for fact in self.facts],
        }
