"""Reports which telemetry the sources have and which is missing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.kernel.window import TimeWindow, utc_text
from diagnosis_harness.toolbox.ports import AlertInfo, Sources, SourceSummary
from diagnosis_harness.toolbox.wording import one_line
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, ToolFindings, ToolSpec

NAMED_ENTITIES = 60  # what fits into one line of a record; the number of further names follows them


@dataclass(frozen=True, slots=True)
class DescribeSources:
    """One INVENTORY item per kind of telemetry, including absent kinds and unused files.

    Attributes of an item: `telemetry` for an available kind, `missing` for an absent one, `file` for a file
    that was not used.
    """

    sources: Sources

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="describe_sources",
            description="What telemetry there is: kinds, counts, windows, entities, alert, unused files.",
            description_zh="有哪些遥测数据：种类、数量、时间窗、实体、告警、未使用的文件。",
            scope_names=("sources:read",),
        )

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """The inventory."""
        del arguments
        summary = self.sources.summary.summary(ctx)
        items = [*_kinds(summary), *_alert(summary), *_entities(summary), *_file_items(summary)]
        return ToolFindings(tuple(items), window=summary.incident, looked_at=len(summary.files))


def _kinds(summary: SourceSummary) -> list[EvidenceItem]:
    counts = (
        ("metrics", "metric series", summary.metric_series),
        ("spans", "spans", summary.spans),
        ("logs", "log lines", summary.log_lines),
        ("topology", "call edges", summary.edges),
        ("changes", "changes", summary.changes),
    )
    items = []
    for telemetry, words, count in counts:
        if count:
            line = f"{count} {words} from {display_name(summary.name)}"
            items.append(
                _item(telemetry, line, {"telemetry": telemetry}, value=count, window=summary.incident)
            )
        else:
            items.append(
                _item(telemetry, f"no {words} in {display_name(summary.name)}", {"missing": telemetry})
            )
    if summary.platform_events:  # not missing where services run on no platform
        line = f"{summary.platform_events} events and states of a platform from {display_name(summary.name)}"
        items.append(_item("events", line, {"telemetry": "events"}, value=summary.platform_events))
    for name, window in (("incident", summary.incident), ("baseline", summary.baseline)):
        if window is not None:
            line = f"{name} recording from {utc_text(window.start_s)} to {utc_text(window.end_s)}"
            items.append(_item(f"{name}-window", line, {"recording": name}, window=window))
        else:
            line = f"no {name} recording"
            items.append(_item(f"{name}-window", line, {"missing": f"{name} recording"}))
    return items


def _alert(summary: SourceSummary) -> list[EvidenceItem]:
    items = []
    alert = summary.alert
    if alert != AlertInfo():
        named = " ".join(display_name(part) for part in (alert.entity, alert.signal, alert.statistic) if part)
        at = f" at {utc_text(alert.time_s)}" if alert.time_s is not None else ""
        attributes: dict[str, Scalar] = {"telemetry": "alert"}
        for name in ("signal", "statistic", "direction", "summary"):
            if (value := getattr(alert, name)) is not None:
                attributes[f"alert_{name}"] = one_line(value)
        items.append(
            EvidenceItem(
                "alert",
                ItemKind.INVENTORY,
                f"alert {named or 'without a named signal'}{at}",
                entity=alert.entity,
                signal=alert.signal,
                onset_s=alert.time_s,
                attributes=attributes,
            )
        )
    if summary.onset_s is not None:
        line = f"onset stated as {utc_text(summary.onset_s)}"
        items.append(
            EvidenceItem(
                "onset", ItemKind.INVENTORY, line, onset_s=summary.onset_s, attributes={"telemetry": "onset"}
            )
        )
    return items


def _entities(summary: SourceSummary) -> list[EvidenceItem]:
    if not summary.entities:
        return []
    first_names = ", ".join(display_name(name) for name in summary.entities[:NAMED_ENTITIES])
    left = len(summary.entities) - min(len(summary.entities), NAMED_ENTITIES)
    line = f"{len(summary.entities)} entities: {first_names}" + (f" and {left} more" if left else "")
    attributes: dict[str, Scalar] = {"telemetry": "entities", "unnamed": left}
    return [_item("entities", line, attributes, value=len(summary.entities))]


def _file_items(summary: SourceSummary) -> list[EvidenceItem]:
    return [
        _item(
            f"file-{place}",
            f"{display_name(note.file)} was not used: {one_line(note.note)}",
            {"file": one_line(note.file), "note": one_line(note.note)},
        )
        for place, note in enumerate(summary.files, start=1)
        if note.role is None
    ]


def _item(
    name: str,
    line: str,
    attributes: Mapping[str, Scalar],
    *,
    value: int | None = None,
    window: TimeWindow | None = None,
) -> EvidenceItem:
    return EvidenceItem(
        name,
        ItemKind.INVENTORY,
        line,
        value=None if value is None else float(value),
        window=window,
        attributes=attributes,
    )
