"""A router that gives the test's answers, behind the real contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason, RoutingTurn
from diagnosis_harness.harness.budget import TokenUsage

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

DIAGNOSIS = RoutingDecision(IntentType.DIAGNOSIS, RoutingReason.LLM_JUDGED)


class ScriptedRouter:
    """Gives its answers in order, the last for ever; raises exceptions among them. Remembers histories."""

    def __init__(self, *answers: RoutingDecision | Exception) -> None:
        self._answers = answers or (DIAGNOSIS,)
        self.histories: list[tuple[RoutingTurn, ...]] = []

    async def route(
        self, ctx: RunContext, question: str, history: Sequence[RoutingTurn]
    ) -> tuple[RoutingDecision, TokenUsage]:
        """The next answer."""
        del ctx, question
        answer = self._answers[min(len(self.histories), len(self._answers) - 1)]
        self.histories.append(tuple(history))
        if isinstance(answer, Exception):
            raise answer
        return answer, TokenUsage(0, 0)
