"""Finds log lines that contain a text: their number and the first of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.kernel.names import display_name, quote_text
from diagnosis_harness.kernel.window import TimeWindow, utc_text
from diagnosis_harness.toolbox.arguments import text, timestamp
from diagnosis_harness.toolbox.inventory import askable_names
from diagnosis_harness.toolbox.ports import LogLine, Recording, Sources
from diagnosis_harness.toolbox.wording import one_line
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, Parameter, ParameterKind, ToolFindings, ToolSpec

LINES_SHOWN = 20  # a screen of lines; the total is reported beside them


@dataclass(frozen=True, slots=True)
class SearchLogs:
    """LOG_LINES items: the count, then the first lines by time, as data; nothing is compared."""

    sources: Sources

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="search_logs",
            description="Count log lines that contain a text, and show the first. No comparison with before.",
            description_zh="统计包含某段文本的日志行，并显示最前面的几行，不与之前比较。",
            parameters=(
                Parameter(
                    "text", ParameterKind.TEXT, "Plain text, upper and lower case alike. Default: all lines."
                ),
                Parameter("entity", ParameterKind.ENTITY, "Only of this service, its instances among them."),
                Parameter("start", ParameterKind.INSTANT, "From this time on."),
                Parameter("end", ParameterKind.INSTANT, "Before this time."),
            ),
            scope_names=("logs:read",),
        )

    def entities(self, ctx: RunContext) -> Collection[str]:
        """The names that it accepts."""
        return askable_names(ctx, self.sources)

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """Return the count and the first lines."""
        if self.sources.logs is None:
            return ToolFindings((), note="the source has no logs")
        wanted, entity = text(arguments, "text"), text(arguments, "entity")
        window = window_argument(ctx, self.sources, arguments)
        page = self.sources.logs.search(
            ctx,
            Recording.INCIDENT,
            text=wanted,
            entities=None if entity is None else with_instances(ctx, self.sources, entity),
            window=window,
            limit=LINES_SHOWN,
        )
        if page.matching == 0:
            looked = window or self.sources.summary.summary(ctx).incident
            return ToolFindings((), looked, looked_at=page.searched)
        counted = window or self.sources.summary.summary(ctx).incident
        items = [_count(page.matching, page.searched, wanted, (entity, window, counted))]
        items += [_line(line, f"l{place}") for place, line in enumerate(page.lines, start=1)]
        narrow = "give a text, an entity or a shorter window"
        return ToolFindings(tuple(items), window, page.searched, narrow=narrow)


def with_instances(ctx: RunContext, sources: Sources, entity: str) -> tuple[str, ...]:
    """An entity and all its instances: a search of a service covers its instances."""
    owners = {} if sources.topology is None else sources.topology.owners(ctx)
    return (entity, *sorted(part for part, owner in owners.items() if owner == entity and part != entity))


def window_argument(
    ctx: RunContext, sources: Sources, arguments: Mapping[str, ArgumentValue]
) -> TimeWindow | None:
    """The window from `start` to `end`; the recording supplies a missing end. None if both are missing."""
    start_s, end_s = timestamp(arguments, "start"), timestamp(arguments, "end")
    if start_s is None and end_s is None:
        return None
    recording = sources.summary.summary(ctx).incident or TimeWindow(0.0, 0.0)
    first = recording.start_s if start_s is None else start_s
    last = recording.end_s + 1.0 if end_s is None else end_s
    return TimeWindow(first, max(first, last))


def _count(
    matching: int,
    searched: int,
    wanted: str | None,
    scope: tuple[str | None, TimeWindow | None, TimeWindow | None],
) -> EvidenceItem:
    """The number of lines; with a known entity and window, a claim can state it."""
    entity, window, counted = scope
    states = entity is not None and counted is not None and not wanted
    containing = f" that contain {quote_text(wanted)}" if wanted else ""
    of = f" of {display_name(entity)}" if entity else ""
    when = f" between {utc_text(window.start_s)} and {utc_text(window.end_s)}" if window else ""
    attributes: dict[str, Scalar] = {"searched": searched}
    if wanted:
        attributes["text"] = one_line(wanted)
    return EvidenceItem(
        "count",
        ItemKind.COUNT if states else ItemKind.LOG_LINES,
        f"{matching} log lines{of}{containing}{when}, {searched} searched",
        entity=entity,
        signal="log lines" if states else None,
        value=float(matching),
        window=counted if states else window,
        attributes=attributes,
        source_rows=matching,
    )


def _line(line: LogLine, item_id: str) -> EvidenceItem:
    message = one_line(line.message)
    origin = " ".join(display_name(part) for part in (line.entity, line.level) if part)
    attributes: dict[str, Scalar] = {"message": message}
    if line.level:
        attributes["level"] = one_line(line.level)
    return EvidenceItem(
        item_id,
        ItemKind.LOG_LINES,
        f"{utc_text(line.time_s)}{f' {origin}' if origin else ''}: {quote_text(message)}",
        entity=line.entity,
        onset_s=line.time_s,
        attributes=attributes,
        source_rows=1,
    )
