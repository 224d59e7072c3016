"""Events as bytes of an event stream (WHATWG HTML, "Server-sent events"), the JSON of each on one line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import assert_never

from diagnosis_harness.server.event_id import EventId
from diagnosis_harness.server.sse_session import Content, Done, Failure, Metadata, SseEvent, Status, Traced

HEARTBEAT = b": hb\n\n"
"""A comment: it keeps proxies from closing the connection, and clients ignore it."""

# JSON escapes the ends of lines of the standard. Many line readers take these for ends of lines, too.
_ALSO_LINE_ENDS = str.maketrans({"\x85": "\\u0085", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def retry_hint(retry_ms: int) -> bytes:
    """How long a client waits before it reconnects; not an event."""
    return b"retry: %d\n\n" % retry_ms


def encode_event(event: SseEvent, event_id: EventId | None) -> bytes:
    """The event as bytes; without an id if it is in no log, so that a client cannot resume after it."""
    name, data = _name_and_data(event)
    place = "" if event_id is None else f"id: {event_id}\n"
    text = f"{place}event: {name}\ndata: {_one_line(data)}\n\n"
    # UTF-8 cannot encode half a surrogate pair; Python's escape of it is also JSON's.
    return text.encode("utf-8", "backslashreplace")


def _name_and_data(event: SseEvent) -> tuple[str, Mapping[str, object]]:
    match event:
        case Metadata(ids):
            return "metadata", {"session_id": ids.session_id, "run_id": ids.run_id}
        case Status(stage):
            return "status", {"stage": stage.value}
        case Traced(traced):
            return "trace", {
                "seq": traced.seq,
                "run_id": traced.run_id,
                "at_s": traced.at_s,
                "name": traced.name.value,
                "phase": traced.phase.value,
                "status": traced.status.value,
                "payload": dict(traced.payload),
            }
        case Content(ids, body):
            return "content", {"session_id": ids.session_id, "run_id": ids.run_id, "answer": body}
        case Failure(ids, code, message, state):
            return "failure", {
                "session_id": ids.session_id,
                "run_id": ids.run_id,
                "code": code,
                "message": message,
                "state": state.value,
            }
        case Done(outcome):
            return "done", {"outcome": outcome.value}
        case _:
            assert_never(event)


def _one_line(data: Mapping[str, object]) -> str:
    text = _ENCODER.encode(data)
    return text if text.isascii() else text.translate(_ALSO_LINE_ENDS)


def _as_dict(value: object) -> object:
    if isinstance(value, Mapping):  # a payload is read-only
        return dict(value)
    raise TypeError(f"JSON cannot represent {type(value).__name__}")


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_as_dict)
