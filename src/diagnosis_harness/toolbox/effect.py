"""What the affected entity shows of the incident: whether it moved, is known to be calm, or is unknown.

A cause needs an effect. A series is known to be calm only with enough points after the onset and enough
normal operation to compare with; otherwise it is unknown.
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
from diagnosis_harness.toolbox.metric_table import MetricTable
from diagnosis_harness.toolbox.span_table import SpanView


class EffectState(StrEnum):
    """Whether something is wrong at the affected entity."""

    SHOWN = "shown"
    NORMAL = "normal"  # known to be within what normal operation shows
    UNKNOWN = "unknown"  # nothing is measured of it, or too little to tell


@dataclass(frozen=True, slots=True)
class Effect:
    """What the affected entity shows. `natures` is empty where nothing is shown."""

    state: EffectState
    natures: frozenset[Nature] = frozenset()


def effect_of(
    indicator: Indicator | None,
    metrics: MetricTable | None,
    spans: SpanView | None,
    victims: AbstractSet[str],
    *,
    part: str | None = None,
    reported: bool = False,
) -> Effect:
    """What is wrong at the affected entity, or at any of several where nobody said which.

    The alerting series decides where its state is known. Where it is not, any symptom of the entity does, by
    its own series, the mean of its instances, its spans, or its platform: `reported` says that this one
    reports a fault of it. Of one instance (`part`) its own series decide, and its service's only for what the
    instance does not measure itself.
    """
    if indicator is not None and indicator.known:
        if indicator.moved:
            return Effect(EffectState.SHOWN, frozenset({indicator.nature}))
        return Effect(EffectState.NORMAL)
    looks = list(_metric_looks(metrics, {part})) if part is not None else []
    measured = {nature for nature, _ in looks}
    others = (*_metric_looks(metrics, victims), *_span_looks(spans, victims))
    looks += [look for look in others if look[0] not in measured]
    if reported:
        looks += [(nature, True) for nature in Nature]
    if indicator is not None and indicator.moved:
        looks.append((indicator.nature, True))
    shown = frozenset(nature for nature, moved in looks if moved)
    if shown:
        return Effect(EffectState.SHOWN, shown)
    # An alerting series of which too little is known may still be wrong: others being calm acquits nobody.
    return Effect(EffectState.NORMAL if looks and indicator is None else EffectState.UNKNOWN)


def _metric_looks(table: MetricTable | None, victims: AbstractSet[str]) -> Iterator[tuple[Nature, bool]]:
    """For each symptom of the entities of which enough is known: its nature, and whether it moved."""
    if table is None:
        return
    places = [
        place
        for place, row in enumerate(table.rows)
        if not victims.isdisjoint((row.owner, row.entity))
        and row.caller is None
        and (row.meaning.side is SignalSide.OWN or row.callee is not None)  # it feels what it says of another
    ]
    for one in symptoms_of(table, places):
        if one.known:
            yield one.nature, one.moved


def _span_looks(view: SpanView | None, victims: Collection[str]) -> Iterator[tuple[Nature, bool]]:
    """Whether the entities' spans take longer or fail more often, whatever callee is to blame."""
    if view is None:
        return
    codes = [code for code, name in enumerate(view.entities) if name in victims]
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


def can_bring_about(effect: Effect, natures: Collection[Nature]) -> bool:
    """Whether the findings of a cause can produce the effect: both slow, or both fail.

    Slow work also makes calls time out; failing work makes nobody slow.
    """
    return (
        not effect.natures
        or not natures
        or any(nature in effect.natures or nature is Nature.SLOW for nature in natures)
    )
