"""A responder and a writer that give the test's answers, behind the real contracts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diagnosis_harness.application.system.answer import SystemAnswer, SystemTopic
from diagnosis_harness.application.system.profile import SystemProfile
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.knowledge.passage import Passage
from diagnosis_harness.knowledge.quotation import Quotation
from diagnosis_harness.knowledge.units import units_of

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext


class ScriptedResponder:
    """Gives one answer for ever, or raises it. Counts how often it was asked."""

    def __init__(self, answer: SystemAnswer | Exception | None = None) -> None:
        self._answer = SystemAnswer((SystemTopic.IDENTITY,)) if answer is None else answer
        self.asked = 0

    async def respond(
        self, ctx: RunContext, question: str, language: Language, profile: SystemProfile
    ) -> tuple[SystemAnswer, TokenUsage]:
        """The answer."""
        del ctx, question, language, profile
        self.asked += 1
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer, TokenUsage(0, 0)


class ScriptedWriter:
    """Gives one answer for ever, or raises it; without one, the first unit of the first passage."""

    def __init__(self, answer: Sequence[Quotation] | Exception | None = None) -> None:
        self._answer = answer
        self.asked = 0

    async def write(
        self, ctx: RunContext, question: str, passages: Sequence[Passage]
    ) -> tuple[Sequence[Quotation], TokenUsage]:
        """The answer."""
        del ctx, question
        self.asked += 1
        if isinstance(self._answer, Exception):
            raise self._answer
        if self._answer is None:
            return (Quotation(units_of(passages[0])[0].text, 1),), TokenUsage(0, 0)
        return self._answer, TokenUsage(0, 0)
