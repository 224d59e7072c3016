"""What a gate returns: a lease for one call, or the limit that it exceeds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.harness.numbers import COUNT_MAX, is_count, short_repr
from diagnosis_harness.kernel.errors import ContractViolation


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens that a provider reports for one call. `total_tokens` is theirs when they give one, else the sum.

    Raises:
        ContractViolation: a count is negative, not a whole number, or 2**63 and more.
    """

    input_tokens: int
    output_tokens: int
    total_tokens: int = -1

    def __post_init__(self) -> None:
        if self.total_tokens == -1:
            object.__setattr__(self, "total_tokens", self.input_tokens + self.output_tokens)
        for name in ("input_tokens", "output_tokens", "total_tokens"):
            _require_count(name, getattr(self, name))


@dataclass(frozen=True, slots=True)
class OpenCall:
    """Which call: a tool by its name and the framework's own call id, or `llm`, which has none."""

    name: str
    tool_call_id: str = ""


class LeasePhase(StrEnum):
    """The progress of a leased call."""

    RESERVED = "RESERVED"  # charged, not begun; may still be given back
    BEGUN = "BEGUN"  # the backend may have been reached, so the charge is kept
    CLOSED = "CLOSED"  # settled or given back


LLM_CALL = OpenCall("llm")


class LlmLease:
    """The right to one llm call, with its reserved tokens.

    Attributes:
        is_metered: an attempt of a role whose call a request has taken over: that request charges the tokens.
    """

    __slots__ = ("is_metered", "phase", "reserved")

    def __init__(self, reserved: TokenUsage) -> None:
        self.reserved = reserved
        self.is_metered = False
        self.phase = LeasePhase.BEGUN


class ToolLease:
    """The right to one invocation of a tool. Only the budget moves `phase`, under the run's lock."""

    __slots__ = ("call", "phase")

    def __init__(self, call: OpenCall) -> None:
        self.call = call
        self.phase = LeasePhase.RESERVED

    @property
    def tool_name(self) -> str:
        """Which tool."""
        return self.call.name

    @property
    def tool_call_id(self) -> str:
        """Which call of it."""
        return self.call.tool_call_id


@dataclass(frozen=True, slots=True)
class OverLimit:
    """A limit that a call would exceed. `asked` is what usage would have become; nothing was charged."""

    counter: str
    asked: int
    limit: int

    def __str__(self) -> str:
        return f"{self.counter}: {self.asked} of {self.limit}"


@dataclass(frozen=True, slots=True)
class OpenCalls:
    """The open calls of a run at one point in time.

    Attributes:
        begun: how many llm and tool calls were ever started.
        in_flight: calls that have started and not finished, llm calls first, then tools in order.
        waiting: tool calls that are charged but have not started, in order.
    """

    begun: int
    in_flight: tuple[OpenCall, ...]
    waiting: tuple[OpenCall, ...]


def _require_count(name: str, value: object) -> None:
    if type(value) is int and 0 <= value <= COUNT_MAX:
        return  # called six times in every step, so the common case is one line
    if not is_count(value, least=0):
        raise ContractViolation(f"{name} is a whole number of at least 0, not {short_repr(value)}")
