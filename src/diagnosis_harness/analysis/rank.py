"""Ranks candidates for the cause from clues of all modalities.

The score adds up the excess of each modality over its own noise, all in log units. Every modality is nearly
perfect for its own kinds of fault and silent on the others, so each is trusted only as far as normal
operation does not produce the same. Adding them lets independent evidence reinforce each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, log1p

from diagnosis_harness.analysis.clue import NOISE_FLOOR, Clue, Modality, Nature, strongest

LONE_RESOURCE = (
    0.5  # weight of a resource shift that nothing else of its entity confirms: load follows symptoms too
)
MEMORY_WORTH = 2.0  # factor relative to growth of CPU: memory cannot grow tenfold
NULL_DOUBT = 1.5  # number of normal windows at which a noise level is trusted by half
UNVERIFIED = 0.6  # reality of an incident that no indicator shows
STEEPNESS = 1.4  # strength is 0.5 at scores that normal operation reaches in one window out of fifty
DESPITE = 0.5  # share of its weight that evidence keeps if the indicator shows nothing


@dataclass(frozen=True, slots=True)
class Candidate:
    """One suspect with all the evidence against it.

    Attributes:
        score: sum of the excesses of its findings; if none exceeds the noise, the best clue's excess, 0 or
            less.
        clues: the strongest clue of each modality, strongest first, except that `decided_by` comes first.
        decided_by: the modality that contributes most; a platform's report of a fault takes precedence.
        modalities: how many modalities exceed their noise.
        margin: 0 to 1, lead over the next candidate as a share of the score; 0 for all but the first.
        strength: 0 to 1; near 0 if normal operation shows the same or if no normal operation is known.
    """

    entity: str
    score: float
    clues: tuple[Clue, ...]
    decided_by: Modality
    modalities: int
    fault_kind: str
    region: str
    instance: str | None
    explained_by: str | None
    margin: float
    strength: float

    @property
    def natures(self) -> frozenset[Nature]:
        """How callers experience what was found; empty if nothing exceeds the noise."""
        return frozenset(nature for clue in self.clues if clue.excess > 0 for nature in clue.natures)


def reality_of(indicator_z: float | None) -> float:
    """How certain it is, 0 to 1, that there is an incident at all, from the score of the alerting series."""
    if indicator_z is None:
        return UNVERIFIED
    return 1.0 - exp(-2.0 * max(0.0, log1p(indicator_z) - log1p(NOISE_FLOOR)))


def rank(
    clues: Sequence[Clue],
    *,
    affected: str | None,
    reality: float = UNVERIFIED,
    stores: frozenset[str] = frozenset(),
) -> tuple[Candidate, ...]:
    """Candidates, most suspect first.

    Args:
        clues: all clues, possibly several per entity and modality.
        affected: the entity that the question is about. Its own symptom is to be explained, so it counts
            only if nothing else exceeds the noise.
        reality: 0 to 1, see `reality_of`.
        stores: leaves of the call graph without visible resources of their own (databases, external
            providers).
    """
    best = strongest(list(clues))
    grouped: dict[str, list[Clue]] = {}
    for (entity, _), clue in best.items():
        grouped.setdefault(entity, []).append(clue)
    resources = _largest_growth(clues)
    others = any(clue.excess > 0 for clue in best.values() if clue.entity != affected)
    judged = []
    for entity, found in grouped.items():
        kept = [c for c in found if not (entity == affected and c.modality is Modality.SYMPTOM and others)]
        if kept:
            judged.append(
                _judge(entity, kept, reality=reality, store=entity in stores, resource=resources.get(entity))
            )
    scores = {one.entity: one.score for one in judged}
    judged = [_keep_better_explanation(one, scores) for one in judged]
    judged.sort(key=lambda one: (-one.score, one.entity))
    return tuple(_with_margin(one, judged, place) for place, one in enumerate(judged))


def _judge(
    entity: str, found: list[Clue], *, reality: float, store: bool, resource: Clue | None
) -> Candidate:
    confirmed = any(clue.excess > 0 for clue in found if clue.modality is not Modality.RESOURCE)
    worth = {
        clue.modality: clue.excess
        * (1.0 if confirmed or clue.modality is not Modality.RESOURCE else LONE_RESOURCE)
        for clue in found
    }
    # If something else confirms the fault, a resource far from full decides nothing.
    ordered = sorted(
        found,
        key=lambda clue: (
            not is_reported(clue),
            confirmed and clue.has_room,
            -worth[clue.modality],
            clue.modality,
        ),
    )
    score = sum(value for value in worth.values() if value > 0) or max(worth.values())
    first = ordered[0]
    # If metrics decided, show the resource that names the fault.
    by_metric = first.modality in {Modality.RESOURCE, Modality.SYMPTOM}
    shows = resource if resource is not None and by_metric else first
    sure = first.null_windows / (first.null_windows + NULL_DOUBT)
    return Candidate(
        entity,
        score,
        tuple(ordered),
        first.modality,
        sum(clue.excess > 0 for clue in found),
        fault_kind_from_clues(ordered, store=store, resource=resource),
        shows.region,
        shows.instance,
        next((clue.explained_by for clue in ordered if clue.explained_by), None),
        0.0,
        sure * (1.0 - exp(-STEEPNESS * _score_by_trust(found, worth, reality))),
    )


def is_reported(clue: Clue) -> bool:
    """Whether it needs no weighing: a platform reports it broken, its reports stopped, or it is full."""
    return clue.modality is Modality.STATE and clue.excess > 0 and not clue.passed_on


def _keep_better_explanation(one: Candidate, scores: Mapping[str, float]) -> Candidate:
    """Name the callee that explains a candidate only if that callee is the stronger suspect."""
    if one.explained_by is None or scores.get(one.explained_by, one.score) > one.score:
        return one
    return replace(one, explained_by=None)


def _score_by_trust(found: Sequence[Clue], worth: Mapping[Modality, float], reality: float) -> float:
    """The score, scaled by how trustworthy it is.

    A finding counts as far as the incident is real, and by at least half if it exceeds everything that
    normal operation shows anywhere, whatever the indicator shows.
    """
    return sum(
        max(reality * value, DESPITE * min(value, clue.crowd_excess))
        for clue in found
        if (value := worth[clue.modality]) > 0
    )


def _largest_growth(clues: Sequence[Clue]) -> dict[str, Clue]:
    """By entity, the resource that grew most relative to its usual level; it names the kind of fault.

    A CPU hog takes a little memory too, and a leak keeps the CPU busy with garbage collection. A resource
    far from full names no fault.
    """
    grown: dict[str, tuple[float, str, Clue]] = {}
    for clue in clues:
        if clue.modality is not Modality.RESOURCE or clue.excess <= 0 or clue.has_room:
            continue
        if clue.fault_kind in {"CPU", "MEMORY"}:
            growth = (clue.growth or 0.0) * (MEMORY_WORTH if clue.fault_kind == "MEMORY" else 1.0)
            known = grown.get(clue.entity)
            if growth > 0 and (known is None or (growth, clue.fault_kind) > known[:2]):
                grown[clue.entity] = (growth, clue.fault_kind, clue)
    return {entity: clue for entity, (_, _, clue) in grown.items()}


def fault_kind_from_clues(ordered: Sequence[Clue], *, store: bool, resource: Clue | None) -> str:
    """The kind of fault that the findings indicate, the most specific first.

    A platform's own report of a fault comes first, then a resource that grew, which names the mechanism of
    a slow-down, then the largest contribution. A slow store or external provider is a DEPENDENCY: nothing
    more can be known from outside. If that only shows that it fails, its own log lines name the mechanism.
    """
    findings = [clue for clue in ordered if clue.excess > 0]
    if not findings:
        return "UNKNOWN"
    if is_reported(findings[0]):
        return findings[0].fault_kind
    if resource is not None:
        return resource.fault_kind
    if store and findings[0].fault_kind == "LATENCY":
        return "DEPENDENCY"
    if findings[0].fault_kind != "ERRORS":
        return findings[0].fault_kind
    lines = (clue for clue in findings if clue.modality is Modality.LOG and clue.writer is None)
    return next((clue.fault_kind for clue in lines), "ERRORS")


def _with_margin(one: Candidate, judged: Sequence[Candidate], place: int) -> Candidate:
    if place > 0 or one.score <= 0:
        return one
    lead = one.score - max(judged[1].score, 0.0) if len(judged) > 1 else one.score
    return replace(one, margin=lead / one.score)
