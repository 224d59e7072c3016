"""Policies that speak only JSON: what a language model could be, with a function in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from diagnosis_harness.diagnosis.policy import DiagnosisPolicy, PolicyAnswer, PolicyView
from diagnosis_harness.diagnosis.wire import decode_answer, encode_answer, encode_view
from diagnosis_harness.harness.budget import TokenUsage

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext


class WirePolicy:
    """Gives the view as JSON text to a function and reads its answer back; remembers both sides."""

    def __init__(self, answer: Callable[[str], str]) -> None:
        self._answer = answer
        self.exchanges: list[tuple[str, str]] = []

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """What the function said.

        Raises:
            MalformedAnswer: it is not of the wire's form.
        """
        del ctx
        seen = encode_view(view)
        answer = self._answer(seen)
        self.exchanges.append((seen, answer))
        return decode_answer(answer), TokenUsage(0, 0)


class OverTheWire:
    """Another policy, with every answer of it written as JSON text and read back; remembers the texts."""

    def __init__(self, policy: DiagnosisPolicy) -> None:
        self._policy = policy
        self.sent: list[str] = []

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """The other policy's answer after its way over the wire."""
        answer, usage = await self._policy.decide(ctx, view)
        self.sent.append(encode_answer(answer))
        return decode_answer(self.sent[-1]), usage
