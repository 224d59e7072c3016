"""Messages to a language model, and the estimate of what they take."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.llm.messages import (
    ChatMessage,
    ChatRequest,
    ChatRole,
    ToolCall,
    ToolDefinition,
    estimate_input_tokens,
)


def asking(text: str) -> ChatRequest:
    """A request of one message."""
    return ChatRequest(messages=(ChatMessage(ChatRole.USER, text),))


@given(st.text(max_size=200), st.text(max_size=50))
def test_the_estimate_is_positive_and_grows_with_the_text(text: str, more: str) -> None:
    """It bounds a reservation, so it is never zero and more text is never less."""
    assert 0 < estimate_input_tokens(asking(text)) <= estimate_input_tokens(asking(text + more))


def test_everything_that_is_sent_is_estimated() -> None:
    """Tools, the schema of the answer and earlier tool calls take tokens as well."""
    plain = asking("why?")
    tool = ToolDefinition("rank", "Ranks causes.", {"type": "object", "properties": {}})
    call = ChatMessage(ChatRole.ASSISTANT, "", tool_calls=(ToolCall("1", "rank", '{"top": 5}'),))
    variants = (
        ChatRequest(messages=plain.messages, tools=(tool,)),
        ChatRequest(messages=plain.messages, output_schema={"type": "object"}),
        ChatRequest(messages=(*plain.messages, call)),
    )
    assert all(estimate_input_tokens(one) > estimate_input_tokens(plain) for one in variants)
