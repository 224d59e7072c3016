"""The boundary of every role that a language model may play, whoever plays it.

An attempt of a role passes the gate and costs one llm call of the budget, also when the embedded player makes
it: a budget then means the same with and without a language model, and a cancelled run asks no player
anything more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.retry import HarnessRetryExecutor, RetryRole

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

T = TypeVar("T")


class RoleBoundary:
    """Makes the attempts of roles, each gated, charged, bounded and recorded."""

    def __init__(self, core: DiagnosisHarnessCore) -> None:
        self._core = core
        self._retries = HarnessRetryExecutor(core)

    async def play(
        self,
        ctx: RunContext,
        role: RetryRole,
        operation: Callable[[RunContext], Awaitable[tuple[T, TokenUsage | None]]],
    ) -> T:
        """What the player answers; `operation` is one attempt and gives its answer with the tokens it took.

        Raises:
            RunAborted: the run had ended or ended meanwhile.
            TechnicalFailure: the last attempt failed.
            Exception: what the player raised.
        """

        async def attempt(ctx: RunContext) -> tuple[T, TokenUsage | None]:
            return await self._core.call_llm(ctx, operation, usage_of=lambda reply: reply[1])

        answer, _ = await self._retries.run(ctx, role, attempt)
        return answer
