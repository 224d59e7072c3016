"""Runs all incidents of a data set through the whole path, and opens the labels when the last run has ended.

Each incident is exported and diagnosed; then its folder is removed and only the answer is kept. A bench with
a results file continues where it stopped, and repeats no run unless its code or a byte of its folder has
changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from diagnosis_harness.bench.case import SOUND, BenchRun, Condition, DataSet, Truth
from diagnosis_harness.bench.further_kinds import add_further_kinds
from diagnosis_harness.bench.measures import Score, score_splits
from diagnosis_harness.bench.results_file import ResultsFile
from diagnosis_harness.bench.scoring import Outcome, judge
from diagnosis_harness.bench.work import DAMAGED, NOT_READ, Bench, Task, attempt_all, open_labels
from diagnosis_harness.kernel.errors import InvalidInput

Tick = Callable[[int, int], None]
"""Called after each run with how many have ended, and of how many."""

UNSEEN = frozenset({"SCOPED", "NONE"})
"""Levels of a truth whose culprit may have no telemetry: it need not be among the entities of the data."""


@dataclass(frozen=True, slots=True)
class Unscored:
    """An incident that is not in any figure, and why, in one sentence."""

    incident_id: str
    condition: Condition
    sentence: str


@dataclass(frozen=True, slots=True)
class BenchResult:
    """Everything that a bench of one data set found.

    Attributes:
        reused: how many of the judged runs were taken from the results file.
    """

    data_set: str
    outcomes: tuple[Outcome, ...]
    unscored: tuple[Unscored, ...]
    reused: int = 0

    def conditions(self) -> tuple[Condition, ...]:
        """Those with outcomes, in their usual order."""
        found = {outcome.run.case.condition for outcome in self.outcomes}
        return tuple(condition for condition in Condition if condition in found)

    def under(self, condition: Condition) -> tuple[Outcome, ...]:
        """The outcomes of one condition."""
        return tuple(outcome for outcome in self.outcomes if outcome.run.case.condition is condition)

    def scores(self) -> tuple[tuple[Condition, Score], ...]:
        """Figures of every condition and its splits."""
        return tuple(
            (condition, one) for condition in self.conditions() for one in score_splits(self.under(condition))
        )


@dataclass(frozen=True, slots=True)
class Pace:
    """How many processes work at once (1 is only this one), and what is called after each run."""

    jobs: int = 1
    tick: Tick | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to run: conditions, and how many incidents of each; None is all of them."""

    conditions: tuple[Condition, ...] = (Condition.AS_PUBLISHED,)
    limit: int | None = None
    limits: Mapping[Condition, int] = field(default_factory=dict)
    """Another limit for some conditions."""

    def tasks(self, data_set: DataSet) -> tuple[Task, ...]:
        """Incidents under conditions, evenly spread if there is a limit."""
        return tuple(
            Task(incident_id, condition)
            for condition in self.conditions
            for incident_id in spread(
                data_set.incident_ids(condition), self.limits.get(condition, self.limit)
            )
        )


def run_bench(
    bench: Bench,
    wanted: Wanted | None = None,
    *,
    results: ResultsFile | None = None,
    pace: Pace | None = None,
) -> BenchResult:
    """Export and diagnose every incident, then judge all of them.

    Args:
        bench: the data set, the whole path, and where folders are written.
        wanted: which incidents under which conditions; all as published by default.
        results: runs that need not be repeated; new ones are added.
        pace: how many processes, and what is called after each run; only this process by default.

    Raises:
        InvalidInput: the data do not exist, or contain nothing for these conditions.
    """
    tasks = _tasks(wanted or Wanted(), bench.data_set)
    if not tasks:
        raise InvalidInput(
            bench.data_set.name, "it has no incident under this condition", "choose another --condition"
        )
    kept = ResultsFile(None) if results is None else results
    pace = pace or Pace()
    runs, unscored, reused = _run_all(bench, tasks, kept, pace)
    truths = _truths(bench, runs, jobs=pace.jobs)
    outcomes = []
    for run in runs:
        truth = truths.get(run.case.incident_id)
        sentence = _why_unscored(run, truth)
        if truth is None or sentence:
            unscored.append(Unscored(run.case.incident_id, run.case.condition, sentence))
        else:
            outcomes.append(judge(run, _final_truth(run, truth, bench.data_set.name)))
    tasks_judged = (Task(one.run.case.incident_id, one.run.case.condition) for one in outcomes)
    again = sum(task in reused for task in tasks_judged)
    return BenchResult(bench.data_set.name, tuple(outcomes), tuple(unscored), again)


