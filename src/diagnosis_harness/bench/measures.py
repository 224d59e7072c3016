"""The figures over the outcomes of a bench, each with its interval and count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from statistics import median

from diagnosis_harness.bench.interval import Interval, bootstrap, mean, wilson
from diagnosis_harness.bench.scoring import Outcome

Reads = Callable[[Outcome], bool | float | None]
"""The contribution of one outcome to a figure; None if the figure does not apply to it."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure: its name in files, its heading, its explanation, and what one outcome adds to it."""

    name: str
    title: str
    says: str
    reads: Reads


def _within(k: int) -> Reads:
    def read(outcome: Outcome) -> bool | None:
        if not outcome.truth.entities:
            return None
        return outcome.place is not None and outcome.place <= k

    return read


def _luck(k: int) -> Reads:
    return lambda outcome: outcome.chance.get(k)


def _read(field: str) -> Reads:
    return attrgetter(field)


def _release_right(outcome: Outcome) -> bool | None:
    return outcome.right if outcome.released else None


def _release_wrong(outcome: Outcome) -> bool | None:
    return outcome.wrong if outcome.released else None


MEASURES = (
    Measure("top1", "top-1", "the right cause is named first, released or as a candidate", _within(1)),
    Measure("top3", "top-3", "the right cause is among the first three named", _within(3)),
    Measure("top5", "top-5", "the right cause is among the first five named", _within(5)),
    Measure("released", "released", "the run released a conclusion", _read("released")),
    Measure("wrong", "wrong of released", "released conclusions that name an innocent", _release_wrong),
    Measure("right", "right of released", "released conclusions that are right", _release_right),
    Measure("kind", "kind right", "the kind of fault, where the first named is right", _read("kind_right")),
    Measure("kind_frozen", "kind as frozen", "by the frozen kinds alone", _read("kind_as_frozen")),
    Measure("region", "region right", "the place in it, where the first is right", _read("region_right")),
    Measure("located", "named or scoped", "named first, or in a scoped release", _read("named_or_scoped")),
    Measure("level", "level right", "right releases that go as far as the data", _read("level_right")),
    Measure("overstated", "level overstated", "right ones that claim more", _read("level_overstated")),
    Measure("explained", "explained", "right releases that explain it", _read("explained")),
    Measure("scoped", "scope right", "scoped releases that hold the right one", _read("scoped_right")),
    Measure("change_first", "change first", "the first change named caused it", _read("changes.first")),
    Measure("change_named", "change named", "the change that caused it is named", _read("changes.named")),
    Measure("trigger", "trigger right", "the guilty change is concluded", _read("changes.trigger_right")),
    Measure(
        "no_trigger", "no change right", "none is concluded where none did it", _read("changes.none_right")
    ),
    Measure("decoy_named", "decoy named", "an innocent change is named", _read("changes.decoy_named")),
    Measure("decoy", "decoy concluded", "an innocent change is concluded", _read("changes.decoy_concluded")),
    Measure("decoy_first", "decoy first", "an innocent entity is first", _read("decoy_first")),
    Measure("decoy_entity", "decoy released", "an innocent entity is released", _read("decoy_concluded")),
    Measure("precision", "set precision", "of several causes: released ones at fault", _read("precision")),
    Measure("recall", "set recall", "of several causes: those at fault that were released", _read("recall")),
    Measure("mechanism", "mechanism", "the conclusion tells the mechanism", _read("mechanism")),
    Measure("words", "its words", "the answer holds the mechanism's words", _read("mechanism_words")),
    Measure("false_alarm", "false alarm", "a cause released with nothing wrong", _read("false_alarm")),
    Measure("broken", "broken", "a tool call failed, or there was no answer", _read("broken")),
    Measure("chance", "chance", "top-1 of a random order", _luck(1)),
    Measure("chance3", "chance of 3", "top-3 of a random order", _luck(3)),
    Measure("chance5", "chance of 5", "top-5 of a random order", _luck(5)),
    Measure("alert", "alert's entity", "top-1 of blaming the alert's own entity", _read("alert_right")),
    Measure("loudest", "loudest", "top-1 of blaming what changed most", _read("loudest_right")),
)


@dataclass(frozen=True, slots=True)
class Costs:
    """Medians over the runs of a group, and the longest time, since a person waits for it."""

    elapsed_s: float
    longest_s: float
    cpu_s: float
    data_bytes: float
    record_bytes: float
    tool_calls: float


@dataclass(frozen=True, slots=True)
class Score:
    """Figures of one group of outcomes; a figure without data is left out."""

    split: str
    name: str
    runs: int
    figures: Mapping[str, Interval]
    costs: Costs


def score(split: str, name: str, outcomes: Sequence[Outcome]) -> Score:
    """Every figure over some outcomes."""
    figures = {measure.name: _figure(measure, outcomes) for measure in MEASURES}
    return Score(
        split=split,
        name=name,
        runs=len(outcomes),
        figures={name: figure for name, figure in figures.items() if figure.count},
        costs=_costs(outcomes),
    )


def _figure(measure: Measure, outcomes: Iterable[Outcome]) -> Interval:
    """A share has Wilson's interval, a mean of anything else a bootstrap's."""
    read = [value for outcome in outcomes if (value := measure.reads(outcome)) is not None]
    if all(isinstance(value, bool) for value in read):
        return wilson(sum(map(bool, read)), len(read))
    return bootstrap([[float(value)] for value in read], mean)


def _costs(outcomes: Sequence[Outcome]) -> Costs:
    runs = [outcome.run for outcome in outcomes]
    elapsed = [run.cost.elapsed_s for run in runs] or [0.0]
    return Costs(
        elapsed_s=median(elapsed),
        longest_s=max(elapsed),
        cpu_s=median([run.cost.cpu_s for run in runs] or [0.0]),
        data_bytes=median([run.data_bytes for run in runs] or [0]),
        record_bytes=median([run.result.record_bytes for run in runs] or [0]),
        tool_calls=median([run.result.tool_calls for run in runs] or [0]),
    )


SPLITS: tuple[tuple[str, Callable[[Outcome], str]], ...] = (
    ("group", lambda outcome: outcome.run.case.group),
    ("scenario", lambda outcome: f"{outcome.run.case.group}: {outcome.run.case.scenario}"),
    ("fault kind", lambda outcome: f"{outcome.run.case.group}: {outcome.truth.fault_kind}"),
    ("decided by", lambda outcome: outcome.decided_by),
)
"""How the outcomes of one condition are split; kinds and scenarios are split within their group."""


def score_splits(outcomes: Sequence[Outcome]) -> tuple[Score, ...]:
    """All outcomes of one condition, and their splits; a split into a single part says nothing new."""
    scores = [score("all", "all", outcomes)]
    for split, key in SPLITS:
        parts: dict[str, list[Outcome]] = {}
        for outcome in sorted(outcomes, key=key):
            parts.setdefault(key(outcome), []).append(outcome)
        if len(parts) > 1 and not (split == "scenario" and len(parts) == _groups(outcomes)):
            scores += [score(split, name, part) for name, part in parts.items()]
    return tuple(scores)


def _groups(outcomes: Iterable[Outcome]) -> int:
    return len({outcome.run.case.group for outcome in outcomes})
