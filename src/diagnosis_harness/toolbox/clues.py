"""Derives clues from the tables: the evidence of each kind of telemetry against each entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log1p

import numpy as np

from diagnosis_harness.analysis.arrays import Codes, Floats
from diagnosis_harness.analysis.call_gap import charge_gaps, gap_clues
from diagnosis_harness.analysis.clue import NOISE_FLOOR, Clue, Modality, calibrate, noise_level
from diagnosis_harness.analysis.felt_time import LEAST_NOTICED, shares_of_requests
from diagnosis_harness.analysis.graph import CallGraph
from diagnosis_harness.analysis.meaning import RESOURCES, SYMPTOMS, SignalKind, SignalSide
from diagnosis_harness.analysis.robust import high_rows
from diagnosis_harness.analysis.shift import BLOCK
from diagnosis_harness.analysis.signal_words import words_of
from diagnosis_harness.analysis.span_findings import ShareGroups, TimeGroups
from diagnosis_harness.analysis.symptom import SymptomRow, strengths, symptom_clues
from diagnosis_harness.toolbox.indicator import Indicator
from diagnosis_harness.toolbox.metric_row import MetricRow
from diagnosis_harness.toolbox.metric_table import MetricTable
from diagnosis_harness.toolbox.rare_events import counts_requests, full_share
from diagnosis_harness.toolbox.span_table import SpanView

USUAL_CALL = 0.75  # share of parents that make a call, from which its absence counts
LEAST_CALLERS = 3  # callers that lose calls equally before it counts as lost spans: two may be related
LOST_ALIKE = 0.15  # of the usual calls: shares of some thirty randomly sampled spans differ by this much
LEAST_DEMAND = 1.2  # factor of usual requests from which demand explains anything: less is daily drift
BEYOND_DEMAND = 1.25  # times the growth of demand; use per request rises a little as a resource fills up
NEARLY_FULL = 0.8  # share of a resource from which waiting takes four times as long as serving
LEAST_GROWTH = 1.0  # of CPU whose limit is unknown: if it has less than doubled, it may be far from full
_AFTER_FAILURE = frozenset({"error", "errors", "exception", "exceptions", "failure", "fallback", "rollback"})
"""Words in the names of error handlers, as frameworks use them."""
_FAILURE = frozenset({SignalKind.ERRORS, SignalKind.AVAILABILITY})
_SLOWNESS = frozenset({SignalKind.LATENCY})
RESOURCE_FAULT = {
    SignalKind.CPU: "CPU",
    SignalKind.MEMORY: "MEMORY",
    SignalKind.DISK: "SATURATION",
    SignalKind.QUEUE: "SATURATION",
    SignalKind.POOL: "SATURATION",
    SignalKind.SATURATION: "SATURATION",
}
"""The kind of fault that each resource indicates; one row for each of `RESOURCES`."""


@dataclass(frozen=True, slots=True)
class SpanGroups:
    """All comparisons of spans; None if the source does not record errors."""

    self_time: TimeGroups
    gaps: TimeGroups
    failures: ShareGroups | None
    call_failures: ShareGroups | None
    patterns: ShareGroups | None


def metric_symptoms(
    table: MetricTable, graph: CallGraph, *, indicator: Indicator | None, statistic: str | None
) -> list[Clue]:
    """Symptoms of the same nature as the indicator's; of any nature if none of those is anomalous.

    A symptom that is named after another entity counts against that entity, unless that one served requests
    as well as before: then the trouble is its caller's own.
    """
    score, null = table.harm()
    score, null = calibrate(score, null)
    sound = _sound_callees(table, score)
    places = [
        place
        for place, row in enumerate(table.rows)
        if row.meaning.kind in SYMPTOMS and (row.meaning.side is SignalSide.OWN or row.callee is not None)
    ]
    noise = noise_level(null[places])
    course = _around_onset(table)
    rows = [_symptom_row(table, place, float(score[place]), course[place]) for place in places]
    rows = [
        replace(one, entity=table.rows[place].owner) if table.rows[place].callee in sound else one
        for place, one in zip(places, rows, strict=True)
    ]
    alike = (SYMPTOMS, SYMPTOMS)
    y = None
    if indicator is not None:
        kind = indicator.kind
        alike = (_FAILURE if kind in _FAILURE else _SLOWNESS, SYMPTOMS)
        y = indicator.course(course)
        rows = _of_statistic(rows, statistic)
    found = strengths(rows, indicator=y, kinds=alike[0])
    if not any(one.value > 0 for one in found.values()):
        found = strengths(rows, indicator=y, kinds=alike[-1])
    return symptom_clues(found, graph, noise=noise, indicated=indicator is not None)


def _sound_callees(table: MetricTable, score: Floats) -> frozenset[str]:
    """Callees that answer as many requests as before, calmly; without requests, calm means nothing."""
    calm: dict[str, bool] = {}
    served: dict[str, bool] = {}
    named = {row.callee for row in table.rows} - {None}
    for place, row in enumerate(table.rows):
        if row.owner not in named or row.caller is not None or row.callee is not None:
            continue
        usual, late = float(table.shift.level[place]), float(table.shift.value[place])
        if counts_requests(row):
            served[row.owner] = served.get(row.owner, True) and late * LEAST_DEMAND >= usual > 0
        elif row.meaning.side is SignalSide.OWN and row.meaning.kind in SYMPTOMS:
            calm[row.owner] = calm.get(row.owner, True) and float(score[place]) <= NOISE_FLOOR
    return frozenset(name for name, is_calm in calm.items() if is_calm and served.get(name, False))


def metric_resources(table: MetricTable) -> list[Clue]:
    """CPU, memory and other resources that belong to an entity itself."""
    score, null = table.harm()
    score, null = calibrate(score, null)
    places = [
        place
        for place, row in enumerate(table.rows)
        if row.meaning.kind in RESOURCES and row.meaning.side is SignalSide.OWN
    ]
    noise = noise_level(null[places])
    demand = demand_growth(table)
    clues = []
    for place, (usual, reached) in zip(places, _use_of(table, places), strict=True):
        row = table.rows[place]
        region = row.signal if row.entity == row.owner else f"{row.entity}/{row.signal}"
        fault = RESOURCE_FAULT[row.meaning.kind]
        z = float(score[place])
        clues.append(
            Clue(
                row.owner,
                Modality.RESOURCE,
                z,
                noise,
                region,
                fault,
                null_windows=null.shape[1],
                instance=_instance(row),
                growth=_growth(usual, reached),
                has_room=_has_room(row, usual, reached),
                explained=log1p(z) if _follows_demand(table, place, demand.get(row.owner)) else 0.0,
            )
        )
    return clues


def demand_growth(table: MetricTable) -> Mapping[str, float]:
    """By entity, the factor by which its requests grew after the onset, from its own or instances' series."""
    found: dict[str, float] = {}
    for place, row in enumerate(table.rows):
        usual, late = float(table.shift.level[place]), float(table.shift.value[place])
        if row.caller is None and counts_requests(row) and usual > 0 and np.isfinite(late):
            found[row.owner] = max(found.get(row.owner, 0.0), late / usual)
    return found


