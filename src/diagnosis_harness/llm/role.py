"""The boundary of every role that a language model may fill, for any player of the role.

An attempt of a role passes the gate and costs one llm call of the budget, even when the embedded player makes
it: a budget then means the same with and without a language model, and no player is asked once a run has been
cancelled. A request that the player sends through `MeteredChatModel` is not charged a second time: the first
one takes over the attempt's call, and a further one costs a call of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.retry import HarnessRetryExecutor, RetryRole

T = TypeVar("T")


class RoleBoundary:
    """Makes the attempts of roles; each is gated, charged, bounded and recorded."""

    def __init__(self, core: DiagnosisHarnessCore) -> None:
        self._core = core
        self._retries = HarnessRetryExecutor(core)

    async def play(
        self,
        ctx: RunContext,
        role: RetryRole,
        operation: Callable[[RunContext], Awaitable[tuple[T, TokenUsage | None]]],
    ) -> T:
        """Return the player's answer; `operation` is one attempt and returns it with the tokens it took.

        Those tokens are charged only when the attempt sent no metered request: a meter charges its own.

        Raises:
            RunAborted: the run had ended or ended meanwhile.
            TechnicalFailure: the last attempt failed.
            Exception: what the player raised.
        """

        async def attempt(ctx: RunContext) -> tuple[T, TokenUsage | None]:
            return await self._core.attempt_role(ctx, operation, usage_of=lambda reply: reply[1])

        answer, _ = await self._retries.run(ctx, role, attempt)
        return answer
