"""A stored run: the row `diagnosis_run` (seed: harness-lifecycle-and-states §12).

Status, release outcome and run state have columns of their own. None is derived from another, except by
`status_of`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.harness.termination import CancellationReason, RunState, RunTermination
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome


class RunStatus(StrEnum):
    """The row's general status. QUEUED is ours: accepted, and not a run yet, so it has no run state."""

    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    SUCCESS = "SUCCESS"  # processed, with safe content, but not necessarily a conclusion
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"

    @property
    def is_final(self) -> bool:
        """Whether the run can no longer change."""
        return self not in (RunStatus.QUEUED, RunStatus.RUNNING)


def status_of(outcome: ReleaseOutcome) -> RunStatus:
    """The row's status for a released outcome (§12.2)."""
    return {
        ReleaseOutcome.SUCCESS: RunStatus.SUCCESS,
        ReleaseOutcome.FALLBACK: RunStatus.SUCCESS,
        ReleaseOutcome.FAILED: RunStatus.FAILED,
        ReleaseOutcome.CANCELLED: RunStatus.CANCELLED,
    }[outcome]


RUN_CANCELLED = "RUN_CANCELLED"
"""Failure code of a cancelled run."""

SERVICE_STOPPED = "the service stopped"
"""Termination detail of a run that its process ended when it stopped."""


@dataclass(frozen=True, slots=True)
class RunFailure:
    """Why there is no answer: a code for programs and a sentence for people, in the run's language."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpent:
    """What the run used.

    Attributes:
        duration_s: from its start to its termination.
        agent_steps: answers that were requested from the policy.
        tool_calls: backend invocations.
        counters: the budget account as the run document lists it (`report.counters`), as JSON.
        is_estimated: whether a part of the tokens is an estimate.
        in_flight: the calls still in flight at the end, as in the run document, as JSON.
    """

    duration_s: float
    agent_steps: int = 0
    tool_calls: int = 0
    llm_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    counters: JsonValue = None
    is_estimated: bool = False
    in_flight: JsonValue = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnding:
    """How a run ended and what was published; written once, in one step.

    Attributes:
        termination: the run's own end; independent of the outcome.
        answer: safe content as JSON with its `kind`; public as `content` only with SUCCESS and FALLBACK.
        failure: exists exactly with FAILED and CANCELLED.
        conclusion: the released conclusion as text; only if safe content contains one.
        published_result: what the next turn may see (`PublishedResultPolicy`).
    """

    outcome: ReleaseOutcome
    termination: RunTermination
    spent: RunSpent
    fallback: FallbackType | None = None
    stop_reason: DiagnosisStopReason | None = None
    answer: JsonValue = None
    failure: RunFailure | None = None
    conclusion: str | None = None
    published_result: JsonValue = None

    def __post_init__(self) -> None:
        if (self.outcome is ReleaseOutcome.FALLBACK) != (self.fallback is not None):
            raise ContractViolation("a fallback, and only a fallback, has a type")
        released = self.outcome in (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)
        if released == (self.failure is not None):
            raise ContractViolation("a run has a failure exactly when nothing was released")
        if released and self.answer is None:
            raise ContractViolation("a released outcome has content")

    @property
    def status(self) -> RunStatus:
        """The row's status after this end."""
        return status_of(self.outcome)

    @property
    def state(self) -> RunState:
        """The state of the in-memory run."""
        return self.termination.state


@dataclass(frozen=True, slots=True)
class CancelRequest:
    """A request to cancel a run; the process that owns the run carries it out."""

    reason: CancellationReason
    at_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """The row.

    Attributes:
        started_s: when its run began; None while it is queued.
        owner: the process incarnation that runs it. A run is claimed once in its life, so this is the fencing
            token of all its writes: a process that lost the run can no longer write for it.
        intent: None until it was routed.
        cancel_request: the first request to cancel the run.
        cancel_answer: the owner's answer to it, as JSON.
        ending: None until it ended.
        is_closed: whether its log ends with RUN_FINISHED; nothing follows.
    """

    request: RunRequest
    status: RunStatus
    started_s: float | None = None
    owner: str | None = None
    intent: IntentType | None = None
    cancel_request: CancelRequest | None = None
    cancel_answer: JsonValue = None
    ending: RunEnding | None = None
    is_closed: bool = False

    @property
    def run_id(self) -> str:
        """The run."""
        return self.request.run_id
