"""From what the application knows to the bodies of answers, where no other face has that form. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis_harness.application.runs.json_form import row_json
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import RecordEntry, plain
from diagnosis_harness.report.timeline import moments, timeline
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.trace.event import TraceEvent
from diagnosis_harness.trace.json_lines import event_json
from diagnosis_harness.trace.timeline import Stretch, Timeline, fold

_PUBLIC = (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)
_NOT_YET = {
    RunStatus.QUEUED: {
        Language.EN: "The run is queued and has not started; what is answered holds as of now.",
        Language.ZH: "运行正在排队，尚未开始；以下回答截至目前。",
    },
    RunStatus.RUNNING: {
        Language.EN: "The run is still going on; what is answered holds as of now.",
        Language.ZH: "运行仍在进行；以下回答截至目前。",
    },
}
_ENDED = {Language.EN: "The run has ended.", Language.ZH: "运行已结束。"}


def whole_run_json(row: RunRow) -> dict[str, JsonValue]:
    """A run with what it answered, where that is public."""
    ending = row.ending
    return {**row_json(row), "content": ending.answer if ending and ending.outcome in _PUBLIC else None}


def standing_words(row: RunRow, language: Language) -> str:
    """How the run stands that is explained, in a sentence."""
    if row.is_closed:
        return _ENDED[language]
    return _NOT_YET.get(row.status, _NOT_YET[RunStatus.RUNNING])[language]


def trace_json(row: RunRow, events: Sequence[TraceEvent]) -> dict[str, JsonValue]:
    """A run's trace: its fold, and every event."""
    return {
        "run_id": row.run_id,
        "is_closed": row.is_closed,
        "timeline": _timeline_json(fold(moments(timeline(events)))),
        "events": [event_json(event) for event in events],
    }


def _timeline_json(folded: Timeline) -> JsonValue:
    return {
        "started_s": folded.started_s,
        "duration_s": folded.duration_s,
        "stretches": [_stretch_json(stretch) for stretch in folded.stretches],
        "phases": [
            {
                "phase": account.phase.value,
                "moments": account.moments,
                "duration_s": account.duration_s,
                "verdict": account.verdict.value,
            }
            for account in folded.phases
        ],
    }


def _stretch_json(stretch: Stretch) -> JsonValue:
    return {
        "phase": stretch.phase.value,
        "moments": [
            {
                "at_s": moment.at_s,
                "name": moment.name.value,
                "status": moment.status.value,
                "text": moment.text,
            }
            for moment in stretch.moments
        ],
    }


def record_json(record: EvidenceRecord) -> dict[str, JsonValue]:
    """A record without what it found."""
    held = plain(RecordEntry.of(record))
    del held["stored"]
    return {**held, "items": len(record.items)}


def stored_record_json(record: EvidenceRecord) -> dict[str, JsonValue]:
    """A record with its stored bytes as text."""
    return {**record_json(record), "stored": plain(RecordEntry.of(record))["stored"]}


def turn_json(row: RunRow) -> JsonValue:
    """A run as a turn of its session."""
    return {
        "run_id": row.run_id,
        "question": row.request.question,
        "intent": None if row.intent is None else row.intent.value,
        "status": row.status.value,
        "outcome": None if row.ending is None else row.ending.outcome.value,
        "conclusion": None if row.ending is None else row.ending.conclusion,
        "submitted_at": utc_text(row.request.submitted_s),
    }
