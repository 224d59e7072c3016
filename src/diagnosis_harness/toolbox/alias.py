"""Finds nodes of the call graph that are only views of another node, such as a load balancer of its service.

Such a node has no callees and no resources, sees no more requests than the service, has the same caller,
and its symptoms follow the same course. So its trouble is the service's. A dependency of the service is not
a view: there the course is passed on along a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.clue import Clue
from diagnosis_harness.analysis.graph import CallGraph, reachable
from diagnosis_harness.analysis.meaning import RESOURCES, SYMPTOMS, SignalKind, SignalSide
from diagnosis_harness.analysis.symptom import correlation
from diagnosis_harness.toolbox.metric_table import MetricTable

ALIKE = 0.95
"""Required correlation of every symptom that moved at both: with the five points of a coarse recording,
chance
reaches 0.88 once in twenty pairs, and two symptoms must agree if both are recorded."""
LEAST_MOVE = 3.0
"""Widths from which the course of a symptom can be compared; below that it is noise."""
MOST_REQUESTS = 1.1
"""A view sees at most the same requests; up to a tenth more is a difference in counting."""


def find_aliases(table: MetricTable, graph: CallGraph) -> Mapping[str, str]:
    """Views by name, each with the node that it is a view of."""
    seen = _Seen.of(table)
    found: dict[str, str] = {}
    for leaf in sorted(set(graph.callers) & seen.symptoms.keys() - graph.callees.keys() - seen.resourced):
        siblings = {node for caller in graph.callers[leaf] for node in graph.callees[caller]} - {leaf}
        for node in sorted(siblings & graph.callees.keys() & seen.symptoms.keys()):
            if leaf not in reachable(graph, node) and seen.may_view(leaf, node):
                found.setdefault(leaf, node)
    return found


@dataclass(frozen=True, slots=True)
class _Seen:
    """Measurements of each entity: symptoms by signal, usual requests, and whether it has resources."""

    score: Floats
    course: Floats
    symptoms: Mapping[str, Mapping[str, int]]
    requests: Mapping[str, float]
    resourced: frozenset[str]

    @classmethod
    def of(cls, table: MetricTable) -> _Seen:
        symptoms: dict[str, dict[str, int]] = {}
        requests: dict[str, float] = {}
        resourced = set()
        for place, row in enumerate(table.rows):
            if row.caller is not None or row.meaning.side is not SignalSide.OWN:
                continue
            if row.meaning.kind in SYMPTOMS:
                symptoms.setdefault(row.owner, {})[row.signal] = place
            elif row.meaning.kind in RESOURCES:
                resourced.add(row.owner)
            elif row.meaning.kind is SignalKind.TRAFFIC and np.isfinite(table.value[place]).any():
                requests[row.owner] = max(requests.get(row.owner, 0.0), float(np.nanmean(table.value[place])))
        length = max(table.end - table.split, 2)
        course = table.value[:, max(0, table.split - length) : table.end]
        return cls(table.harm()[0], course, symptoms, requests, frozenset(resourced))

    def may_view(self, one: str, other: str) -> bool:
        """Whether one sees no more requests than the other, and all symptoms that moved at both agree."""
        if one not in self.requests or other not in self.requests:
            return False
        pairs = [
            (place, self.symptoms[other][signal])
            for signal, place in self.symptoms[one].items()
            if signal in self.symptoms[other]
        ]
        moved = [(a, b) for a, b in pairs if min(self.score[a], self.score[b]) >= LEAST_MOVE]
        return (
            self.requests[one] <= MOST_REQUESTS * self.requests[other]
            and bool(moved)
            and all(correlation(self.course[a], self.course[b]) >= ALIKE for a, b in moved)
        )


def merge_aliases(clues: Iterable[Clue], aliases: Mapping[str, str]) -> list[Clue]:
    """The clues, with those of a view charged to its node unless the node shows the same itself."""
    every = list(clues)
    own = {(clue.entity, clue.modality) for clue in every if clue.excess > 0}
    return [
        clue if clue.entity not in aliases else replace(clue, entity=aliases[clue.entity])
        for clue in every
        if clue.entity not in aliases or (aliases[clue.entity], clue.modality) not in own
    ]
