"""A run as the HTTP API returns it and the command line reads it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.cancellation import CancelEffect, CancelReport
from diagnosis_harness.application.runs.request import RunKind
from diagnosis_harness.application.runs.row import RunEnding, RunRow, RunStatus
from diagnosis_harness.application.runs.store import RunPage
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import parse_utc, utc_text
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.server.view import DescribedAs, JsonObject, Timestamp, View, timestamp_or_none

_PUBLIC = (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)


class CallView(View):
    """A call by name, and by id if it is a tool's."""

    name: str
    tool_call_id: str | None


class CancelAnswerView(View):
    """How the owner of the run answered a cancel: what was stopped, and what was still in flight."""

    changed: bool
    state: RunState
    reason: CancellationReason | None
    begun: int
    never_started: list[CallView]
    in_flight: list[CallView]
    notified: int


CancelAnswerField = Annotated[Any, DescribedAs(CancelAnswerView | None)]


class CancelRequestView(View):
    """A request to cancel."""

    reason: Annotated[str, DescribedAs(CancellationReason)]
    at: Timestamp
    answer: CancelAnswerField


class TerminationView(View):
    """How and when the run itself ended."""

    reason: Annotated[str | None, DescribedAs(CancellationReason | None)]
    at: Timestamp
    detail: str


class FailureView(View):
    """Why there is no answer: a code for programs, a sentence for people."""

    code: str
    message: str


class SpentView(View):
    """What the run used."""

    duration_s: float
    agent_steps: int
    tool_calls: int
    llm_calls: int
    input_tokens: int
    output_tokens: int
    total_tokens: int
    is_estimated: bool


class RunView(View):
    """A run. Status, outcome, state and stop reason are independent of one another."""

    run_id: str
    session_id: str
    question: str
    language: Language
    kind: Annotated[str, DescribedAs(RunKind)]
    asked_by: str
    source: str | None
    onset_at: Timestamp | None
    limit_s: float
    submitted_at: Timestamp
    started_at: Timestamp | None
    fingerprint: str | None
    retry_of: str | None
    status: Annotated[str, DescribedAs(RunStatus)]
    intent: Annotated[str | None, DescribedAs(IntentType | None)]
    cancel: CancelRequestView | None
    is_closed: bool
    outcome: Annotated[str | None, DescribedAs(ReleaseOutcome | None)]
    state: Annotated[str | None, DescribedAs(RunState | None)]
    termination: TerminationView | None
    fallback_type: Annotated[str | None, DescribedAs(FallbackType | None)]
    stop_reason: Annotated[str | None, DescribedAs(DiagnosisStopReason | None)]
    failure: FailureView | None
    conclusion: str | None
    spent: SpentView | None

    @classmethod
    def of(cls, row: RunRow) -> RunView:
        """The view of a row. The answer is in the run's document."""
        request = row.request
        return RunView(
            run_id=request.run_id,
            session_id=request.session_id,
            question=request.question,
            language=request.language,
            kind=request.kind,
            asked_by=request.asked_by.name,
            source=request.source,
            onset_at=timestamp_or_none(request.onset_s),
            limit_s=request.limit_s,
            submitted_at=utc_text(request.submitted_s),
            started_at=timestamp_or_none(row.started_s),
            fingerprint=request.fingerprint,
            retry_of=request.retry_of,
            status=row.status,
            intent=row.intent,
            cancel=_cancel(row),
            is_closed=row.is_closed,
            **_ending(row.ending),
        )

    @property
    def submitted_s(self) -> float:
        """When the run was submitted, in seconds."""
        return parse_utc(self.submitted_at)

    @property
    def started_s(self) -> float | None:
        """When the run started, in seconds; None while it is queued."""
        return None if self.started_at is None else parse_utc(self.started_at)

    @property
    def is_in_progress(self) -> bool:
        """Whether the run has not ended, or its last events are not written yet."""
        return self.status in (RunStatus.QUEUED, RunStatus.RUNNING) or not self.is_closed


class WholeRunView(RunView):
    """A run and its answer, which is public only with SUCCESS and FALLBACK."""

    content: JsonObject | None

    @classmethod
    def of(cls, row: RunRow) -> WholeRunView:
        """The view of a row, with its answer if that is public."""
        ending = row.ending
        content = ending.answer if ending is not None and ending.outcome in _PUBLIC else None
        return cls(**dict(RunView.of(row)), content=content)

    @property
    def text(self) -> str | None:
        """The answer of a path that writes text instead of a report."""
        text = (self.content or {}).get("text")
        return text if isinstance(text, str) else None


class RunPageView(View):
    """Runs, the latest first."""

    runs: list[RunView]
    next: Annotated[str | None, Field(description="Pass it as `before` to get the next page.")]

    @classmethod
    def of(cls, page: RunPage) -> RunPageView:
        """A page of rows."""
        return cls(runs=[RunView.of(row) for row in page.rows], next=page.next)


class CancelView(View):
    """The result of a cancel."""

    run: RunView
    effect: Annotated[str, DescribedAs(CancelEffect)]
    answer: CancelAnswerField

    @classmethod
    def of(cls, report: CancelReport) -> CancelView:
        """The run's present state, the effect, and the owner's answer."""
        return cls(run=RunView.of(report.row), effect=report.effect, answer=report.answer)


def _cancel(row: RunRow) -> CancelRequestView | None:
    if row.cancel_request is None:
        return None
    return CancelRequestView(
        reason=row.cancel_request.reason, at=utc_text(row.cancel_request.at_s), answer=row.cancel_answer
    )


def _ending(ending: RunEnding | None) -> dict[str, Any]:
    names = (
        "outcome", "state", "termination", "fallback_type", "stop_reason", "failure", "conclusion", "spent",
    )  # fmt: skip
    if ending is None:
        return dict.fromkeys(names)
    termination, spent = ending.termination, ending.spent
    return {
        "outcome": ending.outcome,
        "state": ending.state,
        "termination": TerminationView(
            reason=termination.reason, at=utc_text(termination.at_s), detail=termination.detail
        ),
        "fallback_type": ending.fallback,
        "stop_reason": ending.stop_reason,
        "failure": ending.failure and FailureView(code=ending.failure.code, message=ending.failure.message),
        "conclusion": ending.conclusion,
        "spent": SpentView(**{name: getattr(spent, name) for name in SpentView.model_fields}),
    }
