"""Compares spans: self time, time on the way, failures, and calls no longer made."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from diagnosis_harness.analysis.span_findings import ShareGroups, TimeGroups
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.arguments import ENTITIES, ONSET_PARAMETER, UNTIL_PARAMETER, names, timestamp
from diagnosis_harness.toolbox.clues import USUAL_CALL, SpanGroups
from diagnosis_harness.toolbox.incident_view import IncidentView
from diagnosis_harness.toolbox.span_table import SpanView
from diagnosis_harness.toolbox.views import ViewPart, Views
from diagnosis_harness.toolbox.wording import digits, quantity, round4
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, ToolFindings, ToolSpec

LEAST_SPAN_Z = 2.0  # a hint; a finding needs three


@dataclass(frozen=True, slots=True)
class CompareSpans:
    """SELF_TIME, EDGE_GAP (entity: callee, peer: caller) and SPAN_ERRORS items, by score.

    `signal` is the operation. Times are geometric means in seconds, shares are ratios. A call that is no
    longer made is a SPAN_ERRORS item: the share of the operation's spans that end without it. Attributes of
    an item: `z`, `noise` (the score that normal operation reaches), `spans_before`, `spans_after`,
    `without` (the missing call).
    """

    views: Views

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="compare_spans",
            description="Spans before and after onset: self time, gaps of calls, failures, missing calls.",
            description_zh="比较故障前后的跨度：自身耗时、调用间隙、失败、缺失的调用。",
            parameters=(ONSET_PARAMETER, UNTIL_PARAMETER, ENTITIES),
            scope_names=("spans:read",),
        )

    def entities(self, ctx: RunContext) -> Collection[str]:
        """The names that it accepts."""
        return self.views.names(ctx)

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """Compare the spans."""
        view = self.views.for_onset(ctx, timestamp(arguments, "onset"), until_s=timestamp(arguments, "until"))
        self.views.require(ViewPart.SPANS)
        if view is None or view.spans is None or view.groups is None:
            return ToolFindings((), note="no spans, or no onset to compare around")
        wanted = names(arguments, "entities")
        found = _all_items(view, view.spans, view.groups)
        kept = [item for item in found if wanted is None or item.entity in wanted or item.peer in wanted]
        kept.sort(key=lambda item: (-(item.score or 0.0), item.item_id))
        late, early = int(view.spans.fault.sum()), int(view.spans.normal.sum())
        looked_at = _count_compared(view.spans, wanted)
        note = f"{early} spans of normal operation, {late} after onset"
        narrow = "name some entities to see more of their spans"
        return ToolFindings(tuple(kept), _window(view), looked_at, narrow=narrow, note=note)


def _count_compared(spans: SpanView, wanted: tuple[str, ...] | None) -> int:
    """How many spans of the wanted entities were compared: zero if either side has none."""
    entities = [place for place, name in enumerate(spans.entities) if wanted is None or name in wanted]
    of_them = np.isin(spans.spans.entity, entities)
    late = int((of_them & spans.fault).sum())
    early = int((of_them & spans.normal).sum())
    return late + early if late and early else 0


def _window(view: IncidentView) -> TimeWindow | None:
    if view.spans is None or not view.spans.fault.any():
        return None
    return TimeWindow(view.onset_s, round(float(view.spans.spans.start_s[view.spans.fault].max()) + 0.001, 3))


def _all_items(view: IncidentView, spans: SpanView, groups: SpanGroups) -> list[EvidenceItem]:
    window = _window(view)
    items = [
        *_time_items(spans, groups.self_time, window, ItemKind.SELF_TIME),
        *_time_items(spans, groups.gaps, window, ItemKind.EDGE_GAP),
    ]
    for prefix, shares in (("f", groups.failures), ("c", groups.call_failures)):
        items += _failure_items(spans, shares, window, prefix) if shares is not None else []
    return items + (_missing_calls(spans, groups.patterns, window) if groups.patterns is not None else [])


def _time_items(
    spans: SpanView, groups: TimeGroups, window: TimeWindow | None, kind: ItemKind
) -> list[EvidenceItem]:
    noise = round4(float(np.quantile(groups.null, 0.75))) if len(groups.null) else None
    shift = groups.shift
    items = []
    for place in np.flatnonzero(np.abs(shift.z) >= LEAST_SPAN_Z).tolist():
        entity, peer = int(groups.entity[place]), int(groups.peer[place])
        caller = None if peer < 0 else spans.entities[peer]
        operation = spans.operations[int(groups.operation[place])]
        value, baseline = round4(float(shift.fault_s[place])), round4(float(shift.baseline_s[place]))
        up = shift.z[place] > 0
        about = f"time inside {display_name(spans.entities[entity])}"
        if caller is not None:
            about = f"time between {display_name(caller)} and {display_name(spans.entities[entity])}"
        about += f" in {display_name(operation)}"
        line = f"{about} {'rose' if up else 'fell'} from {quantity(baseline, 's')} to {quantity(value, 's')}"
        items.append(
            EvidenceItem(
                f"{'t' if caller is None else 'g'}{place + 1}",
                kind,
                line,
                entity=spans.entities[entity],
                peer=caller,
                signal=operation,
                value=value,
                baseline=baseline,
                unit="s",
                direction=Direction.UP if up else Direction.DOWN,
                window=window,
                score=round4(abs(float(shift.z[place]))),
                attributes={
                    "z": round4(float(shift.z[place])),
                    "noise": noise,
                    "spans_before": int(shift.baseline_count[place]),
                    "spans_after": int(shift.fault_count[place]),
                },
                source_rows=int(shift.baseline_count[place] + shift.fault_count[place]),
            )
        )
    return items


def _failure_items(
    spans: SpanView, groups: ShareGroups, window: TimeWindow | None, prefix: str
) -> list[EvidenceItem]:
    items = []
    for place in np.flatnonzero(np.abs(groups.shift.z) >= LEAST_SPAN_Z).tolist():
        child = int(groups.child_entity[place])
        own = spans.entities[int(groups.entity[place])]
        entity, caller = (own, None) if child < 0 else (spans.entities[child], own)
        operation = spans.operations[int(groups.operation[place])]
        what = f"share of failing {display_name(entity)} {display_name(operation)} spans"
        if caller is not None:
            ends = f"from {display_name(caller)} to {display_name(entity)}"
            what = f"share of {display_name(operation)} calls {ends} that fail on the way"
        items.append(
            _share_item(
                groups, place, f"{prefix}{place + 1}", _Share(what, entity, caller, operation), window=window
            )
        )
    return items


def _missing_calls(spans: SpanView, groups: ShareGroups, window: TimeWindow | None) -> list[EvidenceItem]:
    usual = (groups.shift.baseline >= USUAL_CALL) & (groups.shift.z <= -LEAST_SPAN_Z)
    items = []
    for place in np.flatnonzero(usual).tolist():
        entity = spans.entities[int(groups.entity[place])]
        operation = spans.operations[int(groups.operation[place])]
        child = spans.operations[int(groups.child_operation[place])]
        spans_of = f"{display_name(entity)} {display_name(operation)} spans"
        what = f"share of {spans_of} that end without {display_name(child)}"
        items.append(
            _share_item(
                groups, place, f"m{place + 1}", _Share(what, entity, None, operation, child), window=window
            )
        )
    return items


@dataclass(frozen=True, slots=True)
class _Share:
    """A share to report, and what it is a share of."""

    what: str
    entity: str
    peer: str | None
    operation: str
    without: str | None = None


def _share_item(
    groups: ShareGroups, place: int, item_id: str, share: _Share, *, window: TimeWindow | None
) -> EvidenceItem:
    shift, without = groups.shift, share.without
    value, baseline = float(shift.fault[place]), float(shift.baseline[place])
    if without is not None:
        value, baseline = 1.0 - value, 1.0 - baseline
    value, baseline = round4(value), round4(baseline)
    up = value > baseline
    z = round4(abs(float(shift.z[place])))
    line = f"{share.what} {'rose' if up else 'fell'} from {digits(baseline)} ratio to {digits(value)} ratio"
    return EvidenceItem(
        item_id,
        ItemKind.SPAN_ERRORS,
        line,
        entity=share.entity,
        peer=share.peer,
        signal=share.operation,
        value=value,
        baseline=baseline,
        unit="ratio",
        direction=Direction.UP if up else Direction.DOWN,
        window=window,
        score=z,
        attributes={
            "z": z,
            "spans_before": int(shift.baseline_count[place]),
            "spans_after": int(shift.fault_count[place]),
            **({} if without is None else {"without": without}),
        },
        source_rows=int(shift.baseline_count[place] + shift.fault_count[place]),
    )
