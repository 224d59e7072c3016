"""Messages to a language model and its answers, without any provider's types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.kernel.canonical import canonical_json
from diagnosis_harness.kernel.json_value import JsonValue

__all__ = [
    "ChatMessage",
    "ChatReply",
    "ChatRequest",
    "ChatRole",
    "FinishReason",
    "TokenUsage",
    "ToolCall",
    "ToolDefinition",
    "estimate_input_tokens",
]


class ChatRole(StrEnum):
    """The author of a message."""

    SYSTEM = "SYSTEM"
    USER = "USER"
    ASSISTANT = "ASSISTANT"
    TOOL = "TOOL"


class FinishReason(StrEnum):
    """Why an answer ended."""

    STOP = "STOP"
    TOOL_CALLS = "TOOL_CALLS"
    LENGTH = "LENGTH"  # the output limit cut it off
    CONTENT_FILTER = "CONTENT_FILTER"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model asks for. The id is the provider's own; the arguments are its text, unparsed."""

    tool_call_id: str
    tool_name: str
    arguments_json: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message. `tool_calls` belongs to an ASSISTANT message, `tool_call_id` to a TOOL message."""

    role: ChatRole
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool that a model may ask for; `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One question to a language model.

    Attributes:
        messages: the conversation, oldest first; not empty.
        tools: what the model may ask for.
        output_schema: JSON Schema that the answer's text must follow; None for free text.
        max_output_tokens: the longest answer; it is what a call holds in reserve.
        timeout_s: limit of this attempt; None leaves it the time the run has left.
    """

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolDefinition, ...] = ()
    output_schema: Mapping[str, JsonValue] | None = None
    max_output_tokens: int = 2048
    timeout_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatReply:
    """One answer. `usage` is None when the provider reported none: unknown, which is not zero."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    finish: FinishReason = FinishReason.STOP
    usage: TokenUsage | None = None
    llm_name: str = ""


_BYTES_PER_TOKEN = 3
_TOKENS_PER_MESSAGE = 8


def estimate_input_tokens(request: ChatRequest) -> int:
    """An upper estimate of the tokens of a request, before it is sent.

    Three bytes of UTF-8 for a token (English has about four, Chinese about three) and a flat amount for each
    message's frame. It only bounds what a call holds in reserve: the charge is what the provider reports.
    """
    size_bytes = sum(_message_bytes(message) for message in request.messages)
    size_bytes += sum(
        len(tool.name) + len(tool.description.encode()) + len(canonical_json(tool.parameters))
        for tool in request.tools
    )
    if request.output_schema is not None:
        size_bytes += len(canonical_json(request.output_schema))
    return -(-size_bytes // _BYTES_PER_TOKEN) + _TOKENS_PER_MESSAGE * len(request.messages)


def _message_bytes(message: ChatMessage) -> int:
    calls = sum(len(call.tool_name) + len(call.arguments_json.encode()) for call in message.tool_calls)
    return len(message.text.encode("utf-8", "replace")) + calls
