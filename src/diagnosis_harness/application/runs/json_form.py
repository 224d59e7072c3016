"""A run's row, and a page of rows, as JSON: the form that the HTTP API gives and the command line reads."""

from __future__ import annotations

from dataclasses import asdict

from diagnosis_harness.application.runs.desk import CancelReport
from diagnosis_harness.application.runs.row import RunEnding, RunRow
from diagnosis_harness.application.runs.store import RunPage
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import utc_text


def row_json(row: RunRow) -> dict[str, JsonValue]:
    """The facts of a run side by side; none is derived from another. What is not known yet is null.

    The answer itself is not among them: it is in the run's document.
    """
    request, ending = row.request, row.ending
    return {
        "run_id": request.run_id,
        "session_id": request.session_id,
        "question": request.question,
        "language": request.language.value,
        "kind": request.kind.value,
        "asked_by": request.asked_by.name,
        "source": request.source,
        "onset_at": _at(request.onset_s),
        "limit_s": request.limit_s,
        "submitted_at": utc_text(request.submitted_s),
        "started_at": _at(row.started_s),
        "fingerprint": request.fingerprint,
        "retry_of": request.retry_of,
        "status": row.status.value,
        "intent": None if row.intent is None else row.intent.value,
        "cancel": _cancel(row),
        "is_closed": row.is_closed,
        **_ending(ending),
    }


def page_json(page: RunPage) -> dict[str, JsonValue]:
    """Runs, the latest first, and the mark of the next page or null."""
    return {"runs": [row_json(row) for row in page.rows], "next": page.next}


def cancel_json(report: CancelReport) -> dict[str, JsonValue]:
    """What a cancel came to: the run as it stands, the effect, and what its owner said or null."""
    return {"run": row_json(report.row), "effect": report.effect.value, "answer": report.answer}


def _ending(ending: RunEnding | None) -> dict[str, JsonValue]:
    if ending is None:
        return dict.fromkeys(_OF_ENDING)
    termination, spent = ending.termination, ending.spent
    return {
        "outcome": ending.outcome.value,
        "state": ending.state.value,
        "termination": {
            "reason": None if termination.reason is None else termination.reason.value,
            "at": utc_text(termination.at_s),
            "detail": termination.detail,
        },
        "fallback_type": None if ending.fallback is None else ending.fallback.value,
        "stop_reason": None if ending.stop_reason is None else ending.stop_reason.value,
        "failure": None if ending.failure is None else asdict(ending.failure),
        "conclusion": ending.conclusion,
        "spent": {
            "duration_s": spent.duration_s,
            "agent_steps": spent.agent_steps,
            "tool_calls": spent.tool_calls,
            "llm_calls": spent.llm_calls,
            "input_tokens": spent.input_tokens,
            "output_tokens": spent.output_tokens,
            "total_tokens": spent.total_tokens,
            "is_estimated": spent.is_estimated,
        },
    }


_OF_ENDING = (
    "outcome", "state", "termination", "fallback_type", "stop_reason", "failure", "conclusion", "spent",
)  # fmt: skip


def _cancel(row: RunRow) -> JsonValue:
    """That a cancel was asked for, and what the owner said to it."""
    if row.wish is None:
        return None
    return {"reason": row.wish.reason.value, "at": utc_text(row.wish.at_s), "answer": row.cancel_answer}


def _at(time_s: float | None) -> str | None:
    return None if time_s is None else utc_text(time_s)
