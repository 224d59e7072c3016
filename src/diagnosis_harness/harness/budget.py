"""What one run may spend, has spent and has reserved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from threading import RLock
from types import MappingProxyType
from typing import TypeVar

from diagnosis_harness.harness.capacity import RunCapacity
from diagnosis_harness.harness.handle import RunHandle
from diagnosis_harness.harness.lease import (
    LLM_CALL,
    LeasePhase,
    LlmLease,
    OpenCall,
    OpenCalls,
    OverLimit,
    TokenUsage,
    ToolLease,
)
from diagnosis_harness.harness.numbers import is_count, short_repr
from diagnosis_harness.kernel.errors import ContractViolation, InvalidLimits

__all__ = ["BudgetUsage", "RunBudget", "RunBudgetLimits", "TokenUsage", "ToolLease"]

_Lease = TypeVar("_Lease", LlmLease, ToolLease)

NO_TOKENS = TokenUsage(0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunBudgetLimits:
    """What one run may spend. The caller gives every number; the core has no defaults.

    Attributes:
        llm_calls: attempts of roles, and requests to a language model beyond the first of an attempt.
        tool_calls: backend invocations of all tools together.
        tool_calls_per_tool: backend invocations of any one tool.
        input_tokens: tokens sent to language models.
        output_tokens: tokens received from them.
        total_tokens: both together.
        run_bytes: bytes of evidence that are stored.
        tool_calls_of: limits of single tools by name, which replace `tool_calls_per_tool`.

    Raises:
        InvalidLimits: a limit is not a positive whole number.
    """

    llm_calls: int
    tool_calls: int
    tool_calls_per_tool: int
    input_tokens: int
    output_tokens: int
    total_tokens: int
    run_bytes: int
    tool_calls_of: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for limit in fields(self):
            if limit.name != "tool_calls_of":
                _require_positive(limit.name, getattr(self, limit.name))
        for tool_name, limit_calls in self.tool_calls_of.items():
            _require_positive(f"tool_calls_of[{tool_name!r}]", limit_calls)
        object.__setattr__(self, "tool_calls_of", MappingProxyType(dict(self.tool_calls_of)))

    def tool_limit(self, tool_name: str) -> int:
        """How often one tool may be invoked."""
        return self.tool_calls_of.get(tool_name, self.tool_calls_per_tool)


@dataclass(frozen=True, slots=True)
class BudgetUsage:
    """A snapshot: all numbers belong to the same point in time.

    Attributes:
        llm_calls: attempts of roles and requests to language models, where the first request of an attempt
            counts with it.
        tool_calls: invocations charged; the sum of `tool_calls_by_tool`.
        tool_calls_by_tool: the same, by tool name.
        input_tokens, output_tokens, total_tokens: charged for settled calls; open reservations are not in it.
        run_bytes: bytes reserved.
        estimated_llm_calls: settled calls whose usage was not reported; they were charged their reservation.
    """

    llm_calls: int
    tool_calls: int
    tool_calls_by_tool: Mapping[str, int]
    input_tokens: int
    output_tokens: int
    total_tokens: int
    run_bytes: int
    estimated_llm_calls: int

    @property
    def is_estimated(self) -> bool:
        """Whether the token counts hold an estimate."""
        return self.estimated_llm_calls > 0


class RunBudget(RunHandle):
    """Counts what the gates grant, under the run's lock. It never ends a run: the core does.

    Every method is all or nothing, and safe from any thread.
    """

    __slots__ = (
        "_begun",
        "_by_tool",
        "_estimated_llm_calls",
        "_held_input",
        "_held_output",
        "_held_total",
        "_input_tokens",
        "_llm_calls",
        "_llm_leases",
        "_lock",
        "_open_attempts",
        "_output_tokens",
        "_tool_calls",
        "_tool_leases",
        "_total_tokens",
        "capacity",
        "limits",
    )

    def __init__(self, lock: RLock, limits: RunBudgetLimits) -> None:
        self._lock = lock
        self.limits = limits
        self.capacity = RunCapacity(lock, limits.run_bytes)
        self._llm_calls = 0
        self._tool_calls = 0
        self._by_tool: dict[str, int] = {}
        self._input_tokens = self._output_tokens = self._total_tokens = 0
        self._held_input = self._held_output = self._held_total = 0
        self._estimated_llm_calls = 0
        self._begun = 0
        self._llm_leases: dict[LlmLease, None] = {}
        self._tool_leases: dict[ToolLease, None] = {}
        # Attempts of roles that no request has taken over yet.
        self._open_attempts: dict[LlmLease, None] = {}

    def usage(self) -> BudgetUsage:
        """What has been charged so far."""
        with self._lock:
            return BudgetUsage(
                llm_calls=self._llm_calls,
                tool_calls=self._tool_calls,
                tool_calls_by_tool=MappingProxyType(dict(self._by_tool)),
                input_tokens=self._input_tokens,
                output_tokens=self._output_tokens,
                total_tokens=self._total_tokens,
                run_bytes=self.capacity.used_bytes,
                estimated_llm_calls=self._estimated_llm_calls,
            )

    def open_calls(self) -> OpenCalls:
        """How many calls have started, and which are in flight or waiting."""
        with self._lock:
            tools = tuple(self._tool_leases)
            return OpenCalls(
                begun=self._begun,
                in_flight=(LLM_CALL,) * sum(not lease.is_metered for lease in self._llm_leases)
                + _open(tools, LeasePhase.BEGUN),
                waiting=_open(tools, LeasePhase.RESERVED),
            )

    def lease_role_attempt(self) -> LlmLease | OverLimit:
        """Charge one llm call for an attempt of a role; or, changing nothing, return the limit it exceeds."""
        with self._lock:
            over = self._over_with(NO_TOKENS, calls=1)
            if over is not None:
                return over
            attempt = self._grant(LlmLease(NO_TOKENS), calls=1)
            self._open_attempts[attempt] = None
            return attempt

    def lease_llm_call(self, reserved: TokenUsage) -> LlmLease | OverLimit:
        """Charge one request and hold its tokens; or, changing nothing, return the limit it exceeds.

        The first request during an attempt of a role takes over the call that the attempt was charged.
        """
        with self._lock:
            attempt = next(iter(self._open_attempts), None)
            calls = 1 if attempt is None else 0
            over = self._over_with(reserved, calls=calls)
            if over is not None:
                return over
            if attempt is not None:
                attempt.is_metered = True
                del self._open_attempts[attempt]
            return self._grant(LlmLease(reserved), calls=calls)

    def settle_llm_call(self, lease: LlmLease, usage: TokenUsage | None) -> OverLimit | None:
        """Charge what a call used; None (it was not reported) charges its reservation, at least 1 token.

        Returns:
            The first token limit that usage now exceeds; None when it is within all of them. Settling a lease
            again changes nothing and returns None.
        """
        with self._lock:
            if lease.phase is LeasePhase.CLOSED:
                return None
            _take_out(self._llm_leases, lease)
            self._open_attempts.pop(lease, None)
            lease.phase = LeasePhase.CLOSED
            self._hold(lease.reserved, -1)
            if lease.is_metered:
                return None  # its requests have already charged their tokens
            charged = usage if usage is not None else _at_least_one(lease.reserved)
            self._input_tokens += charged.input_tokens
            self._output_tokens += charged.output_tokens
            self._total_tokens += charged.total_tokens
            self._estimated_llm_calls += usage is None
            return _first_over(self.limits, self._input_tokens, self._output_tokens, self._total_tokens)

    def lease_tool_call(self, call: OpenCall) -> ToolLease | OverLimit:
        """Charge one invocation, or, changing nothing, return the limit that it exceeds."""
        tool_name = call.name
        with self._lock:
            of_tool = self._by_tool.get(tool_name, 0)
            if self._tool_calls >= self.limits.tool_calls:
                return OverLimit("tool_calls", self._tool_calls + 1, self.limits.tool_calls)
            if of_tool >= self.limits.tool_limit(tool_name):
                return OverLimit(f"tool_calls of {tool_name}", of_tool + 1, self.limits.tool_limit(tool_name))
            lease = ToolLease(call)
            self._tool_calls += 1
            self._by_tool[tool_name] = of_tool + 1
            self._tool_leases[lease] = None
            return lease

    def begin_tool_call(self, lease: ToolLease) -> ToolLease:
        """Mark the lease begun, before the backend is called: from here on the charge is final.

        Raises:
            ContractViolation: the lease is not of this run, or has begun or ended before.
        """
        with self._lock:
            if lease.phase is not LeasePhase.RESERVED or lease not in self._tool_leases:
                raise ContractViolation(
                    f"a tool call begins once, from its reservation; this is {lease.phase}"
                )
            lease.phase = LeasePhase.BEGUN
            self._begun += 1
            return lease

    def return_tool_call(self, lease: ToolLease) -> bool:
        """Give back the reservation and the charge of a call that never started.

        Returns:
            Whether it was given back; if the call has started or the lease is closed, False, and nothing
            changes.
        """
        with self._lock:
            if lease.phase is not LeasePhase.RESERVED:
                return False
            _take_out(self._tool_leases, lease)
            lease.phase = LeasePhase.CLOSED
            self._tool_calls -= 1
            of_tool = self._by_tool[lease.tool_name] - 1
            if of_tool:
                self._by_tool[lease.tool_name] = of_tool
            else:
                del self._by_tool[lease.tool_name]
            return True

    def settle_tool_call(self, lease: ToolLease) -> bool:
        """Close the lease of a finished invocation; the charge stays.

        Returns:
            Whether this call settled it; False if it was already closed.
        """
        with self._lock:
            if lease.phase is LeasePhase.CLOSED:
                return False
            if lease.phase is LeasePhase.RESERVED:
                raise ContractViolation("a tool call that never began is given back, not settled")
            _take_out(self._tool_leases, lease)
            lease.phase = LeasePhase.CLOSED
            return True

    def _grant(self, lease: LlmLease, *, calls: int) -> LlmLease:
        self._llm_calls += calls
        self._begun += calls
        self._hold(lease.reserved, 1)
        self._llm_leases[lease] = None
        return lease

    def _over_with(self, reserved: TokenUsage, *, calls: int) -> OverLimit | None:
        if self._llm_calls + calls > self.limits.llm_calls:
            return OverLimit("llm_calls", self._llm_calls + calls, self.limits.llm_calls)
        return _first_over(
            self.limits,
            self._input_tokens + self._held_input + reserved.input_tokens,
            self._output_tokens + self._held_output + reserved.output_tokens,
            self._total_tokens + self._held_total + reserved.total_tokens,
        )

    def _hold(self, reserved: TokenUsage, sign: int) -> None:
        self._held_input += sign * reserved.input_tokens
        self._held_output += sign * reserved.output_tokens
        self._held_total += sign * reserved.total_tokens


def _take_out(leases: dict[_Lease, None], lease: _Lease) -> None:
    if lease not in leases:
        raise ContractViolation("the lease belongs to another run")
    del leases[lease]


def _first_over(
    limits: RunBudgetLimits, input_tokens: int, output_tokens: int, total_tokens: int
) -> OverLimit | None:
    """The first limit that usage exceeds; reaching a limit is allowed."""
    if input_tokens > limits.input_tokens:
        return OverLimit("input_tokens", input_tokens, limits.input_tokens)
    if output_tokens > limits.output_tokens:
        return OverLimit("output_tokens", output_tokens, limits.output_tokens)
    if total_tokens > limits.total_tokens:
        return OverLimit("total_tokens", total_tokens, limits.total_tokens)
    return None


def _open(leases: tuple[ToolLease, ...], phase: LeasePhase) -> tuple[OpenCall, ...]:
    return tuple(lease.call for lease in leases if lease.phase is phase)


def _at_least_one(reserved: TokenUsage) -> TokenUsage:
    """Unknown usage is never zero."""
    return reserved if reserved.total_tokens > 0 else TokenUsage(1, 0)


def _require_positive(name: str, value: object) -> None:
    if not is_count(value, least=1):
        raise InvalidLimits(f"{name} is a positive whole number below 2**63, not {short_repr(value)}")
