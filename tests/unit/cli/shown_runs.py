"""Rows of runs as the API gives them, for tests of what the terminal makes of them."""

from __future__ import annotations

from diagnosis_harness.application.callers.caller import LOCAL
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.request import RunKind, RunRequest
from diagnosis_harness.application.runs.row import RunEnding, RunFailure, RunRow, RunSpent, RunStatus
from diagnosis_harness.harness.termination import CancellationReason, RunState, RunTermination
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.server.run_view import WholeRunView

NOW_S = 1_704_117_600.0  # 2024-01-01T14:00:00Z


def request(run_id: str = "run-1", *, question: str = "why?", age_s: float = 90.0) -> RunRequest:
    """A question asked `age_s` ago."""
    return RunRequest(
        run_id=run_id,
        session_id="ses-1",
        question=question,
        language=Language.EN,
        kind=RunKind.BACKGROUND,
        asked_by=LOCAL,
        limit_s=60.0,
        submitted_s=NOW_S - age_s,
    )


def fallback_row(asked: RunRequest | None = None) -> RunRow:
    """A run that ended with a fallback although its time was up: all its facts differ."""
    asked = asked or request()
    return RunRow(
        request=asked,
        status=RunStatus.SUCCESS,
        started_s=asked.submitted_s + 1.0,
        owner="me",
        intent=IntentType.DIAGNOSIS,
        ending=RunEnding(
            outcome=ReleaseOutcome.FALLBACK,
            termination=RunTermination(
                RunState.TIMED_OUT,
                CancellationReason.DEADLINE_EXCEEDED,
                asked.submitted_s + 61.0,
                "time is up",
            ),
            spent=RunSpent(duration_s=60.0, agent_steps=5, tool_calls=12, total_tokens=34_567),
            fallback=FallbackType.INSUFFICIENT_EVIDENCE,
            answer={"kind": "DIAGNOSIS"},
        ),
        is_closed=True,
    )


def make_failed_row(asked: RunRequest | None = None) -> RunRow:
    """A run without an answer."""
    asked = asked or request()
    return RunRow(
        request=asked,
        status=RunStatus.FAILED,
        started_s=asked.submitted_s,
        ending=RunEnding(
            outcome=ReleaseOutcome.FAILED,
            termination=RunTermination(
                RunState.FAILED, CancellationReason.INTERNAL_FAILURE, asked.submitted_s + 2.0, ""
            ),
            spent=RunSpent(duration_s=2.0),
            failure=RunFailure("INTERNAL_FAILURE", "It broke \x1b[2J."),
        ),
        is_closed=True,
    )


def running_row(asked: RunRequest | None = None) -> RunRow:
    """A run in progress."""
    asked = asked or request()
    return RunRow(request=asked, status=RunStatus.RUNNING, started_s=asked.submitted_s + 30.0)


def make_queued_row(asked: RunRequest | None = None) -> RunRow:
    """A queued run."""
    return RunRow(request=asked or request(), status=RunStatus.QUEUED)


def row() -> JsonValue:
    """One row as JSON."""
    return WholeRunView.of(fallback_row()).body()
