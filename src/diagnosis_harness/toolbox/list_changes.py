"""Lists deploys, flags and configuration changes in a window."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.names import display_name, quote_text
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.toolbox.arguments import ONSET_PARAMETER, text, timestamp
from diagnosis_harness.toolbox.ports import ChangeEvent
from diagnosis_harness.toolbox.search_logs import window_argument, with_instances
from diagnosis_harness.toolbox.views import Views
from diagnosis_harness.toolbox.wording import digits, one_line, round4
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, Parameter, ParameterKind, ToolFindings, ToolSpec


@dataclass(frozen=True, slots=True)
class ListChanges:
    """CHANGE_EVENT items, nearest to the onset first.

    Being near is no proof: most last deploys before an incident are innocent.

    Attributes of an item: `change_kind`, `summary`, `before_onset_s` (negative for a change after the onset).
    """

    views: Views

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="list_changes",
            description="Deploys, flags and configuration changes, nearest to the onset first. No weighing.",
            description_zh="部署、开关和配置变更，离故障最近的在前，不作权衡。",
            parameters=(
                Parameter("start", ParameterKind.INSTANT, "From this time on."),
                Parameter("end", ParameterKind.INSTANT, "Before this time."),
                Parameter("entity", ParameterKind.ENTITY, "Only of this service, its instances among them."),
                ONSET_PARAMETER,
            ),
            scope_names=("changes:read",),
        )

    def entities(self, ctx: RunContext) -> Collection[str]:
        """The names that it accepts."""
        return self.views.names(ctx)

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """Return the changes."""
        sources = self.views.sources
        if sources.changes is None:
            return ToolFindings((), note="the source has no changes")
        window = window_argument(ctx, sources, arguments)
        entity = text(arguments, "entity")
        events = sources.changes.changes(ctx, window=window)
        wanted = None if entity is None else with_instances(ctx, sources, entity)
        chosen = [event for event in events if wanted is None or event.entity in wanted]
        onset = self.views.onset(ctx, timestamp(arguments, "onset"))
        onset_s = None if onset is None else onset.time_s
        if onset_s is not None:
            anchor = onset_s
            chosen.sort(key=lambda event: abs(event.time_s - anchor))
        items = tuple(_item(event, f"d{place}", onset_s) for place, event in enumerate(chosen, start=1))
        looked = window or (None if items else sources.summary.summary(ctx).incident)
        return ToolFindings(items, looked, len(events), narrow="give a window or an entity")


def _item(event: ChangeEvent, item_id: str, onset_s: float | None) -> EvidenceItem:
    kind, summary = one_line(event.kind, most=60), one_line(event.summary)
    of = f" of {display_name(event.entity)}" if event.entity else ""
    line = f"{utc_text(event.time_s)} {display_name(kind)}{of}: {quote_text(summary)}"
    attributes: dict[str, str | int | float | bool | None] = {"change_kind": kind, "summary": summary}
    if onset_s is not None:
        distance_s = round4(abs(onset_s - event.time_s))
        attributes["before_onset_s"] = distance_s if event.time_s <= onset_s else -distance_s
        line += f" ({digits(distance_s)} s {'before' if event.time_s <= onset_s else 'after'} the onset)"
    return EvidenceItem(
        item_id,
        ItemKind.CHANGE_EVENT,
        line,
        entity=event.entity,
        signal=kind,
        onset_s=event.time_s,
        attributes=attributes,
        source_rows=1,
    )
