"""Converts trace events and retry attempts to rows and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sqlalchemy import Connection, insert

from diagnosis_harness.adapters.persistence.json_text import freeze, from_json_text, json_text
from diagnosis_harness.adapters.persistence.schema import retry_attempt, trace_event
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase

ATTEMPTS = frozenset({TraceName.ROUTING_ATTEMPT, TraceName.SEMANTIC_GUARD_ATTEMPT, TraceName.RETRY_ATTEMPT})
"""The events that `HarnessRetryExecutor` writes of each attempt."""

_INSERT_EVENT = insert(trace_event)
_INSERT_ATTEMPT = insert(retry_attempt)


def append(connection: Connection, events: Sequence[TraceEvent]) -> None:
    """Write events, and the retry attempts in them, in the caller's transaction."""
    rows = [event_columns(event) for event in events]
    if rows:
        connection.execute(_INSERT_EVENT, rows)
    attempts = [
        attempt_columns(event) for event in events if event.name in ATTEMPTS and "role" in event.payload
    ]
    if attempts:
        connection.execute(_INSERT_ATTEMPT, attempts)


def event_columns(event: TraceEvent) -> dict[str, Any]:
    """An event as columns."""
    return {
        "run_id": event.run_id,
        "seq": event.seq,
        "at_s": event.at_s,
        "name": event.name.value,
        "phase": event.phase.value,
        "status": event.status.value,
        "payload": json_text(dict(event.payload)),
    }


def event_of_row(columns: Mapping[Any, Any]) -> TraceEvent:
    """The event."""
    return TraceEvent(
        seq=columns["seq"],
        run_id=columns["run_id"],
        at_s=columns["at_s"],
        name=TraceName(columns["name"]),
        phase=TracePhase(columns["phase"]),
        status=TraceEventStatus(columns["status"]),
        payload=MappingProxyType(freeze(from_json_text(columns["payload"]))),
    )


def attempt_columns(event: TraceEvent) -> dict[str, Any]:
    """The retry attempt in an event, as columns."""
    payload = event.payload
    return {
        "run_id": event.run_id,
        "seq": event.seq,
        "at_s": event.at_s,
        "role": str(payload["role"]),
        "attempt": payload.get("attempt", 1),
        "failure": payload.get("failure"),
        "error": str(payload.get("error") or ""),
    }


def attempt_json(columns: Mapping[Any, Any]) -> dict[str, Any]:
    """An attempt as a JSON object; `seq` is that of its event in the trace."""
    return {name: columns[name] for name in ("seq", "at_s", "role", "attempt", "failure", "error")}
