"""The names of a run's spans and attributes: the only file that knows OpenTelemetry's GenAI names.

Source: OpenTelemetry semantic conventions for generative AI (spans of agents, tools and inference). They are
still in development; when they change, only this file changes. Attributes they do not define are named
`diagnosis.…`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from diagnosis_harness.kernel.canonical import canonical_json
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.trace.event import TraceEvent, TraceName

Attribute: TypeAlias = str | bool | int | float | tuple[str, ...]

AGENT: Final = "diagnosis-harness"
OPERATION: Final = "gen_ai.operation.name"
AGENT_NAME: Final = "gen_ai.agent.name"
CONVERSATION_ID: Final = "gen_ai.conversation.id"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
ERROR_TYPE: Final = "error.type"
RUN_ID: Final = "diagnosis.run_id"
SEQ: Final = "diagnosis.seq"
PHASE: Final = "diagnosis.phase"
STATUS: Final = "diagnosis.status"
UNFINISHED: Final = "diagnosis.unfinished"

RUN: Final = f"invoke_agent {AGENT}"
_OPERATIONS: Final[Mapping[TraceName, str]] = {
    TraceName.TOOL_INVOCATION: "execute_tool",
    TraceName.LLM_CALL: "chat",
    TraceName.KNOWLEDGE_RETRIEVAL: "retrieval",
}
_FIELDS: Final[Mapping[TraceName, Mapping[str, str]]] = {
    TraceName.TOOL_INVOCATION: {
        "tool": "gen_ai.tool.name",
        "tool_call_id": "gen_ai.tool.call.id",
        "scope": "gen_ai.tool.call.arguments",
        "error_code": ERROR_TYPE,
    },
    TraceName.LLM_CALL: {
        "llm": "gen_ai.response.model",
        "finish": FINISH_REASONS,
        "input_tokens": "gen_ai.usage.input_tokens",
        "output_tokens": "gen_ai.usage.output_tokens",
        "error": ERROR_TYPE,
    },
}


def span_name(event: TraceEvent) -> str:
    """The name of a span: `execute_tool rank_causes`, `chat gpt-5`, `AGENT_MODEL_STEP`."""
    operation = _OPERATIONS.get(event.name)
    if operation is None:
        return event.name.value
    subject = event.payload.get("tool", event.payload.get("llm"))
    return f"{operation} {subject}" if isinstance(subject, str) else operation


def run_attributes(run_id: str, session_id: str | None) -> Iterator[tuple[str, Attribute]]:
    """The attributes of a run's span, without the payloads of its first and last event."""
    yield OPERATION, "invoke_agent"
    yield AGENT_NAME, AGENT
    yield RUN_ID, run_id
    if session_id is not None:
        yield CONVERSATION_ID, session_id


def operation_attributes(event: TraceEvent) -> Iterator[tuple[str, Attribute]]:
    """The attributes of a span by the kind of its event; an operation if the conventions define one."""
    yield PHASE, event.phase.value
    if event.name in _OPERATIONS:
        yield OPERATION, _OPERATIONS[event.name]


def payload_attributes(event: TraceEvent) -> Iterator[tuple[str, Attribute]]:
    """The payload of an event as attributes; null is left out, and a nested value becomes JSON text."""
    known = _FIELDS.get(event.name, {})
    for field, value in event.payload.items():
        name = known.get(field, f"diagnosis.{field}")
        attribute = _attribute(value)
        if attribute is not None:
            yield name, (str(attribute),) if name == FINISH_REASONS else attribute


def _attribute(value: JsonValue) -> Attribute | None:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, tuple | list) and all(isinstance(item, str) for item in value):
        return tuple(str(item) for item in value)
    return canonical_json(value).decode("utf-8")
