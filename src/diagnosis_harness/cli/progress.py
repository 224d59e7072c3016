"""Progress of a running diagnosis: a pure fold over its trace events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from diagnosis_harness.cli.words import phrases
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.report.measure import measure
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName

_WITHOUT_TOOLS = ("", "ROUTING", "SYSTEM_RESPONDING", "KNOWLEDGE_SEARCHING", "KNOWLEDGE_ANSWERING")


@dataclass(frozen=True, slots=True)
class OpenTool:
    """A tool call in flight."""

    tool: str
    since_s: float


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How far a run has come.

    Attributes:
        stage: wire value of the stage; empty before the first.
        open: calls in flight, by tool call id.
        tool_calls: calls that returned.
        tool_limit: how many the run may make; None until it is known.
    """

    stage: str = ""
    open: Mapping[str, OpenTool] = field(default_factory=dict)
    tool_calls: int = 0
    tool_limit: int | None = None

    def call_counts(self, language: Language) -> str:
        """Calls made and allowed; empty until the limit is known, and in stages without tools."""
        if self.tool_limit is None or (self.stage in _WITHOUT_TOOLS and not self.tool_calls):
            return ""
        return phrases.BUDGET.render(language, used=self.tool_calls, limit=self.tool_limit)

    def in_flight(self, now_s: float) -> tuple[str, ...]:
        """Each call in flight with its time so far."""
        return tuple(
            f"{display_name(call.tool)} {measure(max(now_s - call.since_s, 0.0), 's')}"
            for call in self.open.values()
        )


def advance(progress: RunProgress, event: TraceEvent, language: Language) -> tuple[RunProgress, str | None]:
    """The progress after an event, and a line for it if it is worth one."""
    match event.name:
        case TraceName.RUN_STARTED:
            return replace(progress, tool_limit=_limit(event.payload)), None
        case TraceName.STATUS:
            stage = str(event.payload.get("stage", ""))
            return replace(progress, stage=stage), _stage_line(progress, stage, language)
        case TraceName.TOOL_REQUEST_REJECTED:
            tool, code = display_name(str(event.payload.get("tool"))), event.payload.get("code")
            return progress, phrases.REFUSED.render(language, tool=tool, code=str(code))
        case TraceName.TOOL_INVOCATION:
            return _advance_tool(progress, event, language)
        case _:
            return progress, None


def _advance_tool(
    progress: RunProgress, event: TraceEvent, language: Language
) -> tuple[RunProgress, str | None]:
    tool, call_id = display_name(str(event.payload.get("tool"))), str(event.payload.get("tool_call_id"))
    if event.status is TraceEventStatus.STARTED:
        return replace(progress, open={**progress.open, call_id: OpenTool(tool, event.at_s)}), None
    started = progress.open.get(call_id)
    others = {other: call for other, call in progress.open.items() if other != call_id}
    after = replace(progress, open=others, tool_calls=progress.tool_calls + 1)
    code, count = event.payload.get("error_code"), event.payload.get("items")
    if code:
        line = phrases.FAILED.render(language, tool=tool, code=str(code))
    elif count:
        line = (phrases.FOUND_ONE if count == 1 else phrases.FOUND).render(
            language, tool=tool, count=str(count)
        )
    else:
        line = phrases.NOTHING_FOUND.render(language, tool=tool)
    if started is None:
        return after, line
    return after, f"{line}{phrases.COMMA.in_(language)}{measure(event.at_s - started.since_s, 's')}"


def _stage_line(progress: RunProgress, stage: str, language: Language) -> str | None:
    name, spent = stage_name(stage, language), replace(progress, stage=stage).call_counts(language)
    return phrases.COMMA.in_(language).join((name, spent)) if name and spent else name or None


def _limit(payload: Mapping[str, object]) -> int | None:
    limits = payload.get("limits")
    limit = limits.get("tool_calls") if isinstance(limits, Mapping) else None
    return limit if isinstance(limit, int) else None


def stage_name(stage: str, language: Language) -> str:
    """A stage in words; one that a newer server sends stays as it is."""
    text = phrases.STAGES.get(stage)
    return text.in_(language) if text else stage
