"""Symptoms in metrics, minus the part that callees explain.

Nodes are ranked by the correlation of their series with the alerting indicator, minus half of the best
anomalous callee's. This combines ranked correlation and traversal of the call graph, which Hardt et al.
(CLeaR 2024) compare as two methods. Here the correlation is weighted by the size of the anomaly, so that
ties between a few points do not decide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log1p

import numpy as np

from diagnosis_harness.analysis.arrays import Floats
from diagnosis_harness.analysis.clue import NOISE_FLOOR, Clue, Modality
from diagnosis_harness.analysis.graph import CallGraph, nearest_known_callees
from diagnosis_harness.analysis.meaning import SignalKind

ANOMALOUS = 3.0  # widths; below it a node is neither suspected nor explains another
EXPLAINED_SHARE = 0.5  # of the best callee's strength; a callee passes on less than all of its trouble
LEAST_POINTS = 4  # for a correlation


@dataclass(frozen=True, slots=True)
class SymptomRow:
    """One symptom series: its calibrated score and its course around the onset, where a rise is harmful."""

    entity: str
    signal: str
    kind: SignalKind
    z: float
    course: Floats
    null_windows: int
    instance: str | None = None


@dataclass(frozen=True, slots=True)
class Strength:
    """The strongest symptom of an entity: correlation with the indicator, and log1p(z) weighted by it."""

    row: SymptomRow
    correlation: float
    value: float


def correlation(course: Floats, indicator: Floats) -> float:
    """Pearson correlation over the columns where both are finite.

    0 with fewer than four, or without variation.
    """
    both = np.isfinite(course) & np.isfinite(indicator)
    if both.sum() < LEAST_POINTS:
        return 0.0
    x, y = course[both] - course[both].mean(), indicator[both] - indicator[both].mean()
    size = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / size if size > 0 else 0.0


def strengths(
    rows: Sequence[SymptomRow], *, indicator: Floats | None, kinds: frozenset[SignalKind]
) -> dict[str, Strength]:
    """Each entity's strongest symptom of these kinds; without an indicator every correlation is 1."""
    best: dict[str, Strength] = {}
    for row in rows:
        if row.kind not in kinds:
            continue
        c = 1.0 if indicator is None else correlation(row.course, indicator)
        value = max(c, 0.0) * log1p(row.z) if row.z >= ANOMALOUS else 0.0
        known = best.get(row.entity)
        if known is None or (value, row.z) > (known.value, known.row.z):
            best[row.entity] = Strength(row, c, value)
    return best


def symptom_clues(
    found: Mapping[str, Strength], graph: CallGraph, *, noise: float, indicated: bool
) -> list[Clue]:
    """A clue for each entity, minus half of the strength of its strongest callee.

    With an indicator the noise is that of one series (the indicator has already shown a problem, and the
    correlation selects the series); without one it is that of all series together.
    """
    clues = []
    for entity, strength in found.items():
        callees = nearest_known_callees(graph, entity, found)
        best = max(callees, key=lambda name: (found[name].value, name), default=None)
        explained = EXPLAINED_SHARE * found[best].value if best is not None else 0.0
        z = float(np.expm1(strength.value)) if strength.value > 0 else 0.0
        clues.append(
            Clue(
                entity,
                Modality.SYMPTOM,
                z,
                NOISE_FLOOR if indicated else noise,
                strength.row.signal,
                "LATENCY" if strength.row.kind is SignalKind.LATENCY else "ERRORS",
                explained,
                best if explained > 0 else None,
                null_windows=strength.row.null_windows,
                correlation=strength.correlation if indicated else None,
                instance=strength.row.instance,
                crowd=noise if indicated else None,
            )
        )
    return clues
