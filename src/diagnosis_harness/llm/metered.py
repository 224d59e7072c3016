"""The meter in front of every language model: one gate, one charge and one trace event per request."""

from __future__ import annotations

from collections.abc import Mapping

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.errors import TechnicalFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.llm.messages import ChatReply, ChatRequest, TokenUsage, estimate_input_tokens
from diagnosis_harness.llm.port import ChatModel
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase


class MeteredChatModel:
    """A `ChatModel` whose every request passes the run's gate. Players get this one, never the bare port.

    It reserves tokens before a request and charges what the provider reports. The llm call itself is charged
    once: the first request of a role's attempt takes over the call of that attempt. It never retries, since
    `RoleBoundary` does.
    """

    def __init__(self, core: DiagnosisHarnessCore, port: ChatModel) -> None:
        self._core = core
        self._port = port

    async def complete(self, ctx: RunContext, request: ChatRequest) -> ChatReply:
        """Send one request, within the run's budget and time.

        Raises:
            RunAborted: the run had ended, ended meanwhile, or has no budget for this request.
            LlmFailure: the model failed, or its time limit passed (TIMEOUT).
        """
        reserve = TokenUsage(estimate_input_tokens(request), request.max_output_tokens)
        try:
            reply = await self._core.call_llm(
                ctx,
                lambda ctx: self._port.complete(ctx, request),
                usage_of=lambda reply: reply.usage,
                reserve=reserve,
                limit_s=request.timeout_s,
            )
        except BaseException as error:
            kind = error.kind.value if isinstance(error, TechnicalFailure) else None
            self._emit(ctx, TraceEventStatus.FAILED, {"error": type(error).__name__, "kind": kind})
            raise
        self._emit(ctx, TraceEventStatus.SUCCEEDED, _payload(reply))
        return reply

    def _emit(self, ctx: RunContext, status: TraceEventStatus, payload: Mapping[str, JsonValue]) -> None:
        self._core.emit(ctx, TraceName.LLM_CALL, TracePhase.AGENT, status, payload)


def _payload(reply: ChatReply) -> Mapping[str, JsonValue]:
    """The payload of the trace event about a reply, without its text."""
    usage = reply.usage
    return {
        "llm": reply.llm_name,
        "finish": reply.finish.value,
        "tool_calls": len(reply.tool_calls),
        "input_tokens": None if usage is None else usage.input_tokens,
        "output_tokens": None if usage is None else usage.output_tokens,
    }
