"""What clients get, as the OpenAPI document tells it.

Bodies are made by `application.runs.json_form` and its like; a test holds these shapes to them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from diagnosis_harness.application.alerts.inbox import AlertEffect, AlertStatus
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.previous_turn import NoPreviousTurn
from diagnosis_harness.application.runs.desk import CancelEffect
from diagnosis_harness.application.runs.request import RunKind
from diagnosis_harness.application.runs.row import RunStatus
from diagnosis_harness.audit.why.answer import WhyQuestion
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.tools.evidence import EvidenceStatus, InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase
from diagnosis_harness.trace.timeline import PhaseVerdict

Instant = Annotated[str, Field(examples=["2024-01-01T14:05:00Z"])]
JsonObject = dict[str, Any]


class Out(BaseModel):
    """A body or a part of one. Every field is always there; what is not known is null."""

    model_config = ConfigDict(extra="forbid")


class TerminationOut(Out):
    """How and when the run itself ended."""

    reason: CancellationReason | None
    at: Instant
    detail: str


class FailureOut(Out):
    """Why there is no answer: a code for programs, a sentence for people."""

    code: str
    message: str


class SpentOut(Out):
    """What the run used."""

    duration_s: float
    agent_steps: int
    tool_calls: int
    llm_calls: int
    input_tokens: int
    output_tokens: int
    total_tokens: int
    is_estimated: bool


class CallOut(Out):
    """A call by name, and by id where it is a tool's."""

    name: str
    tool_call_id: str | None


class CancelAnswerOut(Out):
    """What the owner of the run said to a cancel: what was stopped, and what was still in flight."""

    changed: bool
    state: RunState
    reason: CancellationReason | None
    begun: int
    never_started: list[CallOut]
    in_flight: list[CallOut]
    notified: int


class WishOut(Out):
    """A cancel that was asked for."""

    reason: CancellationReason
    at: Instant
    answer: CancelAnswerOut | None


class RunOut(Out):
    """A run. Status, outcome, state and stop reason stand side by side; none follows from another."""

    run_id: str
    session_id: str
    question: str
    language: Language
    kind: RunKind
    asked_by: str
    source: str | None
    onset_at: Instant | None
    limit_s: float
    submitted_at: Instant
    started_at: Instant | None
    fingerprint: str | None
    retry_of: str | None
    status: RunStatus
    intent: IntentType | None
    cancel: WishOut | None
    is_closed: bool
    outcome: ReleaseOutcome | None
    state: RunState | None
    termination: TerminationOut | None
    fallback_type: FallbackType | None
    stop_reason: DiagnosisStopReason | None
    failure: FailureOut | None
    conclusion: str | None
    spent: SpentOut | None


class WholeRunOut(RunOut):
    """A run, and what it answered; the content is public with SUCCESS and FALLBACK alone."""

    content: JsonObject | None


class RunPageOut(Out):
    """Runs, the latest first."""

    runs: list[RunOut]
    next: Annotated[str | None, Field(description="To be given as `before` for the next page.")]


class CancelOut(Out):
    """What a cancel came to."""

    run: RunOut
    effect: CancelEffect
    answer: CancelAnswerOut | None


class EventOut(Out):
    """One event of a run's trace."""

    seq: int
    run_id: str
    at_s: float
    name: TraceName
    phase: TracePhase
    status: TraceEventStatus
    payload: JsonObject


class MomentOut(Out):
    """One thing that happened, in short."""

    at_s: float
    name: TraceName
    status: TraceEventStatus
    text: str


class StretchOut(Out):
    """Moments of one phase that follow each other."""

    phase: TracePhase
    moments: list[MomentOut]


class PhaseOut(Out):
    """All of one phase."""

    phase: TracePhase
    moments: int
    duration_s: float
    verdict: PhaseVerdict


class TimelineOut(Out):
    """What happened, in order, and what each phase came to."""

    started_s: float
    duration_s: float
    stretches: list[StretchOut]
    phases: list[PhaseOut]


class TraceOut(Out):
    """A run's trace as far as it is written."""

    run_id: str
    is_closed: bool
    timeline: TimelineOut
    events: list[EventOut]


class WindowOut(Out):
    """A window of time."""

    start: Instant
    end: Instant


class RecordOut(Out):
    """One tool call as it is kept, without what it found."""

    tool_call_id: str
    tool: str
    caller: str
    scope: Annotated[str, Field(description="The normalised request, as canonical JSON.")]
    window: WindowOut | None
    status: InvocationStatus
    evidence_status: EvidenceStatus | None
    error_code: ErrorCode | None
    started_at: Instant
    duration_s: float | None
    size_bytes: int
    digest: str | None
    items: int


class EvidenceOut(Out):
    """The records of a run, in the order in which they began."""

    run_id: str
    records: list[RecordOut]


class StoredRecordOut(RecordOut):
    """One record with what it found, exactly as stored; `digest` is over these bytes."""

    stored: str | None


class FactOut(Out):
    """A place in the run's document that an answer rests on."""

    place: str
    value: str


class WhyAnswerOut(Out):
    """The answer to one question."""

    question: WhyQuestion
    asks: str
    arises: bool
    says: list[str]
    rests_on: list[FactOut]


class WhyOut(Out):
    """The seven answers; while the run goes on they hold as of now, and `says` says so."""

    run_id: str
    status: RunStatus
    says: str
    answers: list[WhyAnswerOut]


class TurnOut(Out):
    """One run of a session."""

    run_id: str
    question: str
    intent: IntentType | None
    status: RunStatus
    outcome: ReleaseOutcome | None
    conclusion: str | None
    submitted_at: Instant


class NextTurnOut(Out):
    """What the next question of this caller in this session is shown: a published result, or why none."""

    asked_by: str
    run_id: str | None
    published_result: Any
    objection: NoPreviousTurn | None
    says: str


class SessionOut(Out):
    """A session's turns, the oldest first."""

    session_id: str
    turns: list[TurnOut]
    next: Annotated[str | None, Field(description="Given as `before`, brings the turns before these.")]
    next_turn: NextTurnOut


class AlertRunOut(Out):
    """One run, and what was done with it."""

    run_id: str
    did: AlertEffect


class AlertsOut(Out):
    """What is known of a notification when it has been taken."""

    notification_id: Annotated[
        str | None,
        Field(
            description="Under which it is kept, its request's id; where an earlier one of the group that "
            "says the same waits still, that one's. None where nothing is to do."
        ),
    ]
    status: AlertStatus
    fingerprint: Annotated[str, Field(description="Of the group, and of every run about it.")]
    is_waiting: Annotated[bool, Field(description="It is kept and not worked off yet.")]
    ahead: Annotated[int, Field(description="How many other notifications waited when it came.")]
    runs: Annotated[
        list[AlertRunOut], Field(description="What was done, each run once; empty while it waits.")
    ]
    ignored: Annotated[str | None, Field(description="Why nothing was done, where nothing was to do.")]


class HealthOut(Out):
    """The process lives."""

    status: Literal["ok"]


class ReadyOut(Out):
    """What the service needs, and how it stands."""

    status: Literal["ready", "not ready"]
    checks: dict[str, str]


class FieldProblemOut(Out):
    """What is wrong with one field."""

    field: str
    problem: str
    remedy: str


class ProblemOut(BaseModel):
    """A problem (RFC 9457)."""

    model_config = ConfigDict(extra="forbid")

    type: str
    title: str
    status: int
    instance: str
    detail: str = ""
    errors: list[FieldProblemOut] = Field(default_factory=list)
    limit: int = 0
