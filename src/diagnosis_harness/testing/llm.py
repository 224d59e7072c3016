"""A language model that answers as scripted, behind the real port."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.lease import TokenUsage
from diagnosis_harness.kernel.errors import FailureKind, LlmFailure
from diagnosis_harness.llm.messages import ChatReply, ChatRequest

ScriptedReply = ChatReply | LlmFailure
"""A scripted reply: an answer, or a failure."""


@dataclass(slots=True)
class FakeChatModel:
    """A `ChatModel` that gives its `answers` in order, one per attempt, and records the attempts.

    `before` is awaited inside each attempt, before the answer; there a test can cancel or move the clock.

    Raises:
        LlmFailure: the next answer is one, or (UNAVAILABLE) no answer is left.
    """

    answers: Iterable[ScriptedReply]
    before: Callable[[RunContext], Awaitable[None]] | None = None
    attempts: list[tuple[RunContext, ChatRequest]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.answers = iter(self.answers)

    async def complete(self, ctx: RunContext, request: ChatRequest) -> ChatReply:
        """The next answer."""
        self.attempts.append((ctx, request))
        if self.before is not None:
            await self.before(ctx)
        answer = next(iter(self.answers), None)
        if answer is None:
            raise LlmFailure("the fake has no answer left", kind=FailureKind.UNAVAILABLE)
        if isinstance(answer, LlmFailure):
            raise answer
        return answer


def says(text: str, *, input_tokens: int = 10, output_tokens: int = 5) -> ChatReply:
    """A reply of that text, with that usage."""
    return ChatReply(text=text, usage=TokenUsage(input_tokens, output_tokens), llm_name="fake")