def _tasks(wanted: Wanted, data_set: DataSet) -> tuple[Task, ...]:
    try:
        return wanted.tasks(data_set)
    except DAMAGED as error:
        problem = f"it is not of the form of the set ({type(error).__name__}: {error})"
        raise InvalidInput(data_set.name, problem, "fetch the data set again") from error


def _run_all(
    bench: Bench, tasks: Sequence[Task], kept: ResultsFile, pace: Pace
) -> tuple[list[BenchRun], list[Unscored], frozenset[Task]]:
    by_task: dict[Task, BenchRun] = {}
    refused: dict[Task, str] = {}
    reused: set[Task] = set()
    attempts = attempt_all(bench, tasks, known=kept.keys, jobs=pace.jobs)
    for done, attempt in enumerate(attempts, start=1):
        if attempt.case is None:
            refused[attempt.task] = attempt.refusal
        elif attempt.run is None:
            reused.add(attempt.task)
            by_task[attempt.task] = kept.run_of(attempt.key, attempt.case)
        else:
            kept.append(attempt.key, attempt.run)
            by_task[attempt.task] = attempt.run
        if pace.tick is not None:
            pace.tick(done, len(tasks))
    unscored = [
        Unscored(task.incident_id, task.condition, refused[task]) for task in tasks if task in refused
    ]
    return [by_task[task] for task in tasks if task in by_task], unscored, frozenset(reused)


def _truths(bench: Bench, runs: Iterable[BenchRun], *, jobs: int) -> Mapping[str, Truth]:
    """The truth of every incident that was run; a healthy window needs none."""
    sound = {run.case.incident_id: SOUND for run in runs if run.case.condition.healthy}
    asked = dict.fromkeys(run.case.incident_id for run in runs if not run.case.condition.healthy)
    return {**sound, **(open_labels(bench, tuple(asked), jobs=jobs) if asked else {})}


def _final_truth(run: BenchRun, truth: Truth, data_set: str) -> Truth:
    """The truth that a run is judged by: nothing is wrong in a healthy window, whatever the label says."""
    if run.case.condition.healthy:
        return SOUND
    return truth if run.case.as_given else add_further_kinds(data_set, run.case.incident_id, truth)


def _why_unscored(run: BenchRun, truth: Truth | None) -> str:
    """Why an incident cannot be scored; empty if it can."""
    if truth is None:
        return "there is no truth for it"
    if run.case.as_given and run.result.outcome == NOT_READ:
        return run.result.reason
    if run.case.condition.healthy or not truth.entities:
        return "" if run.case.condition.healthy else truth.unusable
    return truth.unusable or _name_unknown(run, truth)


def _name_unknown(run: BenchRun, truth: Truth) -> str:
    """A sentence if the truth names an entity that the data do not contain; empty if they do, or cannot tell.

    In our data sets, one known name of several is enough. In a user's truth, an unknown name is a
    misspelling.
    """
    owners = run.case.owners
    known = {*run.entities, *run.known, *owners, *owners.values(), *run.case.left_out}
    if not run.entities or truth.level in UNSEEN:
        return ""
    unknown = [name for name in truth.entities if name not in known]
    if not unknown or (not run.case.as_given and len(unknown) < len(truth.entities)):
        return ""
    near = get_close_matches(unknown[0], sorted(known), n=1) if run.case.as_given else []
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"its truth names {unknown[0]}, which is not in the data{hint}"


def spread(ids: Sequence[str], limit: int | None) -> tuple[str, ...]:
    """At most `limit` of the ids, evenly spaced, so that a few represent all groups."""
    if limit is None or limit >= len(ids):
        return tuple(ids)
    return tuple(ids[index * len(ids) // limit] for index in range(limit))
