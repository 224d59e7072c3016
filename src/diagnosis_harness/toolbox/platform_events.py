"""Reports what a platform reported about its objects, and whether it still lasts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from diagnosis_harness.analysis.platform_event import EventStanding, Severity
from diagnosis_harness.analysis.platform_history import Occurrence
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.kernel.names import display_name, quote_text
from diagnosis_harness.kernel.window import TimeWindow, utc_text
from diagnosis_harness.toolbox.arguments import ONSET_PARAMETER, text, timestamp
from diagnosis_harness.toolbox.event_clues import is_of_onset
from diagnosis_harness.toolbox.search_logs import window_argument, with_instances
from diagnosis_harness.toolbox.views import Views
from diagnosis_harness.toolbox.wording import one_line
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, Parameter, ParameterKind, ToolFindings, ToolSpec


@dataclass(frozen=True, slots=True)
class PlatformEvents:
    """PLATFORM_EVENT items, one per kind and object: lasting ones first, faults before symptoms.

    `signal` is the kind (`OOMKilled`, `failover` …), `value` the number of reports, omitted if only a
    snapshot shows it; `window` spans its first to last observation. Attributes of an item: `state`
    (`current` or `over`), `severity` (`fault`, `symptom` of something else, `note` of an action),
    `fault_kind`, `reason` and `message` as the platform wrote them, `owner` (service of an instance), `bad`
    (whether it is harm that still lasts, or lasted when the incident began).
    """

    views: Views

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="platform_events",
            description="What Kubernetes or a managed database reported of its objects; current or over.",
            description_zh="Kubernetes 或托管数据库报告的事件，以及是否仍在持续。",
            parameters=(
                ONSET_PARAMETER,
                Parameter("start", ParameterKind.INSTANT, "Only what was seen from this time on."),
                Parameter("end", ParameterKind.INSTANT, "Only what began before this time."),
                Parameter("entity", ParameterKind.ENTITY, "Only of this service, its instances among them."),
            ),
            scope_names=("events:read",),
        )

    def entities(self, ctx: RunContext) -> Collection[str]:
        """The names that it accepts."""
        return self.views.names(ctx)

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """Return the reports."""
        sources = self.views.sources
        if sources.platform is None:
            return ToolFindings((), note="the source has no events or states of a platform")
        summary = sources.summary.summary(ctx)
        window = window_argument(ctx, sources, arguments)
        start_s, end_s = timestamp(arguments, "start"), timestamp(arguments, "end")
        entity = text(arguments, "entity")
        wanted = None if entity is None else with_instances(ctx, sources, entity)
        owners = {} if sources.topology is None else sources.topology.owners(ctx)
        found = [
            one
            for one in self.views.events(ctx)
            if (wanted is None or one.entity in wanted)
            and (start_s is None or one.last_s >= start_s)
            and (end_s is None or one.first_s < end_s)
        ]
        onset = self.views.onset(ctx, timestamp(arguments, "onset")) if found else None
        items = tuple(
            _item(
                one,
                f"p{place}",
                owners.get(one.entity),
                in_incident=onset is not None and is_of_onset(one, onset.time_s),
            )
            for place, one in enumerate(found, start=1)
        )
        return ToolFindings(
            items,
            window or (None if items else summary.incident),
            looked_at=summary.platform_events,
            narrow="give an entity or a window",
        )


def _item(one: Occurrence, item_id: str, owner: str | None, *, in_incident: bool) -> EvidenceItem:
    current = one.standing is EventStanding.CURRENT
    message = one_line(one.text)
    attributes: dict[str, Scalar] = {
        "state": one.standing.value,
        "severity": one.rule.severity.value,
        "fault_kind": one.rule.fault_kind,
        "bad": (current or in_incident) and one.rule.severity is not Severity.NOTE,
        "message": message,
    }
    if one.reason:
        attributes["reason"] = one_line(one.reason, most=60)
    if owner is not None and owner != one.entity:
        attributes["owner"] = owner
    often = f" {one.count} {'time' if one.count == 1 else 'times'}" if one.count else ""
    line = (
        f"{display_name(one.entity)}: {one.kind.value}{often} from {utc_text(one.first_s)} to "
        f"{utc_text(one.last_s)}, {one.standing.value}: {quote_text(message)}"
    )
    return EvidenceItem(
        item_id,
        ItemKind.PLATFORM_EVENT,
        line,
        entity=one.entity,
        signal=one.kind.value,
        value=float(one.count) if one.count else None,
        window=TimeWindow(one.first_s, one.last_s),
        onset_s=one.first_s,
        attributes=attributes,
        source_rows=max(one.count, 1),
    )
