"""All metric series of an incident as one table on shared steps, together with the baseline's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.meaning import (
    SYMPTOMS,
    SignalForm,
    SignalKind,
    SignalMeaning,
    SignalSide,
    usual_meaning,
)
from diagnosis_harness.analysis.name_meaning import meaning_of
from diagnosis_harness.analysis.series import Grid, is_cumulative
from diagnosis_harness.analysis.shift import Shift, shift_of
from diagnosis_harness.analysis.signal_vocabulary import SIDE_WORDS
from diagnosis_harness.analysis.signal_words import words_of
from diagnosis_harness.analysis.word_meaning import is_counter_name
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.metric_grid import MetricSeries
from diagnosis_harness.toolbox.metric_row import MetricRow
from diagnosis_harness.toolbox.ports import UNSTATED, Series, SeriesMeaning
from diagnosis_harness.toolbox.rare_events import score_rare_events
from diagnosis_harness.toolbox.replaced_instances import add_replaced_services

MOST_AFTER_S = 3_600.0  # an incident is judged by its first hour
NAME_WORDS = 2  # words of an entity that a signal may be named after: one-word names are everyday words too


@dataclass(frozen=True, slots=True)
class MetricTable:
    """Rows with their shift; `time_s` and `value` hold the incident recording on equal steps.

    `baseline` holds the recording of normal operation, row by row; it has no columns if there is none.

    `split` is the first column at or after the onset, `end` the first column beyond the judged window.
    """

    rows: tuple[MetricRow, ...]
    time_s: Floats
    value: Floats
    split: int
    end: int
    step_s: float
    shift: Shift
    baseline_points: int
    baseline: Floats

    def harm(self) -> tuple[Floats, Floats]:
        """Score in the harmful direction, also of normal windows; 0 for harmless signals."""
        sign = np.array([row.meaning.harmful for row in self.rows], dtype=np.int64)
        score = np.where(sign > 0, self.shift.up, np.where(sign < 0, self.shift.down, 0.0))
        rises, falls = sign[:, None] > 0, sign[:, None] < 0
        null = np.where(rises, self.shift.null_up, np.where(falls, self.shift.null_down, 0.0))
        return score, null


def build_metric_table(
    ctx: RunContext,
    series: MetricSeries,
    *,
    onset_s: float,
    until_s: float | None = None,
    owners: Mapping[str, str],
) -> MetricTable | None:
    """The table for an onset; None if the incident has no series.

    Args:
        until_s: the end of the judged window; None is an hour after the onset.
    """
    entities = frozenset(series.entities | set(owners.values()))
    named = {words: name for name in sorted(entities) if len(words := words_of(name)) >= NAME_WORDS}
    gridded = series.on_grid(ctx, lambda one: _row(one, owners, entities, named), anchor_s=onset_s)
    return (
        None
        if gridded is None
        else _assemble(gridded.rows, gridded.incident, gridded.baseline, onset_s=onset_s, until_s=until_s)
    )


def _assemble(
    rows: Sequence[MetricRow], grid: Grid, base: Grid, *, onset_s: float, until_s: float | None
) -> MetricTable:
    split = int(np.searchsorted(grid.time_s, onset_s))
    end_s = onset_s + MOST_AFTER_S if until_s is None else until_s
    end = max(split, int(np.searchsorted(grid.time_s, end_s)))
    rows, value, baseline = add_replaced_services(rows, grid.value, base.value, split=split)
    all_rows, extra, extra_base = _call_gaps(rows, value, baseline)
    value = np.concatenate((value, extra)) if len(extra) else value
    baseline = np.concatenate((baseline, extra_base)) if len(extra) else baseline
    shift = shift_of(
        value[:, :split], value[:, split:end], baseline, zero=zero_rows(all_rows, value, baseline)
    )
    shift = score_rare_events(
        all_rows,
        shift,
        normal=lambda place: np.concatenate((baseline[place], value[place, :split])),
        after=value[:, split:end],
        step_s=grid.step_s,
    )
    return MetricTable(
        all_rows,
        grid.time_s,
        value,
        split,
        end,
        grid.step_s,
        shift,
        int(np.isfinite(base.value).any(axis=0).sum()),
        baseline,
    )


def _call_gaps(
    rows: Sequence[MetricRow], value: Floats, baseline: Floats
) -> tuple[tuple[MetricRow, ...], Floats, Floats]:
    """An additional row for each call measured at both ends: the caller's latency minus the callee's."""
    callee_side = {
        (row.caller, row.entity, _sideless(row.signal)): place
        for place, row in enumerate(rows)
        if row.caller is not None
        and row.meaning.side is SignalSide.OWN
        and row.meaning.kind is SignalKind.LATENCY
    }
    found: list[MetricRow] = []
    pairs: list[tuple[int, int]] = []
    for place, row in enumerate(rows):
        if row.meaning.side is SignalSide.OUTGOING and row.meaning.kind is SignalKind.LATENCY:
            twin = callee_side.get((row.caller or "", row.entity, _sideless(row.signal)))
            if twin is not None and row.caller is not None:
                meaning = SignalMeaning(SignalKind.LATENCY, SignalSide.BETWEEN, 1)
                name = f"{row.signal} minus {rows[twin].signal}"
                found.append(MetricRow(row.entity, name, row.unit, meaning, row.owner, row.caller))
                pairs.append((place, twin))
    if not pairs:
        return tuple(rows), value[:0], baseline[:0]
    near, far = np.array(pairs).T
    return (
        (*rows, *found),
        np.maximum(value[near] - value[far], 0),
        np.maximum(baseline[near] - baseline[far], 0),
    )


def zero_rows(rows: Sequence[MetricRow], value: Floats, baseline: Floats) -> Floats:
    """Where a row's scale begins: 1 or 100 for a share of availability, by its largest value, else 0.

    A count of available replicas or hosts begins at 0 like any other count.
    """
    zero = np.zeros(len(rows))
    for place, row in enumerate(rows):
        meaning = row.meaning
        if meaning.kind is SignalKind.AVAILABILITY and meaning.form is not SignalForm.GAUGE:
            largest = max(_largest(value[place]), _largest(baseline[place]))
            zero[place] = 1.0 if largest <= 1.0 else max(100.0, largest)
    return zero


def _largest(value: Floats) -> float:
    finite = value[np.isfinite(value)]
    return float(finite.max()) if len(finite) else 0.0


def _sideless(signal: str) -> tuple[str, ...]:
    """The words of a signal's name without those for the end of a call at which it was measured."""
    return tuple(word for word in words_of(signal) if word not in SIDE_WORDS)


