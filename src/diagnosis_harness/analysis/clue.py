"""Defines a clue: one kind of evidence against one entity, on a scale that all kinds share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import log1p

import numpy as np

from diagnosis_harness.analysis.arrays import Floats

NOISE_FLOOR = 3.0  # a score below three widths is no finding, however quiet normal operation was
NOISE_SHARE = 0.95  # one normal window in twenty may reach the noise level in some entity
STEADY_NULL = 2.0  # 19 of 20 normal windows of a well-scaled series stay below this


class Modality(StrEnum):
    """Kinds of evidence whose errors are independent of one another."""

    SYMPTOM = "metric"  # latency, errors, availability of the entity itself, minus what its callees explain
    RESOURCE = "resource"  # its CPU, memory, queues
    SELF_TIME = "self_time"  # time inside its own spans
    EDGE_GAP = "edge_gap"  # time on the way to it
    ERRORS = "error"  # its spans that fail on their own, calls that it no longer makes
    STATE = "state"  # a platform report about it, missing reports, or being full
    LOG = "log"  # lines of failure that are new or more frequent, lines that no longer follow one another


class Nature(StrEnum):
    """How a caller experiences trouble. A cause must be able to produce its effect."""

    SLOW = "slow"
    FAILING = "failing"


@dataclass(frozen=True, slots=True)
class Clue:
    """A score of one modality against one entity.

    Attributes:
        z: robust score, 0 or more, larger is more unusual; already divided by what the series itself
            usually reaches.
        noise: the score that normal operation stays below, in all entities, in 19 of 20 windows.
        explained: the part that callees account for, in the same log units as `excess`.
        region: the signal, operation or call that shows it.
        fault_kind: the kind of fault it indicates (wire value of a fault kind).
        null_windows: the number of normal windows `noise` was learned from; 0 means that it is assumed.
        correlation: correlation with the alerting indicator, if it was used.
        growth: rise of a resource as a share of its usual level.
        crowd: noise of all series together, where `noise` is that of one series; see `symptom_clues`.
        instance: the part of the entity (pod, host) that shows it, if it is only a part.
        writer: the entity that wrote the log line, if it is a different one.
        passed_on: whether a callee of the entity may have caused it.
        has_room: whether it is a resource in use that is far from full: busier, but not a bottleneck.
    """

    entity: str
    modality: Modality
    z: float
    noise: float
    region: str
    fault_kind: str
    explained: float = 0.0
    explained_by: str | None = None
    null_windows: int = 0
    correlation: float | None = None
    instance: str | None = None
    growth: float | None = None
    crowd: float | None = None
    writer: str | None = None
    passed_on: bool = False
    has_room: bool = False

    @property
    def excess(self) -> float:
        """Log of the score over the noise, minus the explained part; above 0 it is a finding."""
        return log1p(self.z) - self.explained - log1p(self.noise)

    @property
    def natures(self) -> frozenset[Nature]:
        """How callers of the entity experience it.

        A resource that runs out makes an entity both slow and failing. So do failures that it logs and a
        part of it that does not run, because retries take time.
        """
        if self.modality in {Modality.RESOURCE, Modality.LOG, Modality.STATE}:
            return frozenset(Nature)
        if self.modality is Modality.ERRORS or self.fault_kind == "ERRORS":
            return frozenset({Nature.FAILING})
        return frozenset({Nature.SLOW})

    @property
    def crowd_excess(self) -> float:
        """The excess over the noise of all series together, regardless of the indicator."""
        return self.excess if self.crowd is None else self.excess + log1p(self.noise) - log1p(self.crowd)


def strongest(clues: list[Clue]) -> dict[tuple[str, Modality], Clue]:
    """The clue with the largest excess for each entity and modality; of equals the first by region."""
    best: dict[tuple[str, Modality], Clue] = {}
    for clue in clues:
        key = (clue.entity, clue.modality)
        known = best.get(key)
        if known is None or (-clue.excess, clue.region) < (-known.excess, known.region):
            best[key] = clue
    return best


def calibrate(score: Floats, null: Floats) -> tuple[Floats, Floats]:
    """Divide scores and null scores of each series by what it reaches normally.

    Calm series are left unchanged.

    In a series that deviates by ten widths every hour, another such deviation means little. Needs four
    normal windows.
    """
    if null.shape[1] < 4:
        return score, null
    usual = np.quantile(null, NOISE_SHARE, axis=1) / STEADY_NULL
    factor = np.maximum(usual, 1.0)
    return score / factor, null / factor[:, None]


def noise_level(null: Floats) -> float:
    """The level that the largest of many series stays below in 19 of 20 normal windows.

    `null` is (series, windows); windows of one column happened at about the same time.
    """
    if null.size == 0:
        return NOISE_FLOOR
    return max(NOISE_FLOOR, float(np.quantile(null.max(axis=0), NOISE_SHARE)))
