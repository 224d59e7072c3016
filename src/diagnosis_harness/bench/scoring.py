"""Scores of finished runs. Ties count against us; every figure comes with chance and uncertainty.

The place of the right answer is its place in the list of proven causes followed by the unproven candidates,
without entities that the data set leaves out and without repeats. Avg@5 is the mean of top-1 to top-5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import median

from diagnosis_harness.bench.case import Case, Ranked, RunResult, Truth

SUCCESS = "SUCCESS"  # wire values of ReleaseOutcome
ANSWERS = frozenset({SUCCESS, "FALLBACK"})
Z_95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Run:
    """One finished run; it is judged after the last run has ended."""

    case: Case
    result: RunResult
    elapsed_s: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run held against its label.

    Attributes:
        place: counts from 1; None when the right entity was not named, or nothing was wrong.
        success: whether the run ended in SUCCESS.
        right: the right entity came first; for a sound system, no success named a cause.
        confident_and_wrong: a success named another entity as its first cause.
        broken: a tool call failed, or the run gave no answer; its place says little about the analysis.
    """

    run: Run
    truth: Truth
    place: int | None
    success: bool
    right: bool
    confident_and_wrong: bool
    broken: bool


@dataclass(frozen=True, slots=True)
class Interval:
    """A share with its 95% interval."""

    share: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Score:
    """Figures of one group of runs.

    `top` and `chance` count the `faulty` runs, in which something was wrong; `chance` is what a random order
    of the entities would reach.
    """

    name: str
    runs: int
    faulty: int
    top: Mapping[int, Interval]
    chance: Mapping[int, float]
    average_at_5: float
    success: Interval
    confident_and_wrong: Interval
    broken: int
    right: Interval
    median_s: float
    longest_s: float


def judge(run: Run, truth: Truth) -> Outcome:
    """Hold a finished run against its label."""
    success = run.result.outcome == SUCCESS
    first = _owner(run, run.result.causes[0]) if success and run.result.causes else None
    place = _best_place(truth, run)
    return Outcome(
        run=run,
        truth=truth,
        place=place,
        success=success,
        right=place == 1 if truth.entities else first is None,
        # Also a cause that the ranking leaves out was released, and somebody would have acted on it.
        confident_and_wrong=first is not None and first not in truth.entities,
        broken=bool(run.result.failed_tools) or run.result.outcome not in ANSWERS,
    )


def _best_place(truth: Truth, run: Run) -> int | None:
    """The best place that one of the entities at fault has."""
    places = [place for entity in truth.entities if (place := place_of(entity, run)) is not None]
    return min(places, default=None)


def place_of(entity: str, run: Run) -> int | None:
    """Place of an entity, the worst one among equal scores; None when it was not named."""
    named = _merge_named(run)
    names = [name for name, _ in named]
    if entity not in names:
        return None
    place = names.index(entity)
    tie = named[place][1]
    return max(index for index, (_, other) in enumerate(named) if index == place or _ties(tie, other)) + 1


Rung = tuple[bool, float | None]
"""Proven or not, and the score."""


def _ties(one: Rung, other: Rung) -> bool:
    return one == other and one[1] is not None


def _merge_named(run: Run) -> list[tuple[str, Rung]]:
    """Causes, then candidates; instances stand for their service, repeats and left-out entities go."""
    merged: dict[str, Rung] = {}
    for proven, group in ((True, run.result.causes), (False, run.result.candidates)):
        for ranked in group:
            name = _owner(run, ranked)
            if name not in run.case.left_out:
                merged.setdefault(name, (proven, ranked.score))
    return list(merged.items())


def _owner(run: Run, ranked: Ranked) -> str:
    return run.case.owners.get(ranked.entity, ranked.entity)


def wilson(hits: int, count: int) -> Interval:
    """Wilson's score interval at 95% (1927). Of nothing, nothing is known: the whole range."""
    if count == 0:
        return Interval(share=0.0, low=0.0, high=1.0)
    share, z2 = hits / count, Z_95**2
    centre = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = Z_95 / (1 + z2 / count) * sqrt(share * (1 - share) / count + z2 / (4 * count**2))
    return Interval(share=share, low=max(0.0, centre - half), high=min(1.0, centre + half))


def score(name: str, outcomes: Sequence[Outcome]) -> Score:
    """Figures over some outcomes. Places are counted over the runs in which something was wrong."""
    faulty = [outcome for outcome in outcomes if outcome.truth.entities]
    top = {k: wilson(sum(_within(outcome, k) for outcome in faulty), len(faulty)) for k in range(1, 6)}
    elapsed = [outcome.run.elapsed_s for outcome in outcomes]
    return Score(
        name=name,
        runs=len(outcomes),
        faulty=len(faulty),
        top=top,
        chance={k: _chance(faulty, k) for k in range(1, 6)},
        average_at_5=sum(interval.share for interval in top.values()) / 5,
        success=wilson(sum(outcome.success for outcome in outcomes), len(outcomes)),
        confident_and_wrong=wilson(sum(outcome.confident_and_wrong for outcome in outcomes), len(outcomes)),
        broken=sum(outcome.broken for outcome in outcomes),
        right=wilson(sum(outcome.right for outcome in outcomes), len(outcomes)),
        median_s=median(elapsed) if elapsed else 0.0,
        longest_s=max(elapsed, default=0.0),
    )


def score_groups(outcomes: Sequence[Outcome]) -> tuple[Score, ...]:
    """Everything; each group of cases; within each group each scenario and each kind of fault."""
    scores = [score("all", outcomes)]
    by_group = _split(outcomes, lambda outcome: outcome.run.case.group)
    for group, members in by_group.items():
        if len(by_group) > 1:
            scores.append(score(group, members))
        for key in (lambda outcome: outcome.run.case.scenario, lambda outcome: outcome.truth.fault_kind):
            parts = _split(members, key)
            scores += [score(f"{group}: {part}", some) for part, some in parts.items() if len(parts) > 1]
    return tuple(scores)


def _split(outcomes: Iterable[Outcome], key: Callable[[Outcome], str]) -> dict[str, list[Outcome]]:
    parts: dict[str, list[Outcome]] = {}
    for outcome in sorted(outcomes, key=key):
        parts.setdefault(key(outcome), []).append(outcome)
    return parts


def _within(outcome: Outcome, k: int) -> bool:
    return outcome.place is not None and outcome.place <= k


def _chance(outcomes: Sequence[Outcome], k: int) -> float:
    shares = [
        min(1.0, k / len(outcome.run.case.entities)) for outcome in outcomes if outcome.run.case.entities
    ]
    return sum(shares) / len(shares) if shares else 0.0
