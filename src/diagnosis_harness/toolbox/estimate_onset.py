"""Reports when the incident began: as stated, by the alert, and by the indicators."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.json_value import Scalar
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.toolbox.arguments import ONSET_PARAMETER, text, timestamp
from diagnosis_harness.toolbox.views import Views
from diagnosis_harness.toolbox.wording import digits, round4
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, Parameter, ParameterKind, ToolFindings, ToolSpec


@dataclass(frozen=True, slots=True)
class EstimateOnset:
    """ONSET items; the first is the one that the other tools use.

    Attributes of an item: `method` (argument, stated, alert, estimated), `used`, and for an estimate
    `clarity` (how many usual widths lie between the indicator before and after) and `shared` if several
    entities show it together. A time given in the call itself is not reported as a finding.
    """

    views: Views

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="estimate_onset",
            description="When it began: stated, the alert's, or estimated from indicators or events.",
            description_zh="何时开始：数据源给出的、告警的，以及由指标或平台事件估计的时间。",
            parameters=(
                ONSET_PARAMETER,
                Parameter(
                    "entity",
                    ParameterKind.ENTITY,
                    "The entity to examine first if no onset is stated. Default: the alert's.",
                ),
            ),
            scope_names=("sources:read", "metrics:read"),
        )

    def entities(self, ctx: RunContext) -> Collection[str]:
        """The names that it accepts."""
        return self.views.names(ctx)

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """Return the times, and how each was found."""
        given = timestamp(arguments, "onset")
        summary = self.views.sources.summary.summary(ctx)
        asked = text(arguments, "entity")
        asked = None if asked == summary.alert.entity else asked  # by default the alert's
        own = None if asked is None or given is not None else self.views.onset_of_entity(ctx, asked)
        found = self.views.onset(ctx, given) if own is None else own
        known = [("argument", given), ("stated", summary.onset_s), ("alert", summary.alert.time_s)]
        if found is None and all(at is None for _, at in known):
            return ToolFindings(
                (), summary.incident, note="no onset is stated, and no indicator changed clearly"
            )
        entity = self.views.find_indicated(ctx) if own is None else asked
        used = None if found is None else found.time_s
        items = [
            _item(method, at, entity, used=used == at, clarity=None) for method, at in known if at is not None
        ]
        if found is not None and found.estimated_s is not None:
            at = found.estimated_s
            clarity = round4(found.clarity) if found.clarity else None
            one = _item("estimated", at, entity, used=used == at, clarity=clarity)
            items.append(
                replace(one, attributes={**one.attributes, "shared": True}) if found.by_several else one
            )
        items.sort(key=lambda item: not item.attributes["used"])
        return ToolFindings(tuple(items), summary.incident, looked_at=len(items))


_BY_PLATFORM = "the first fault that the platform reports and that still lasts"


def _item(method: str, at: float, entity: str | None, *, used: bool, clarity: float | None) -> EvidenceItem:
    of = f" of what {display_name(entity)} shows" if entity else ""
    how = {
        "argument": "as this call was asked",
        "stated": "stated with the source",
        "alert": "the time of the alert",
        "estimated": "estimated from the indicators" if clarity is not None else _BY_PLATFORM,
    }[method]
    clear = "" if clarity is None else f", {digits(clarity)} usual widths clear"
    attributes: dict[str, Scalar] = {"method": method, "used": used}
    if clarity is not None:
        attributes["clarity"] = clarity
    return EvidenceItem(
        method,
        ItemKind.ONSET,
        f"onset{of} at {utc_text(at)}: {how}{clear}",
        entity=entity,
        onset_s=at,
        score=clarity,
        attributes=attributes,
    )
