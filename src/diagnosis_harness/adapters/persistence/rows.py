"""Converts a run's row to columns and back. No field is derived from another."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

from diagnosis_harness.adapters.persistence.json_text import from_json_text, json_text, maybe_json_text
from diagnosis_harness.application.callers.caller import Caller, CallerRole
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.request import RunKind, RunRequest
from diagnosis_harness.application.runs.row import (
    CancelRequest,
    RunEnding,
    RunFailure,
    RunRow,
    RunSpent,
    RunStatus,
)
from diagnosis_harness.application.runs.sources import SourceStamp
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.harness.termination import CancellationReason, RunState, RunTermination
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome

Columns = dict[str, Any]
Member = TypeVar("Member", bound=StrEnum)

_SPENT = (
    "duration_s", "agent_steps", "tool_calls", "llm_calls", "input_tokens", "output_tokens", "total_tokens",
    "is_estimated",
)  # fmt: skip


def request_columns(request: RunRequest) -> Columns:
    """The request as columns."""
    return {
        "run_id": request.run_id,
        "session_id": request.session_id,
        "query": request.question,
        "language": request.language.value,
        "kind": request.kind.value,
        "asked_by": request.asked_by.name,
        "asked_role": request.asked_by.role.value,
        "source": request.source,
        "source_identity": None if request.stamp is None else request.stamp.identity,
        "source_digest": None if request.stamp is None else request.stamp.content,
        "onset_s": request.onset_s,
        "limit_s": request.limit_s,
        "submitted_s": request.submitted_s,
        "start_by_s": request.start_by_s,
        "fingerprint": request.fingerprint,
        "retry_of": request.retry_of,
    }


def ending_columns(ending: RunEnding) -> Columns:
    """The ending as columns, including the row's status."""
    termination, spent, failure = ending.termination, ending.spent, ending.failure
    return {
        "status": ending.status.value,
        "release_outcome": ending.outcome.value,
        "fallback_type": None if ending.fallback is None else ending.fallback.value,
        "stop_reason": None if ending.stop_reason is None else ending.stop_reason.value,
        "run_state": termination.state.value,
        "termination_reason": None if termination.reason is None else termination.reason.value,
        "termination_at_s": termination.at_s,
        "termination_detail": termination.detail,
        "safe_answer": maybe_json_text(ending.answer),
        "conclusion": ending.conclusion,
        "published_result": maybe_json_text(ending.published_result),
        "failure_code": None if failure is None else failure.code,
        "failure_message": None if failure is None else failure.message,
        **{name: getattr(spent, name) for name in _SPENT},
        "counters": json_text(spent.counters),
        "in_flight": json_text(spent.in_flight),
    }


def row_of(columns: Mapping[Any, Any]) -> RunRow:
    """The row.

    Raises:
        ValueError, TypeError, ContractViolation: this version of the program did not write these columns.
    """
    reason = columns["wish_reason"]
    return RunRow(
        request=request_of_row(columns),
        status=RunStatus(columns["status"]),
        started_s=columns["started_s"],
        owner=columns["owner"],
        intent=_maybe(IntentType, columns["intent"]),
        cancel_request=None
        if reason is None
        else CancelRequest(CancellationReason(reason), columns["wish_at_s"]),
        cancel_answer=from_json_text(columns["cancel_answer"]),
        ending=None if columns["release_outcome"] is None else _ending(columns),
        is_closed=bool(columns["is_closed"]),
    )


def request_of_row(columns: Mapping[Any, Any]) -> RunRequest:
    """The request.

    Raises:
        ValueError, TypeError, LookupError: `request_columns` did not write these columns.
    """
    identity = columns["source_identity"]
    return RunRequest(
        run_id=columns["run_id"],
        session_id=columns["session_id"],
        question=columns["query"],
        language=Language(columns["language"]),
        kind=RunKind(columns["kind"]),
        asked_by=Caller(columns["asked_by"], CallerRole(columns["asked_role"])),
        limit_s=columns["limit_s"],
        submitted_s=columns["submitted_s"],
        source=columns["source"],
        stamp=None if identity is None else SourceStamp(identity, columns["source_digest"]),
        onset_s=columns["onset_s"],
        start_by_s=columns["start_by_s"],
        fingerprint=columns["fingerprint"],
        retry_of=columns["retry_of"],
    )


def _ending(columns: Mapping[Any, Any]) -> RunEnding:
    code = columns["failure_code"]
    return RunEnding(
        outcome=ReleaseOutcome(columns["release_outcome"]),
        termination=RunTermination(
            RunState(columns["run_state"]),
            _maybe(CancellationReason, columns["termination_reason"]),
            columns["termination_at_s"],
            columns["termination_detail"],
        ),
        spent=RunSpent(
            counters=from_json_text(columns["counters"]),
            in_flight=from_json_text(columns["in_flight"]),
            **{name: columns[name] for name in _SPENT},
        ),
        fallback=_maybe(FallbackType, columns["fallback_type"]),
        stop_reason=_maybe(DiagnosisStopReason, columns["stop_reason"]),
        answer=from_json_text(columns["safe_answer"]),
        failure=None if code is None else RunFailure(code, columns["failure_message"]),
        conclusion=columns["conclusion"],
        published_result=from_json_text(columns["published_result"]),
    )


def _maybe(kind: type[Member], value: str | None) -> Member | None:
    return None if value is None else kind(value)
