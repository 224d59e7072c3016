"""Finds caches whose hit ratio fell, and the stores behind them that receive more requests as a result.

A store that works harder because its cache lost its content is not broken: only its load changed. So the
cache's own ratio competes with the store's resources as their explanation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log1p

from diagnosis_harness.analysis.clue import Clue, Modality, calibrate, noise_level
from diagnosis_harness.analysis.graph import CallGraph
from diagnosis_harness.analysis.meaning import SignalKind
from diagnosis_harness.toolbox.clues import LEAST_DEMAND, demand_growth
from diagnosis_harness.toolbox.metric_table import MetricTable

_LOAD = frozenset({Modality.RESOURCE, Modality.SYMPTOM, Modality.SELF_TIME, Modality.EDGE_GAP})
"""What more requests do to a store; they do not explain failures of its own, or reports of them."""


@dataclass(frozen=True, slots=True)
class LostCache:
    """The clue of a cache's own ratio, and the stores that its callers use more since then."""

    clue: Clue
    behind: frozenset[str]


def find_lost_caches(table: MetricTable, graph: CallGraph) -> tuple[LostCache, ...]:
    """Every cache whose ratio fell further than usual, if a store behind it receives more requests."""
    places = [place for place, row in enumerate(table.rows) if row.meaning.kind is SignalKind.EFFICIENCY]
    if not places:
        return ()
    score, null = calibrate(*table.harm())
    noise, demand = noise_level(null[places]), demand_growth(table)
    found = []
    for place in places:
        row, z = table.rows[place], float(score[place])
        behind = frozenset(
            callee
            for caller in graph.callers.get(row.owner, ())
            for callee in graph.callees[caller]
            if callee != row.owner and demand.get(callee, 0.0) >= LEAST_DEMAND
        )
        if z > noise and behind:
            windows = null.shape[1]
            clue = Clue(row.owner, Modality.SYMPTOM, z, noise, row.signal, "DEPENDENCY", null_windows=windows)
            found.append(LostCache(clue, behind))
    return tuple(found)


def explain_by_caches(clues: Sequence[Clue], lost: Sequence[LostCache]) -> list[Clue]:
    """The clues with those of the caches, which explain the load of the stores behind them."""
    causes: Mapping[str, str] = {store: one.clue.entity for one in lost for store in one.behind}
    explained = [
        replace(clue, explained=log1p(clue.z), explained_by=causes[clue.entity])
        if clue.entity in causes and clue.modality in _LOAD
        else clue
        for clue in clues
    ]
    return [*explained, *(one.clue for one in lost)]