def _follows_demand(table: MetricTable, place: int, demand: float | None) -> bool:
    """Whether a resource rose no further than its requests did, so that it is used more but not broken."""
    usual, late = float(table.shift.level[place]), float(table.shift.value[place])
    if demand is None or demand < LEAST_DEMAND or not usual > 0:
        return False
    return late / usual <= BEYOND_DEMAND * demand


def metric_gaps(table: MetricTable) -> list[Clue]:
    """Calls measured at both ends: the time that neither end accounts for."""
    score, null = table.harm()
    score, null = calibrate(score, null)
    places = [place for place, row in enumerate(table.rows) if row.meaning.side is SignalSide.BETWEEN]
    scores: dict[tuple[str, str], float] = {}
    for place in places:
        row = table.rows[place]
        key = (row.caller or "", row.owner)
        scores[key] = max(scores.get(key, 0.0), float(score[place]))
    return gap_clues(charge_gaps(scores), noise=noise_level(null[places]), null_windows=null.shape[1])


def span_clues(view: SpanView, groups: SpanGroups) -> list[Clue]:
    """Self time, gaps, own failures and missing calls."""
    return [
        *_self_time(view, groups.self_time),
        *_gaps(view, groups.gaps),
        *(_failures(view, groups.failures) if groups.failures else ()),
        *(_call_failures(view, groups.call_failures) if groups.call_failures else ()),
        *(_patterns(view, groups.patterns) if groups.patterns else ()),
    ]


