"""Evidence that trouble originates in a candidate, and the candidate's callees without records.

Being slow or failing is a symptom: any callee may have caused it. The trouble originates in an entity if a
resource grew beyond its requests and has no room left, if time passes on the way to it that neither end
spent, if it fails while its callees are healthy, if it wrote lines of failure itself, or if its platform
reports a fault. If it calls something unseen, its failures and full pools may come from there. Time inside it
that no recorded callee accounts for means that the trouble starts in it or in something unseen that it calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from diagnosis_harness.analysis.clue import Clue, Modality
from diagnosis_harness.analysis.graph import CallGraph
from diagnosis_harness.analysis.meaning import SYMPTOMS
from diagnosis_harness.analysis.rank import Candidate
from diagnosis_harness.analysis.span_findings import ShareGroups
from diagnosis_harness.toolbox.clues import USUAL_CALL, SpanGroups
from diagnosis_harness.toolbox.metric_table import MetricTable
from diagnosis_harness.toolbox.span_table import SpanView

LOST_Z = 3.0
"""Widths by which a call must be missing to be lost: `share_shift` reaches them in no normal slice."""


class OwnOrigin(StrEnum):
    """Evidence that something happened in an entity itself."""

    RESOURCE = "resource"
    ON_THE_WAY = "on_the_way"
    OWN_FAILURES = "own_failures"
    OWN_LINES = "own_lines"
    OWN_TIME = "own_time"
    REPORTED = "reported"


_OF_MODALITY = {
    Modality.RESOURCE: OwnOrigin.RESOURCE,
    Modality.EDGE_GAP: OwnOrigin.ON_THE_WAY,
    Modality.ERRORS: OwnOrigin.OWN_FAILURES,
    Modality.SELF_TIME: OwnOrigin.OWN_TIME,
    Modality.LOG: OwnOrigin.OWN_LINES,
    Modality.STATE: OwnOrigin.REPORTED,
}


_BUSY_WHILE_WAITING = "SATURATION"
"""Fault kind of a resource held while waiting for a callee: a pool, a queue, threads."""
_ENDS_ITSELF = "CRASH"
"""Fault kind of a process that ends, possibly because it cannot reach a callee."""


@dataclass(frozen=True, slots=True)
class OwnEvidence:
    """What a candidate's own evidence is.

    Attributes:
        origins: the kinds found, in the order of `OwnOrigin`.
        unseen: callees with too little data, sorted: with no records at all, or without records of the
            calls made to them.
        open: whether the trouble may start in something that it calls, known by name or not.
    """

    origins: tuple[OwnOrigin, ...]
    unseen: tuple[str, ...]
    open: bool


@dataclass(frozen=True)  # without slots, which leave no room for cached values
class CalleeSight:
    """The records about the callees of an incident."""

    graph: CallGraph
    metrics: MetricTable | None
    spans: SpanView | None
    groups: SpanGroups | None

    def own_evidence(self, one: Candidate) -> OwnEvidence:
        """The candidate's findings that originate in it, and its unseen callees."""
        found = [clue for clue in one.clues if clue.excess > 0 and _is_own(clue)]
        if self.spans is not None and one.entity in self.spans.untraced:
            # Time of calls to an entity that writes no spans passed there or on the way.
            found = [clue for clue in found if clue.modality is not Modality.EDGE_GAP]
        kinds = {_OF_MODALITY.get(clue.modality) for clue in found}
        origins = tuple(origin for origin in OwnOrigin if origin in kinds)
        lost = self._callees_without_answer(one.entity)
        unseen = tuple(sorted({*self._callees_unseen(one.entity), *lost}))
        closed = any(_rules_out(clue, unseen=bool(unseen)) for clue in found)
        by_time_alone = OwnOrigin.OWN_TIME in origins
        return OwnEvidence(origins, unseen, open=not closed and (by_time_alone or bool(unseen)))

    def _callees_unseen(self, entity: str) -> frozenset[str]:
        """Callees without spans and without a symptom of their own."""
        return frozenset(self.graph.callees.get(entity, ())) - self._visible_entities

    @cached_property
    def _visible_entities(self) -> frozenset[str]:
        """Entities with spans, or with a symptom of their own."""
        traced = self.spans.entities if self.spans is not None else ()
        rows = self.metrics.rows if self.metrics is not None else ()
        measured = {row.owner for row in rows if row.meaning.kind in SYMPTOMS}
        return frozenset(traced) | measured

    def _callees_without_answer(self, entity: str) -> frozenset[str]:
        """Callees that its client spans no longer reach: the call is made, but does not arrive."""
        groups = self.groups.patterns if self.groups is not None else None
        if groups is None or self.spans is None or entity not in self.spans.entities:
            return frozenset()
        return _find_silent(groups, self.spans, self.spans.entities.index(entity))


def _is_own(clue: Clue) -> bool:
    """Whether a finding may originate in its entity: not written by another, and not a consequence.

    A resource with room to spare neither delays nor refuses requests: any cause of failures or waits also
    keeps it busier.
    """
    return clue.writer is None and not clue.passed_on and not clue.has_room


def _rules_out(clue: Clue, *, unseen: bool) -> bool:
    """Whether a finding rules out that the trouble starts in a callee.

    Failures, and resources held during a waiting call, rule it out only if there are no unseen callees,
    since they may come from there.
    """
    origin = _OF_MODALITY.get(clue.modality)
    if origin is OwnOrigin.RESOURCE:
        return not unseen or clue.fault_kind != _BUSY_WHILE_WAITING
    if origin is OwnOrigin.REPORTED:
        return not unseen or clue.fault_kind not in (_ENDS_ITSELF, _BUSY_WHILE_WAITING)
    return origin is OwnOrigin.ON_THE_WAY or (origin is OwnOrigin.OWN_FAILURES and not unseen)


def _find_silent(groups: ShareGroups, view: SpanView, code: int) -> frozenset[str]:
    clients = np.unique(
        view.spans.operation[view.calls.caller_row[view.spans.entity[view.calls.caller_row] == code]]
    )
    gone = (
        (groups.entity == code)
        & (groups.child_entity != code)
        & np.isin(groups.operation, clients)
        & (groups.shift.baseline >= USUAL_CALL)
        & (groups.shift.z < -LOST_Z)
    )
    return frozenset(view.entities[int(child)] for child in np.unique(groups.child_entity[gone]))
