"""Derives clues from log lines: failures that are new or more frequent, and lines in a changed order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import log1p
from typing import Final

import numpy as np

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.clue import NOISE_FLOOR, Clue, Modality
from diagnosis_harness.analysis.graph import CallGraph
from diagnosis_harness.analysis.log_faults import Mechanism, fault_kind_in, mechanism_of
from diagnosis_harness.analysis.log_order import NO_NEXT
from diagnosis_harness.analysis.log_patterns import LEAST_FACTOR, is_shift
from diagnosis_harness.toolbox.log_view import LogPattern, LogView, callees_to_blame
from diagnosis_harness.toolbox.wording import one_line

_HUNG_UP: Final = re.compile(
    r"reset|broken pipe|epipe|hang up|hung up|unexpected eof|disconnect"
    r"|(?:connection|stream|socket) (?:was )?(?:closed|aborted)",
    re.IGNORECASE,
)
"""What is written of a connection that the other end ended."""
NULL_SHARE: Final = 0.75
"""Three quarters: slices of normal lines are shorter than the time after the onset and vary more, as with
spans."""
ECHO: Final = 0.5
"""Share of a callee's log findings that its callers' lines merely repeat, the same as for symptoms."""
DEADLINE: Final = 0.5
"""Weight of a time-out against the callee: a deadline also passes because it is too short."""
REGION_MAX: Final = 80
"""Number of characters of a line used as a region: one line of a terminal."""


def log_clues(view: LogView, graph: CallGraph) -> list[Clue]:
    """Both kinds of clues, each with its own noise.

    What a callee's lines also report weighs less against its callers.

    A line that names a callee it failed to reach counts against that callee, not its writer.
    """
    found = [*_failures(view, graph), *_breaks(view)]
    strongest: dict[str, float] = {}
    for clue in found:
        strongest[clue.entity] = max(strongest.get(clue.entity, 0.0), clue.excess)
    return [_less_echo(clue, graph, strongest) for clue in found]


def region_of_pattern(pattern: LogPattern) -> str:
    """A pattern as a region: its template, cut short."""
    return one_line(pattern.template, most=REGION_MAX)


def region_of_break(first: LogPattern, then: LogPattern) -> str:
    """The part of code between two lines."""
    return f"{region_of_pattern(first)} before {region_of_pattern(then)}"


def _failures(view: LogView, graph: CallGraph) -> Iterator[Clue]:
    fails = np.array([one.fails for one in view.patterns], dtype=np.bool_)
    null = view.shift.null[fails].max(axis=0, initial=0.0)
    noise = _noise(null)
    for place in np.flatnonzero(fails & is_shift(view.shift) & (view.shift.z > 0)).tolist():
        pattern = view.patterns[place]
        callees = callees_to_blame(pattern, graph)
        phrase = mechanism_of(pattern.example)
        if phrase is not None and phrase.mechanism is Mechanism.GIVEN_UP:
            continue
        callees = callees or callers_that_hung_up(pattern)
        waited = bool(callees) and phrase is not None and phrase.mechanism is Mechanism.TIMEOUT
        for entity in callees or (pattern.entity,):
            clue = Clue(
                entity,
                Modality.LOG,
                float(view.shift.z[place]),
                noise,
                region_of_pattern(pattern),
                fault_kind_in(pattern.example),
                null_windows=len(null),
                writer=pattern.entity if callees else None,
            )
            yield replace(clue, explained=(1.0 - DEADLINE) * max(clue.excess, 0.0)) if waited else clue


def callers_that_hung_up(pattern: LogPattern) -> tuple[str, ...]:
    """The caller that a line reports as having ended a connection, if the line names no callee."""
    return pattern.callees if _HUNG_UP.search(pattern.example) else ()


def explain_by_callers(clues: Sequence[Clue], view: LogView, graph: CallGraph) -> list[Clue]:
    """Clues where the symptoms of whoever was hung up on are an effect of callers that fail by themselves.

    A process that crashes ends its connections in the middle of a request, and whom it calls counts that as
    failures.
    """
    failing = {
        c.entity
        for c in clues
        if c.modality is Modality.LOG and c.writer in (None, c.entity) and c.excess > 0
    }
    by: dict[str, str] = {}
    for place in np.flatnonzero(is_shift(view.shift) & (view.shift.z > 0)).tolist():
        pattern = view.patterns[place]
        if pattern.fails and not callees_to_blame(pattern, graph):
            for name in failing.intersection(callers_that_hung_up(pattern)):
                by[pattern.entity] = name
    return [
        replace(clue, explained=log1p(clue.z), explained_by=by[clue.entity])
        if clue.modality is Modality.SYMPTOM and clue.entity in by and clue.excess > 0
        else clue
        for clue in clues
    ]


def _breaks(view: LogView) -> Iterator[Clue]:
    order = view.order
    noise = _noise(order.null)
    for place in own_breaks(view):
        first, then = view.patterns[order.first[place]], view.patterns[order.then[place]]
        yield Clue(
            first.entity,
            Modality.LOG,
            float(order.z[place]),
            noise,
            region_of_break(first, then),
            "ERRORS",
            null_windows=len(order.null),
        )


def own_breaks(view: LogView) -> Sequence[int]:
    """Broken orders with a usual next line, except where the new line reports that a call to another failed.

    A request that ends because a call failed was broken by the callee.
    """
    order, shift = view.order, view.shift
    more = (shift.after > 0) & (shift.after > LEAST_FACTOR * shift.usual)
    failed = {view.patterns[place].entity for place in np.flatnonzero(more) if view.patterns[place].callees}
    return [
        place
        for place, first in enumerate(order.first.tolist())
        if order.then[place] != NO_NEXT and view.patterns[first].entity not in failed
    ]


def _less_echo(clue: Clue, graph: CallGraph, strongest: dict[str, float]) -> Clue:
    callees = [name for name in graph.callees.get(clue.entity, ()) if strongest.get(name, 0.0) > 0]
    if not callees:
        return clue
    loudest = max(callees, key=lambda name: (strongest[name], name))
    return replace(clue, explained=clue.explained + ECHO * strongest[loudest], explained_by=loudest)


def _noise(null: Floats) -> float:
    return max(NOISE_FLOOR, float(np.quantile(null, NULL_SHARE))) if len(null) else NOISE_FLOOR
