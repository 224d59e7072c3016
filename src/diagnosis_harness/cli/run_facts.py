"""What the terminal shows of a run's row, read from its JSON (`application.runs.json_form`), near or far."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import parse_utc

UNFINISHED = ("QUEUED", "RUNNING")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """A row. Words of closed sets stay text: a newer server may know more of them.

    Attributes:
        duration_s, agent_steps, tool_calls, total_tokens: None until the run ended.
        failure: the sentence for people.
        text: what a path other than the diagnosis answered; its answer is the report.
    """

    run_id: str
    session_id: str
    question: str
    language: Language
    kind: str
    asked_by: str
    status: str
    intent: str | None
    outcome: str | None
    state: str | None
    reason: str | None
    fallback: str | None
    stop_reason: str | None
    failure: str | None
    submitted_s: float
    started_s: float | None
    duration_s: float | None
    agent_steps: int | None
    tool_calls: int | None
    total_tokens: int | None
    cancel_reason: str | None
    is_closed: bool
    text: str | None

    @property
    def goes_on(self) -> bool:
        """Whether the run has not ended, or its end is not all written."""
        return self.status in UNFINISHED or not self.is_closed


def facts_of(held: JsonValue) -> RunFacts:
    """The facts of a row.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(held, dict):
        raise _wrong("a run")
    spent, termination = _part(held, "spent"), _part(held, "termination")
    return RunFacts(
        run_id=_text(held, "run_id"),
        session_id=_text(held, "session_id"),
        question=_text(held, "question"),
        language=Language(_text(held, "language")),
        kind=_text(held, "kind"),
        asked_by=_text(held, "asked_by"),
        status=_text(held, "status"),
        intent=_maybe(held, "intent"),
        outcome=_maybe(held, "outcome"),
        state=_maybe(held, "state"),
        reason=_maybe(termination, "reason"),
        fallback=_maybe(held, "fallback_type"),
        stop_reason=_maybe(held, "stop_reason"),
        failure=_maybe(_part(held, "failure"), "message"),
        submitted_s=parse_utc(_text(held, "submitted_at")),
        started_s=_instant(held, "started_at"),
        duration_s=_number(spent, "duration_s"),
        agent_steps=_count(spent, "agent_steps"),
        tool_calls=_count(spent, "tool_calls"),
        total_tokens=_count(spent, "total_tokens"),
        cancel_reason=_maybe(_part(held, "cancel"), "reason"),
        is_closed=held.get("is_closed") is True,
        text=_maybe(_part(held, "content"), "text"),
    )


def _wrong(name: str) -> ValueError:
    return ValueError(f"{name} is not what it should be")


def _part(held: dict[str, JsonValue], name: str) -> dict[str, JsonValue]:
    """A nested object; empty where there is none."""
    part = held.get(name)
    if part is None:
        return {}
    if not isinstance(part, dict):
        raise _wrong(name)
    return part


def _text(held: dict[str, JsonValue], name: str) -> str:
    value = held.get(name)
    if not isinstance(value, str):
        raise _wrong(name)
    return value


def _maybe(held: dict[str, JsonValue], name: str) -> str | None:
    return None if held.get(name) is None else _text(held, name)


def _instant(held: dict[str, JsonValue], name: str) -> float | None:
    text = _maybe(held, name)
    return None if text is None else parse_utc(text)


def _number(held: dict[str, JsonValue], name: str) -> float | None:
    value = held.get(name)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise _wrong(name)
    return value


def _count(held: dict[str, JsonValue], name: str) -> int | None:
    value = _number(held, name)
    return None if value is None else int(value)
