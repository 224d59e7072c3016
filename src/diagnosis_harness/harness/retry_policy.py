"""Retry policies as data: who may retry, how often and after which failures; checked when built."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.harness.numbers import is_finite_number, short_repr
from diagnosis_harness.kernel.errors import FailureKind, InvalidRetryPolicy

RETRYABLE = frozenset(
    {FailureKind.TRANSPORT, FailureKind.TIMEOUT, FailureKind.RATE_LIMITED, FailureKind.UNAVAILABLE}
)
"""The technical failures that a policy may list. No other kind is ever retried, whatever raised it."""


class RetryRole(StrEnum):
    """Who makes the attempts."""

    ROUTER = "ROUTER"
    SEMANTIC_GUARD = "SEMANTIC_GUARD"
    DIAGNOSIS_AGENT = "DIAGNOSIS_AGENT"
    TOOL = "TOOL"
    EVIDENCE_REPAIR = "EVIDENCE_REPAIR"
    SYSTEM_RESPONDER = "SYSTEM_RESPONDER"
    ANSWER_WRITER = "ANSWER_WRITER"


ATTEMPTS_MAX = {
    RetryRole.ROUTER: 2,
    RetryRole.SEMANTIC_GUARD: 2,
    RetryRole.DIAGNOSIS_AGENT: 1,
    RetryRole.TOOL: 1,
    RetryRole.EVIDENCE_REPAIR: 1,
    RetryRole.SYSTEM_RESPONDER: 1,
    RetryRole.ANSWER_WRITER: 1,
}
"""The most attempts that a policy for a role may allow (run-context specification, "Harness retry")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often one thing may be tried.

    Attributes:
        attempts_max: attempts, not retries; 1 means that a failure is final.
        retry_on: the failures after which another attempt may be made.
        delay_s: pause before another attempt; it counts towards the run's deadline and ends at a cancel.
        attempt_timeout_s: limit of a single attempt; None leaves it the time the run has left.

    Raises:
        InvalidRetryPolicy: a kind that must never be retried is listed, or a number makes no sense.
    """

    attempts_max: int
    retry_on: frozenset[FailureKind] = frozenset()
    delay_s: float = 0.0
    attempt_timeout_s: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "retry_on", frozenset(self.retry_on))
        forbidden = self.retry_on - RETRYABLE
        if forbidden:
            raise InvalidRetryPolicy(f"never retried: {', '.join(sorted(forbidden))}")
        if type(self.attempts_max) is not int or self.attempts_max not in (1, 2):
            raise InvalidRetryPolicy(f"attempts_max is 1 or 2, not {self.attempts_max!r}")
        if not (is_finite_number(self.delay_s) and self.delay_s >= 0):
            raise InvalidRetryPolicy(f"delay_s is zero or more, not {short_repr(self.delay_s)}")
        timeout_s = self.attempt_timeout_s
        if timeout_s is not None and not (is_finite_number(timeout_s) and timeout_s > 0):
            raise InvalidRetryPolicy(f"attempt_timeout_s is positive, not {short_repr(timeout_s)}")


SINGLE_ATTEMPT = RetryPolicy(attempts_max=1)
TWO_ATTEMPTS = RetryPolicy(attempts_max=2, retry_on=RETRYABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class HarnessRetryPolicies:
    """The policies of one run, one for each role.

    Raises:
        InvalidRetryPolicy: a role is given more attempts than `ATTEMPTS_MAX` allows it.
    """

    router: RetryPolicy = TWO_ATTEMPTS
    semantic_guard: RetryPolicy = TWO_ATTEMPTS
    diagnosis_agent: RetryPolicy = SINGLE_ATTEMPT
    tool: RetryPolicy = SINGLE_ATTEMPT
    evidence_repair: RetryPolicy = SINGLE_ATTEMPT
    system_responder: RetryPolicy = SINGLE_ATTEMPT
    answer_writer: RetryPolicy = SINGLE_ATTEMPT

    def __post_init__(self) -> None:
        for role in RetryRole:
            asked = self.for_role(role).attempts_max
            if asked > ATTEMPTS_MAX[role]:
                raise InvalidRetryPolicy(f"{role} has at most {ATTEMPTS_MAX[role]} attempts, not {asked}")

    def for_role(self, role: RetryRole) -> RetryPolicy:
        """The policy of one role."""
        match role:
            case RetryRole.ROUTER:
                return self.router
            case RetryRole.SEMANTIC_GUARD:
                return self.semantic_guard
            case RetryRole.DIAGNOSIS_AGENT:
                return self.diagnosis_agent
            case RetryRole.TOOL:
                return self.tool
            case RetryRole.EVIDENCE_REPAIR:
                return self.evidence_repair
            case RetryRole.SYSTEM_RESPONDER:
                return self.system_responder
            case RetryRole.ANSWER_WRITER:
                return self.answer_writer
