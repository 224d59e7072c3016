"""Whether a request may become a tool call: pure, with a code for every refusal, in the order of DESIGN §5.

The boundary checks whether the run is active before this, and budget and store after it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.keys import is_safe_segment
from diagnosis_harness.kernel.canonical import canonical_json
from diagnosis_harness.kernel.errors import ArgumentProblem, MaskingFailed, UnknownEntity
from diagnosis_harness.kernel.masking import mask_or_withhold, mask_value
from diagnosis_harness.tools.access import ToolAccess
from diagnosis_harness.tools.arguments import normalise, refuse_unknown
from diagnosis_harness.tools.spec import ArgumentValue, KnowsEntities, Tool, ToolRequest


class RefusalCode(StrEnum):
    """Why a request did not become a tool call. No canonical record exists for any of these."""

    RUN_NOT_ACTIVE = "RUN_NOT_ACTIVE"
    UNSAFE_TOOL_CALL_ID = "UNSAFE_TOOL_CALL_ID"
    TOOL_CALL_ID_REUSED = "TOOL_CALL_ID_REUSED"
    UNKNOWN_TOOL = "UNKNOWN_TOOL"
    NOT_AUTHORISED = "NOT_AUTHORISED"
    NOT_READ_ONLY = "NOT_READ_ONLY"
    INVALID_REQUEST = "INVALID_REQUEST"
    UNKNOWN_ENTITY = "UNKNOWN_ENTITY"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that did not become a tool call, and why, in one clause without secrets."""

    code: RefusalCode
    message: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", mask_or_withhold(self.message))


@dataclass(frozen=True, slots=True)
class Admissible:
    """A request that may go to the gate: tool, typed arguments, normalised scope as canonical JSON."""

    tool: Tool
    arguments: Mapping[str, ArgumentValue]
    scope: str


def inspect(
    ctx: RunContext,
    request: ToolRequest,
    *,
    tools: Mapping[str, Tool],
    used_ids: Collection[str],
    access: ToolAccess,
) -> Admissible | Refusal:
    """Check identity, permission, read-only and arguments of one request; return the first objection."""
    call_id = request.tool_call_id
    if not is_safe_segment(call_id):
        return Refusal(RefusalCode.UNSAFE_TOOL_CALL_ID, "the tool call id is blank, too long or unsafe")
    if call_id in used_ids:
        return Refusal(RefusalCode.TOOL_CALL_ID_REUSED, f"tool call id {call_id} was used in this run")
    tool = tools.get(request.tool_name)
    if tool is None:
        return Refusal(RefusalCode.UNKNOWN_TOOL, f"there is no tool '{request.tool_name[:60]}'")
    if not access.permits(ctx, request.caller, tool.spec):
        return Refusal(RefusalCode.NOT_AUTHORISED, f"the caller may not use {tool.spec.name}")
    if not tool.spec.read_only:
        return Refusal(RefusalCode.NOT_READ_ONLY, f"{tool.spec.name} is not read-only")
    try:
        arguments = normalise(tool.spec, request.arguments)
        refuse_unknown(tool.spec, arguments, tool.entities(ctx) if isinstance(tool, KnowsEntities) else ())
        scope = scope_text(arguments)
    except ArgumentProblem as problem:
        unknown = isinstance(problem, UnknownEntity)
        code = RefusalCode.UNKNOWN_ENTITY if unknown else RefusalCode.INVALID_REQUEST
        return Refusal(code, str(problem))
    except (MaskingFailed, ValueError):
        return Refusal(RefusalCode.INVALID_REQUEST, "the arguments cannot be masked and written as JSON")
    return Admissible(tool=tool, arguments=arguments, scope=scope)


def scope_text(arguments: Mapping[str, ArgumentValue]) -> str:
    """Normalised arguments as canonical JSON text: sorted names, typed values, instants in UTC seconds.

    Secrets in it are masked, as in all that is kept; the tool itself gets the arguments as given.

    Raises:
        MaskingFailed: an argument could not be masked.
    """
    return canonical_json(mask_value(arguments)).decode()
