"""The shortened trace of a run in its document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.report.trace_line import TraceLine
from diagnosis_harness.report.window import read_instant
from diagnosis_harness.trace.event import TraceEvent
from diagnosis_harness.trace.timeline import TimelineEvent

_TEXT_LIMIT = 160


def timeline(events: Iterable[TraceEvent]) -> tuple[TraceLine, ...]:
    """One line for each event, in order: its payload, and its simple values as short `name=value` text."""
    return tuple(
        TraceLine(
            at=utc_text(event.at_s),
            name=event.name,
            phase=event.phase,
            status=event.status,
            text=in_short(event.payload),
            data=event.payload,
        )
        for event in events
    )


def timeline_events(lines: Iterable[TraceLine]) -> tuple[TimelineEvent, ...]:
    """The lines of a document as input for `trace.timeline.fold`.

    Raises:
        RunDocumentInvalid: a line's time is malformed.
    """
    return tuple(
        TimelineEvent(
            read_instant(line.at, f"trace[{place}].at"), line.name, line.phase, line.status, line.text
        )
        for place, line in enumerate(lines)
    )


def in_short(payload: Mapping[str, object]) -> str:
    """The simple values of a payload as `name=value`, in its order, as the lines of a document show them."""
    parts = ((name, _detail(value) if name == "detail" else _value(value)) for name, value in payload.items())
    text = " ".join(f"{name}={value}" for name, value in parts if value)
    if len(text) <= _TEXT_LIMIT:
        return text
    cut = text[: _TEXT_LIMIT - 2]
    # A shortened quotation still gets its closing quotation mark.
    return f"{cut}…”" if cut.count("“") > cut.count("”") else f"{text[: _TEXT_LIMIT - 1]}…"


def _detail(value: object) -> str:
    """Why a run ended, in the harness's own words, which may contain spaces."""
    return value if isinstance(value, str) and "=" not in value else _value(value)


def _value(value: object) -> str:
    """A simple value or several as text; empty for values that are not simple, missing or empty."""
    if isinstance(value, float):
        return f"{value:.10g}"
    if isinstance(value, str):
        # Text that could be read as two values, or as a name with its value, is quoted.
        return display_name(value) if " " in value or "=" in value or not value.isascii() else value
    if isinstance(value, int):
        return str(value)
    return ",".join(map(_value, value)) if isinstance(value, list | tuple) else ""
