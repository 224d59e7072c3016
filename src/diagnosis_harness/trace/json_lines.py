"""Writes and reads a trace as JSON Lines: one object for each event."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase


def event_json(event: TraceEvent) -> dict[str, JsonValue]:
    """A whole event with its payload in JSON types, its fields in a fixed order."""
    return {
        "seq": event.seq,
        "run_id": event.run_id,
        "at_s": event.at_s,
        "name": event.name.value,
        "phase": event.phase.value,
        "status": event.status.value,
        "payload": {key: _plain(value) for key, value in event.payload.items()},
    }


def event_of_line(value: JsonValue) -> TraceEvent:
    """Read an event that `event_json` wrote.

    Raises:
        ValueError: the line is not an event.
    """
    match value:
        case {
            "seq": int(seq),
            "run_id": str(run_id),
            "at_s": int() | float() as at_s,
            "name": str(name),
            "phase": str(phase),
            "status": str(status),
            "payload": dict(payload),
        }:
            return TraceEvent(
                seq=seq,
                run_id=run_id,
                at_s=at_s,
                name=TraceName(name),
                phase=TracePhase(phase),
                status=TraceEventStatus(status),
                payload=MappingProxyType({key: _freeze(each) for key, each in payload.items()}),
            )
        case _:
            raise ValueError("no event of a trace")


def lines_of(events: Iterable[TraceEvent]) -> bytes:
    """The events as JSON Lines in UTF-8, each line ended by a line feed."""
    # Half a surrogate pair is not valid UTF-8; Python's escape for it is also JSON's.
    return b"".join(
        json.dumps(event_json(event), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
            "utf-8", "backslashreplace"
        )
        + b"\n"
        for event in events
    )


def events_of(data: bytes) -> tuple[TraceEvent, ...]:
    """The events of JSON Lines.

    Raises:
        ValueError: not UTF-8, not JSON, or a line that is not an event.
    """
    try:
        return tuple(event_of_line(json.loads(line)) for line in data.decode("utf-8").split("\n") if line)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _plain(value: JsonValue) -> JsonValue:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value


def _freeze(value: JsonValue) -> JsonValue:
    """A value as events store it (`trace.event.bound_payload`): lists become tuples."""
    if isinstance(value, list):
        return tuple(_freeze(item) for item in value)
    if isinstance(value, dict):
        return {key: _freeze(item) for key, item in value.items()}
    return value