def _self_time(view: SpanView, groups: TimeGroups) -> list[Clue]:
    """Slower operations; one that adds almost nothing to its requests explains no effect."""
    is_noticeable = shares_of_requests(view.spans, view.fault, groups) >= LEAST_NOTICED
    return [
        clue if noticed else replace(clue, explained=log1p(clue.z))
        for clue, noticed in zip(
            _own(view, groups, Modality.SELF_TIME, "LATENCY"), is_noticeable.tolist(), strict=True
        )
    ]


def _failures(view: SpanView, groups: ShareGroups) -> list[Clue]:
    return _own(view, groups, Modality.ERRORS, "ERRORS")


def _gaps(view: SpanView, groups: TimeGroups) -> list[Clue]:
    return _on_the_way(view, groups, callers=groups.peer, callees=groups.entity)


def _call_failures(view: SpanView, groups: ShareGroups) -> list[Clue]:
    """Calls that fail for the caller while the callee's own span does not: charged like a gap."""
    return _on_the_way(view, groups, callers=groups.entity, callees=groups.child_entity)


def _own(view: SpanView, groups: TimeGroups | ShareGroups, modality: Modality, fault_kind: str) -> list[Clue]:
    """One clue for each operation, against the entity that its spans belong to."""
    noise = _span_noise(groups.null)
    return [
        Clue(
            view.entities[entity],
            modality,
            max(0.0, z),
            noise,
            view.operations[operation],
            fault_kind,
            null_windows=len(groups.null),
        )
        for entity, operation, z in zip(
            groups.entity.tolist(), groups.operation.tolist(), groups.shift.z.tolist(), strict=True
        )
    ]


def _on_the_way(
    view: SpanView, groups: TimeGroups | ShareGroups, *, callers: Codes, callees: Codes
) -> list[Clue]:
    """The strongest score of each call, charged to one of its ends."""
    scores: dict[tuple[str, str], float] = {}
    for caller, callee, z in zip(callers.tolist(), callees.tolist(), groups.shift.z.tolist(), strict=True):
        key = (view.entities[caller], view.entities[callee])
        scores[key] = max(scores.get(key, 0.0), z)
    return gap_clues(
        charge_gaps(scores),
        noise=_span_noise(groups.null),
        null_windows=len(groups.null),
        untraced=view.untraced,
    )


def _patterns(view: SpanView, groups: ShareGroups) -> list[Clue]:
    """Usual calls that are no longer made: work ended early inside the entity that used to make them.

    An error handler that is no longer called is good news. If calls of most callers are missing by the same
    share, spans were lost: no single fault breaks that many callers at once. Calls to one callee alone may
    stop together, for a reason that their callers share.
    """
    noise = _span_noise(groups.null)
    clues = []
    usual = groups.shift.baseline >= USUAL_CALL
    kept = groups.shift.fault / np.maximum(groups.shift.baseline, USUAL_CALL)
    missing = usual & (kept < 1.0 - LOST_ALIKE)
    is_one_callee = len(np.unique(groups.child_entity[missing])) == 1
    common = 1.0 if is_one_callee else _median_share_kept(groups.entity[usual], kept[usual])
    for place in np.flatnonzero(usual & (groups.shift.z < 0)).tolist():
        child = view.operations[int(groups.child_operation[place])]
        if not _AFTER_FAILURE.isdisjoint(words_of(child)):
            continue
        region = f"{view.operations[int(groups.operation[place])]} before {child}"
        z = -float(groups.shift.z[place])
        entity = view.entities[int(groups.entity[place])]
        lost = common < 1.0 - LOST_ALIKE and kept[place] >= common - LOST_ALIKE
        one = Clue(entity, Modality.ERRORS, z, noise, region, "ERRORS", null_windows=len(groups.null))
        clues.append(replace(one, explained=log1p(z)) if lost else one)
    return clues


