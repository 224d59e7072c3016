"""One kind of evidence against one entity, on a scale that all kinds share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from math import log1p

import numpy as np

from diagnosis_harness.analysis.arrays import Floats

NOISE_FLOOR = 3.0  # a score below three widths is no finding, however quiet normal operation was
NOISE_SHARE = 0.95  # one normal window in twenty may reach the noise level in some entity
STEADY_NULL = 2.0  # what the calmest nineteen of twenty normal windows of a well-scaled series stay below


class Modality(StrEnum):
    """Kinds of evidence that can be wrong independently of one another."""

    SYMPTOM = "metric"  # latency, errors, availability of the entity itself, minus what its callees explain
    RESOURCE = "resource"  # its CPU, memory, queues
    SELF_TIME = "self_time"  # time inside its own spans
    EDGE_GAP = "edge_gap"  # time on the way to it
    ERRORS = "error"  # its spans that fail by themselves, calls that it no longer makes
    STATE = "state"  # what a platform reported of it, that it reports no more, or that it is full
    LOG = "log"  # lines of failure that are new or more frequent, lines that no longer follow one another


class Nature(StrEnum):
    """How a caller experiences trouble. A cause must be able to produce its effect."""

    SLOW = "slow"
    FAILING = "failing"


@dataclass(frozen=True, slots=True)
class Clue:
    """A score of one modality against one entity.

    Attributes:
        z: robust score, larger is stranger, 0 or more; already divided by what the series itself usually
            reaches.
        noise: the largest score that normal operation reaches in any entity, nineteen times out of twenty.
        explained: what callees account for, in the same log units as `excess`.
        region: signal, operation or call that shows it.
        fault_kind: kind of fault it speaks for (wire value of a fault kind).
        null_windows: how many normal windows `noise` was learnt from; 0 means that it is only assumed.
        correlation: with the alerting indicator, where that was used.
        growth: rise as a share of the usual level, of a resource.
        crowd: noise of all series together, where `noise` is that of one; see `symptom_clues`.
        instance: the part of the entity (pod, host) that shows it, where it is only a part.
        writer: who wrote the log line, where that is another than the entity.
        passed_on: whether something that the entity calls may have brought it about.
        has_room: whether it is a resource in use that is far from full: busier, and no bottleneck.
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
        """Log of the score over the log of the noise, minus what is explained; above 0 it is a finding."""
        return log1p(self.z) - self.explained - log1p(self.noise)

    @property
    def natures(self) -> frozenset[Nature]:
        """How callers of the entity experience it.

        A resource that runs out makes it slow and makes it fail, and so do the failures that it logs, and a
        part of it that does not run: what is tried again takes time.
        """
        if self.modality in {Modality.RESOURCE, Modality.LOG, Modality.STATE}:
            return frozenset(Nature)
        if self.modality is Modality.ERRORS or self.fault_kind == "ERRORS":
            return frozenset({Nature.FAILING})
        return frozenset({Nature.SLOW})

    @property
    def crowd_excess(self) -> float:
        """The excess over what any of all series reaches, whatever the indicator says."""
        return self.excess if self.crowd is None else self.excess + log1p(self.noise) - log1p(self.crowd)


def strongest(clues: list[Clue]) -> dict[tuple[str, Modality], Clue]:
    """The clue with the largest excess of each entity and modality; of equals the first by region."""
    best: dict[tuple[str, Modality], Clue] = {}
    for clue in clues:
        key = (clue.entity, clue.modality)
        held = best.get(key)
        if held is None or (-clue.excess, clue.region) < (-held.excess, held.region):
            best[key] = clue
    return best


def calibrate(score: Floats, null: Floats) -> tuple[Floats, Floats]:
    """Scores and null scores of each series over what it reaches by itself; a calm series is left as it is.

    A series that strays by ten widths every hour tells little when it does so again. Needs four normal
    windows.
    """
    if null.shape[1] < 4:
        return score, null
    usual = np.quantile(null, NOISE_SHARE, axis=1) / STEADY_NULL
    factor = np.maximum(usual, 1.0)
    return score / factor, null / factor[:, None]


def noise_level(null: Floats) -> float:
    """What the largest of many series reaches in nineteen of twenty normal windows, at least `NOISE_FLOOR`.

    `null` is (series, windows); windows of one column happened at about the same time.
    """
    if null.size == 0:
        return NOISE_FLOOR
    return max(NOISE_FLOOR, float(np.quantile(null.max(axis=0), NOISE_SHARE)))
