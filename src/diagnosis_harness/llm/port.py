"""The port of a language model."""

from __future__ import annotations

from typing import Protocol

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.llm.messages import ChatReply, ChatRequest


class ChatModel(Protocol):
    """Answers one request with one attempt: no retry, no fallback to another model, hidden or not."""

    async def complete(self, ctx: RunContext, request: ChatRequest) -> ChatReply:
        """Ask once.

        Raises:
            LlmFailure: with the kind of the failure. No foreign error is raised.
        """
        ...