def _median_share_kept(callers: Codes, kept: Floats) -> float:
    """The median share of their usual calls that callers still make; 1 if there are few callers."""
    each = [float(np.median(kept[callers == caller])) for caller in np.unique(callers)]
    return float(np.quantile(each, 0.5, method="higher")) if len(each) >= LEAST_CALLERS else 1.0


def own_time_known(groups: SpanGroups, view: SpanView, *, least: int) -> Mapping[str, bool]:
    """Entities with well measured self time: `least` spans of an operation before and after the onset."""
    shift = groups.self_time.shift
    enough = (shift.baseline_count >= least) & (shift.fault_count >= least)
    return {view.entities[code]: True for code in np.unique(groups.self_time.entity[enough]).tolist()}


def _symptom_row(table: MetricTable, place: int, z: float, course: Floats) -> SymptomRow:
    row = table.rows[place]
    return SymptomRow(
        row.callee or row.owner,
        row.signal,
        row.meaning.kind,
        z,
        course,
        table.shift.null_up.shape[1],
        _instance(row),
    )


def _growth(usual: float, reached: float) -> float | None:
    return (reached - usual) / abs(usual) if usual != 0 and np.isfinite(reached) else None


def _has_room(row: MetricRow, usual: float, reached: float) -> bool:
    """Whether a resource stays far from full: by its share in use if known, otherwise by a small growth."""
    kind, full = row.meaning.kind, full_share(row)
    if full is not None and kind is not SignalKind.QUEUE and 0.0 <= reached <= full:
        return reached < NEARLY_FULL * full
    growth = _growth(usual, reached)
    return kind is SignalKind.CPU and growth is not None and 0 < growth < LEAST_GROWTH


def _use_of(table: MetricTable, places: Sequence[int]) -> Iterator[tuple[float, float]]:
    """How much of each resource is in use, usually and after the onset.

    Free amounts of a known total are converted to used amounts.
    """
    for first in range(0, len(places), BLOCK):
        block = places[first : first + BLOCK]
        rows = [table.rows[place] for place in block]
        wholes = [full_share(row) if row.meaning.harmful < 0 else None for row in rows]
        turned = np.array([whole is not None for whole in wholes])
        after = table.value[block, table.split : table.end]
        high = high_rows(np.where(turned[:, None], -after, after)).tolist()
        for level, most, whole in zip(table.shift.level[block].tolist(), high, wholes, strict=True):
            yield (level, most) if whole is None else (whole - level, whole + most)


def _instance(row: MetricRow) -> str | None:
    return row.entity if row.entity != row.owner else None


def _of_statistic(rows: list[SymptomRow], statistic: str | None) -> list[SymptomRow]:
    """For entities with series of the alert's statistic only those series; for others all of them."""
    exact = frozenset(words_of(statistic or ""))
    if not exact:
        return rows
    having = {(row.entity, row.kind) for row in rows if exact <= frozenset(words_of(row.signal))}
    return [
        row
        for row in rows
        if (row.entity, row.kind) not in having or exact <= frozenset(words_of(row.signal))
    ]


def _around_onset(table: MetricTable) -> Floats:
    """All rows, harm upwards, over the judged window and as many steps before it (at least two)."""
    length = max(table.end - table.split, 2)
    sign = np.array([row.meaning.harmful or 1 for row in table.rows], dtype=np.float64)
    return table.value[:, max(0, table.split - length) : table.end] * sign[:, None]


def _span_noise(null: Floats) -> float:
    """Three quarters of the noise: normal slices are shorter than the fault window and vary more."""
    return max(NOISE_FLOOR, float(np.quantile(null, 0.75))) if len(null) else NOISE_FLOOR
