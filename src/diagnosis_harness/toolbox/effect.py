"""Decides whether the affected entity shows the incident: it moved, is known to be calm, or is unknown.

A cause needs an effect. A series is known to be calm only with enough points after the onset and enough
normal operation to compare with; otherwise its state is unknown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from diagnosis_harness.analysis.clue import NOISE_FLOOR, Nature
from diagnosis_harness.analysis.meaning import SignalSide
from diagnosis_harness.analysis.span_findings import any_failure_groups, self_time_groups
from diagnosis_harness.toolbox.indicator import Indicator, symptoms_of
from diagnosis_harness.toolbox.metric_row import MetricRow
from diagnosis_harness.toolbox.metric_table import MetricTable
from diagnosis_harness.toolbox.span_table import SpanView


class EffectState(StrEnum):
    """Whether the affected entity shows a problem."""

    SHOWN = "shown"
    NORMAL = "normal"  # known to stay within normal operation
    UNKNOWN = "unknown"  # not measured, or too little data


@dataclass(frozen=True, slots=True)
class Effect:
    """The state of the affected entity. `natures` is empty if it shows nothing."""

    state: EffectState
    natures: frozenset[Nature] = frozenset()


def effect_of(
    indicator: Indicator | None,
    metrics: MetricTable | None,
    spans: SpanView | None,
    affected: AbstractSet[str],
    *,
    part: str | None = None,
    reported: bool = False,
) -> Effect:
    """The problem at the affected entity, or at any of several if the question names none.

    If the state of the alerting series is known, it decides. Otherwise any symptom of the entity does: in
    its own series, the mean of its instances, its spans, or its platform (`reported` means that the
    platform reports a fault of it). For a single instance (`part`) its own series decide, and those of its
    service only for what the instance does not measure.
    """
    if indicator is not None and indicator.known:
        if indicator.moved:
            return Effect(EffectState.SHOWN, frozenset({indicator.nature}))
        return Effect(EffectState.NORMAL)
    judged = list(_judge_metrics(metrics, {part})) if part is not None else []
    measured = {nature for nature, _ in judged}
    others = (*_judge_metrics(metrics, affected), *_judge_spans(spans, affected))
    judged += [each for each in others if each[0] not in measured]
    if reported:
        judged += [(nature, True) for nature in Nature]
    if indicator is not None and indicator.moved:
        judged.append((indicator.nature, True))
    shown = frozenset(nature for nature, moved in judged if moved)
    if shown:
        return Effect(EffectState.SHOWN, shown)
    # If the alerting series has too little data, something may still be wrong, however calm the others are.
    return Effect(EffectState.NORMAL if judged and indicator is None else EffectState.UNKNOWN)


def _judge_metrics(table: MetricTable | None, affected: AbstractSet[str]) -> Iterator[tuple[Nature, bool]]:
    """For each symptom of the entities with enough data: its nature, and whether it moved."""
    if table is None:
        return
    places = [place for place, row in enumerate(table.rows) if _is_felt_by(affected, row)]
    for one in symptoms_of(table, places):
        if one.known:
            yield one.nature, one.moved


def _is_felt_by(affected: AbstractSet[str], row: MetricRow) -> bool:
    """Whether a series is of these entities: their own, what they say of another, or a call that they make.

    Their users wait for those calls as for their own work.
    """
    if row.caller is not None:
        return row.caller in affected
    is_own = row.meaning.side is SignalSide.OWN or row.callee is not None
    return is_own and not affected.isdisjoint((row.owner, row.entity))


def _judge_spans(view: SpanView | None, affected: Collection[str]) -> Iterator[tuple[Nature, bool]]:
    """Whether the entities' spans take longer or fail more often, whichever callee is responsible."""
    if view is None:
        return
    codes = [code for code, name in enumerate(view.entities) if name in affected]
    rows = np.isin(view.spans.entity, codes)
    if not rows.any():
        return
    times = self_time_groups(view.spans, view.spans.duration_s, view.fault, view.recording)
    mine = np.isin(times.entity, codes)
    if mine.any() and len(times.null):
        noise = max(NOISE_FLOOR, float(np.quantile(times.null, 0.75)))
        yield Nature.SLOW, bool(times.shift.z[mine].max() > noise)
    shares = any_failure_groups(view.spans, view.fault, view.recording)
    if shares is None:
        return
    mine = np.isin(shares.entity, codes)
    if mine.any() and len(shares.null):
        noise = max(NOISE_FLOOR, float(np.quantile(shares.null, 0.75)))
        yield Nature.FAILING, bool(shares.shift.z[mine].max() > noise)


def can_produce(effect: Effect, natures: Collection[Nature]) -> bool:
    """Whether the findings of a cause can produce the effect: both slow, or both fail.

    Slow work also makes calls time out; failing work does not make anything slow.
    """
    return (
        not effect.natures
        or not natures
        or any(nature in effect.natures or nature is Nature.SLOW for nature in natures)
    )
