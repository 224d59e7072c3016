"""Which form of answer a question asks for: pure, one closed set."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.diagnosis.names import NameRead


class QuestionForm(StrEnum):
    """What the first sentence of an answer must speak of."""

    WHY = "WHY"  # the cause
    CONFIRM = "CONFIRM"  # whether a named entity is the cause
    CONFIRM_CHANGE = "CONFIRM_CHANGE"  # whether a deploy or another change is
    HEALTH = "HEALTH"  # whether a named entity behaves as usual


SUSPECTING = frozenset({QuestionForm.CONFIRM, QuestionForm.CONFIRM_CHANGE})
"""Forms whose subject is the suspect and not the affected entity."""


@dataclass(frozen=True, slots=True)
class FormRead:
    """The form, and the entity that it is about; None where the question names none that is known."""

    form: QuestionForm = QuestionForm.WHY
    subject: str | None = None


_START = r"^\W*(?:so\s+|and\s+|but\s+|or\s+)?"
_WHY = re.compile(
    rf"{_START}(?:why|how come|what|which|who|where|when)\b|为什么|为何|为啥|怎么", re.IGNORECASE
)
_BLAME = re.compile(
    r"\b(?:cause[ds]?|culprit|root cause|to blame|responsible|at fault|bottleneck)\b"
    "|原因|根因|罪魁|元凶|导致|引起|造成",
    re.IGNORECASE,
)
_ASKS = re.compile(rf"{_START}(?:is|was|are|were|did|does|do|could|can|might|may)\b", re.IGNORECASE)
_ASKS_ZH = re.compile("是不是|是否|会不会|吗|是.{0,12}(?:原因|根因)")
_CHANGE = re.compile(
    r"\b(?:deploy(?:ment|s)?|release|rollout|roll-out|upgrade|change|commit|migration)\b"
    "|发布|上线|变更|部署|升级",
    re.IGNORECASE,
)
_IT = re.compile(rf"{_START}(?:was|is|could)\s+(?:it|this|that)\b|" r"^\W*是(?:不是)?", re.IGNORECASE)
_HEALTH = re.compile(
    r"\b(?:healthy|unhealthy|ok|okay|fine|normal|all right|alright|well|in trouble|slow|failing|down"
    r"|affected|broken|degraded)\s*(?:now|again|today|at all|right now)?\s*(?:since\b.*|at\b.*)?\W*$"
    r"|(?:正常|健康|还好|稳定|有问题|异常|慢)吗",
    re.IGNORECASE,
)


def read_form(question: str, names: Sequence[NameRead]) -> FormRead:
    """The form of a question, given the names in it; WHY unless the words leave no doubt."""
    known = [each.name for each in names if each.name is not None]
    subject = known[0] if known else None
    if _WHY.search(question) or not (_ASKS.search(question) or _ASKS_ZH.search(question)):
        return FormRead()
    if _CHANGE.search(question) and (_BLAME.search(question) or _IT.search(question)):
        return FormRead(QuestionForm.CONFIRM_CHANGE, subject)
    if _BLAME.search(question) and subject is not None:
        return FormRead(QuestionForm.CONFIRM, subject)
    if _HEALTH.search(question) and subject is not None:
        return FormRead(QuestionForm.HEALTH, subject)
    return FormRead()