def decide_meaning(
    signal: str, unit: str | None, stated: SeriesMeaning, *, entity: str = ""
) -> SignalMeaning:
    """How a series is judged: as its source states, otherwise by its name."""
    named = meaning_of(signal, unit, entity=entity)
    if stated == UNSTATED:
        return named
    if stated.kind is not None and stated.kind is not named.kind:
        named = replace(usual_meaning(stated.kind, named.side), form=named.form, unit=named.unit)
    return replace(
        named,
        side=named.side if stated.side is None else stated.side,
        harmful=named.harmful if stated.harmful is None else stated.harmful,
        form=named.form if stated.form is None else stated.form,
    )


def _is_counter(one: Series, meaning: SignalMeaning) -> bool:
    if meaning.form is not None:
        return meaning.form is SignalForm.COUNTER
    return is_counter_name(words_of(one.signal))


def _row(
    one: Series, owners: Mapping[str, str], entities: frozenset[str], named: Mapping[tuple[str, ...], str]
) -> MetricRow:
    entity, caller, name = one.entity, one.meaning.caller, one.signal
    if caller is None and "->" in entity:
        caller, _, entity = (part.strip() for part in entity.partition("->"))
    elif caller is None and "_from_" in name and name.rpartition("_from_")[2] in entities:
        name, _, caller = name.rpartition("_from_")
    meaning = decide_meaning(name, one.unit, one.meaning, entity=entity)
    rate = _is_counter(one, meaning) and is_cumulative(one.value)
    unit = one.unit if one.unit is not None or meaning.unit == "1" else meaning.unit
    unit = f"{unit or '1'}/s" if rate else unit
    owner = owners.get(entity, entity)
    from_owner = None if caller is None else owners.get(caller, caller)
    callee = None
    if from_owner is None and one.meaning.side is None and meaning.kind in SYMPTOMS:
        found = _entity_in(words_of(name), named)
        callee = None if found is None or owners.get(found, found) == owner else owners.get(found, found)
        meaning = meaning if callee is None else replace(meaning, side=SignalSide.OUTGOING)
    return MetricRow(entity, one.signal, unit, meaning, owner, from_owner, rate, callee)


def _entity_in(words: tuple[str, ...], named: Mapping[tuple[str, ...], str]) -> str | None:
    """The entity that a signal is named after; the longest name if there are several."""
    lengths = sorted({len(each) for each in named}, reverse=True)
    places = ((start, length) for length in lengths for start in range(len(words) - length + 1))
    found = (named.get(words[start : start + length]) for start, length in places)
    return next((name for name in found if name is not None), None)
