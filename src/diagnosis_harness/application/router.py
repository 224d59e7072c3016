"""Routing: calls the role that chooses a question's path. No path is ever guessed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from diagnosis_harness.application.routing import RoutingDecision, RoutingTurn
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.retry import RetryRole
from diagnosis_harness.kernel.errors import FailureKind, MalformedAnswer, RouterUnavailable, TechnicalFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase

TURNS_MAX = 6
TURN_SIZE_BYTES = 1_000
HISTORY_SIZE_BYTES = 4_000


class IntentRouter(Protocol):
    """The port of the router. One call is one controlled attempt and costs one language-model call."""

    async def route(
        self, ctx: RunContext, question: str, history: Sequence[RoutingTurn]
    ) -> tuple[RoutingDecision, TokenUsage]:
        """The path of a question, and the tokens used; `history` is bounded, oldest turn first.

        Raises:
            LlmFailure: the language model behind it failed.
            MalformedAnswer: its answer is not one of the paths; this is not retried.
        """
        ...


Revise: TypeAlias = Callable[[RunContext, RoutingDecision], Awaitable[RoutingDecision]]
"""Revises a decision by the content of the source, since a question may contain nothing to diagnose."""


@dataclass(frozen=True, slots=True)
class Routing:
    """Routes questions. Holds no state between runs."""

    core: DiagnosisHarnessCore
    roles: RoleBoundary
    router: IntentRouter

    async def route(
        self,
        ctx: RunContext,
        question: str,
        history: Sequence[RoutingTurn],
        *,
        revise: Revise | None = None,
    ) -> RoutingDecision:
        """The path of a question. Emits it as ROUTING_DECISION with the reason.

        The caller has masked `question` and `history`; what the router sees of the history is bounded here.

        Args:
            revise: makes the final decision (`application.subject`); without it, the router's decision
            counts.

        Raises:
            RouterUnavailable: the attempts are used up, or the answer was not one of the paths.
            RunAborted: the run had ended or ended meanwhile.
            Exception: a bug in the player.
        """
        before = trim_history(history)
        try:
            decision = await self.roles.play(
                ctx, RetryRole.ROUTER, lambda ctx: self.router.route(ctx, question, before)
            )
        except TechnicalFailure as failure:
            raise self._unavailable(ctx, failure.kind) from failure
        except MalformedAnswer as answer:
            raise self._unavailable(ctx, FailureKind.INVALID_OUTPUT) from answer
        if revise is not None:
            decision = await revise(ctx, decision)
        self._emit_decision(
            ctx,
            TraceEventStatus.SUCCEEDED,
            {
                "intent": decision.intent.value,
                "reason": decision.reason.value,
                "matched": list(decision.matched),
            },
        )
        return decision

    def _unavailable(self, ctx: RunContext, kind: FailureKind) -> RouterUnavailable:
        self._emit_decision(ctx, TraceEventStatus.FAILED, {"failure": kind.value})
        return RouterUnavailable(f"the question could not be routed: {kind}", kind=kind)

    def _emit_decision(
        self, ctx: RunContext, status: TraceEventStatus, payload: dict[str, JsonValue]
    ) -> None:
        self.core.emit(ctx, TraceName.ROUTING_DECISION, TracePhase.ROUTING, status, payload)


def trim_history(
    turns: Sequence[RoutingTurn],
    *,
    turns_max: int = TURNS_MAX,
    turn_size_bytes: int = TURN_SIZE_BYTES,
    size_bytes: int = HISTORY_SIZE_BYTES,
) -> tuple[RoutingTurn, ...]:
    """The latest turns without a gap, oldest first, within count and bytes (UTF-8 of the questions).

    A long question is cut at `turn_size_bytes`, between two characters.
    """
    kept: list[RoutingTurn] = []
    left_bytes = size_bytes
    for turn in reversed(turns[max(0, len(turns) - turns_max) :]):
        question = _cut(turn.question, turn_size_bytes)
        left_bytes -= len(question.encode("utf-8", "surrogatepass"))
        if left_bytes < 0:
            break
        kept.append(RoutingTurn(question, turn.intent))
    return tuple(reversed(kept))


def _cut(text: str, size_bytes: int) -> str:
    encoded = text[:size_bytes].encode("utf-8", "surrogatepass")
    if len(encoded) <= size_bytes:
        return text[:size_bytes]
    end = size_bytes
    while end > 0 and encoded[end] & 0xC0 == 0x80:  # inside a character
        end -= 1
    return encoded[:end].decode("utf-8", "surrogatepass")
