"""Log lines of an incident and of normal operation, compared for one onset."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.analysis.arrays import Codes, Flags, Floats, Ints
from diagnosis_harness.analysis.graph import CallGraph
from diagnosis_harness.analysis.log_faults import reports_failure
from diagnosis_harness.analysis.log_order import CUT_S, BrokenOrder, OrderedLines, compare_order
from diagnosis_harness.analysis.log_patterns import PatternShift, TimedLines, compare_patterns, slice_of
from diagnosis_harness.analysis.log_templates import merge_texts
from diagnosis_harness.analysis.log_text import code_place, exception_of
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.toolbox.named_entities import find_callees
from diagnosis_harness.toolbox.ports import LogShape, LogTable, Recording, Sources

JUDGED_S: Final = 3_600.0
"""How long after the onset lines are judged, the same as for metrics; later lines are unrelated."""
PLACE_TEXTS: Final = 30
"""Number of texts of one place in the code beyond which it is a helper that all lines pass through."""
LEAST_PLACES: Final = 3
"""Number of places that an entity must name before one of them can be such a helper."""
_LEFT_OUT, _AFTER = -2, -1  # below zero, where the slices of normal operation begin to count
_Number = TypeVar("_Number", bound=np.generic)


@dataclass(frozen=True, slots=True)
class LogPattern:
    """Lines that one statement of one entity writes at one level.

    Attributes:
        entity: the service.
        template: the common part of its lines.
        example: one of its lines.
        fails: whether it reports a failure.
        callees: the callees that it names.
    """

    entity: str
    level: str | None
    template: str
    example: str
    fails: bool
    callees: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LogView:
    """Patterns with their comparison."""

    patterns: tuple[LogPattern, ...]
    shift: PatternShift
    order: BrokenOrder
    first_s: Floats
    """The time of the first line of each pattern after the onset; NaN if there is none."""
    window: TimeWindow
    normal_s: float
    begins_s: tuple[float, float]
    """The first line of the incident's recording, and of the baseline's; NaN if there is none."""

    def lines_of(self, wanted: Collection[str] | None) -> int:
        """How many lines of these writers were compared, on both sides; of all writers if none are given."""
        of_them = np.array([wanted is None or one.entity in wanted for one in self.patterns], np.bool_)
        return int((self.shift.before + self.shift.after)[of_them].sum()) if self.normal_s > 0 else 0

    def edges(self) -> frozenset[tuple[str, str]]:
        """Calls that lines of failure name."""
        return frozenset((one.entity, callee) for one in self.patterns for callee in one.callees)


@dataclass(frozen=True, slots=True)
class LogRecordings:
    """The tables of both recordings, read once; everything computed from them depends on the onset."""

    incident: LogTable
    baseline: LogTable
    patterns: tuple[LogPattern, ...]
    pattern: tuple[Codes, Codes]
    """For each line of each recording the index of its pattern; -1 for a line without an entity."""


def read_log_recordings(
    ctx: RunContext, sources: Sources, *, known: Collection[str], owners: Mapping[str, str]
) -> LogRecordings | None:
    """All lines with their patterns; None if the incident recording has none."""
    if sources.logs is None:
        return None
    incident = sources.logs.table(ctx, Recording.INCIDENT)
    if len(incident) == 0:
        return None
    baseline = sources.logs.table(ctx, Recording.BASELINE)
    shapes = (*incident.shapes, *baseline.shapes)
    counts = np.concatenate([_lines_of(table) for table in (incident, baseline)])
    templates = _templates(shapes, counts)
    places: dict[tuple[str, str | None, str], int] = {}
    patterns: list[LogPattern] = []
    of_shape = np.full(len(shapes), -1, dtype=np.int32)
    for at, (shape, template) in enumerate(zip(shapes, templates, strict=True)):
        if not shape.entity:
            continue
        entity = owners.get(shape.entity, shape.entity)
        key = (entity, shape.level, template)
        if key not in places:
            places[key] = len(patterns)
            fails = reports_failure(shape.level, shape.example)
            callees = find_callees(shape.example, shape.entity, known, owners) if fails else ()
            patterns.append(LogPattern(entity, shape.level, template, shape.example, fails, callees))
        of_shape[at] = places[key]
    split = len(incident.shapes)
    return LogRecordings(
        incident,
        baseline,
        tuple(patterns),
        (
            of_shape[:split][incident.shape],
            of_shape[split:][baseline.shape] if len(baseline) else np.zeros(0, np.int32),
        ),
    )


def build_log_view(
    recordings: LogRecordings, *, onset_s: float, until_s: float | None = None
) -> LogView | None:
    """The comparison around an onset; None if the recording has no line after it."""
    time_s = recordings.incident.time_s
    end_s = min(float(time_s[-1]) + 1.0, onset_s + JUDGED_S if until_s is None else until_s)
    if end_s <= onset_s or not ((time_s >= onset_s) & (time_s < end_s)).any():
        return None
    start_s = float(time_s[0])
    early_s = max(0.0, onset_s - start_s)
    other_s = _extent_s(recordings.baseline)
    normal_s = early_s + other_s
    part = np.where(time_s >= end_s, np.int8(_LEFT_OUT), np.int8(_AFTER))
    early = time_s < onset_s
    part[early] = slice_of(time_s[early], start_s, normal_s, 0.0)
    other = (
        slice_of(recordings.baseline.time_s, float(recordings.baseline.time_s[0]), normal_s, early_s)
        if other_s
        else np.zeros(len(recordings.baseline), np.int8)
    )
    pattern = _one(recordings.pattern)
    when = _one((time_s, recordings.baseline.time_s))
    slices = _one((part, other))
    context = _one(
        (
            recordings.incident.context,
            _renumber_contexts(recordings.incident.context, recordings.baseline.context),
        )
    )
    cut = _one((_cut(recordings.incident), _cut(recordings.baseline)))
    if not (used := pattern >= 0).all():
        pattern, when, slices, context, cut = (
            pattern[used], when[used], slices[used], context[used], cut[used]
        )  # fmt: skip
    count = len(recordings.patterns)
    seconds = np.floor(when).astype(np.int64)
    lines = TimedLines(pattern, seconds, slices, count, normal_s, end_s - onset_s)
    shift = compare_patterns(lines, _demand(recordings.patterns, lines))
    return LogView(
        recordings.patterns,
        shift,
        compare_order(OrderedLines(pattern, context, slices, cut, count)),
        _first_after(pattern, when, slices == _AFTER, count),
        TimeWindow(onset_s, end_s),
        normal_s,
        (start_s, float(recordings.baseline.time_s[0]) if other_s else np.nan),
    )


def callees_to_blame(pattern: LogPattern, graph: CallGraph) -> tuple[str, ...]:
    """The callees that a line of failure counts against, instead of its writer.

    Without the writer's callers.
    """
    callers = graph.callers.get(pattern.entity, ())
    callees = graph.callees.get(pattern.entity, ())
    return tuple(name for name in pattern.callees if name in callees or name not in callers)


def _templates(shapes: Sequence[LogShape], counts: Ints) -> list[str]:
    """The template of each shape: its place in the code, otherwise its text with values replaced."""
    lines: Counter[str] = Counter()
    for shape, count in zip(shapes, counts.tolist(), strict=True):
        lines[shape.text] += count
    merged = merge_texts(lines)
    texts: dict[tuple[str | None, str], set[str]] = defaultdict(set)
    named: dict[str | None, set[str]] = defaultdict(set)
    places = [code_place(shape.example) for shape in shapes]
    for shape, place in zip(shapes, places, strict=True):
        if place is not None:
            texts[shape.entity, place].add(merged[shape.text])
            named[shape.entity].add(place)
    return [
        f"{place} {exception_of(shape.example) or ''}".strip()
        if place is not None
        and len(texts[shape.entity, place]) <= PLACE_TEXTS
        and len(named[shape.entity]) >= LEAST_PLACES
        else merged[shape.text]
        for shape, place in zip(shapes, places, strict=True)
    ]


def _lines_of(table: LogTable) -> Ints:
    return np.bincount(table.shape, minlength=len(table.shapes)).astype(np.int64)


def _extent_s(table: LogTable) -> float:
    return float(table.time_s[-1] - table.time_s[0]) if len(table) else 0.0


def _demand(patterns: Sequence[LogPattern], lines: TimedLines) -> Floats:
    """How much more lines without failures each pattern's entity wrote: more work brings more failures."""
    entities = {name: code for code, name in enumerate(sorted({one.entity for one in patterns}))}
    owner = np.array([entities[one.entity] for one in patterns], dtype=np.int64)
    calm = ~np.array([one.fails for one in patterns], dtype=np.bool_)
    rows = calm[lines.pattern] if len(lines.pattern) else np.zeros(0, np.bool_)
    after = np.bincount(owner[lines.pattern[rows & (lines.slice == _AFTER)]], minlength=len(entities))
    before = np.bincount(owner[lines.pattern[rows & (lines.slice >= 0)]], minlength=len(entities))
    expected = before * lines.fault_s / max(lines.normal_s, 1e-9)
    grown = np.maximum((after + 1.0) / (expected + 1.0), 1.0)
    return np.where(calm, 1.0, grown[owner])


def _cut(table: LogTable) -> Flags:
    """Lines of contexts that may continue after the end of the recording."""
    if len(table) == 0:
        return np.zeros(0, np.bool_)
    late = np.zeros(int(table.context.max()) + 2, np.bool_)
    late[table.context[table.time_s > table.time_s[-1] - CUT_S]] = True  # -1 is the last
    return late[table.context]


def _renumber_contexts(context: Codes, others: Codes) -> Codes:
    """The contexts of another recording, renumbered so that the first does not use them.

    -1 if there is none.
    """
    shift = int(context.max(initial=-1)) + 1
    return np.where(others >= 0, others + shift, -1).astype(np.int32)


def _one(columns: tuple[NDArray[_Number], NDArray[_Number]]) -> NDArray[_Number]:
    """The concatenated columns; the first one unchanged if the other is empty."""
    return np.concatenate(columns) if len(columns[1]) else columns[0]


def _first_after(pattern: Codes, when: Floats, after: Flags, count: int) -> Floats:
    first = np.full(count, np.inf)
    np.minimum.at(first, pattern[after], when[after])
    return np.where(np.isfinite(first), first, np.nan)
