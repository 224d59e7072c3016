"""All incidents of a data set through the whole path; labels are opened when the last run has ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from diagnosis_harness.bench.case import Condition, DataSet, Diagnose, Ranked, RunResult
from diagnosis_harness.bench.scoring import Outcome, Run, judge
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.report.document import Candidate, CauseEntry, RunDocument
from diagnosis_harness.tools.evidence import InvocationStatus

Tick = Callable[[int, int], None]
"""Called after each run with how many have ended, and of how many."""


def run_bench(
    data_set: DataSet,
    diagnose: Diagnose,
    *,
    clock: Clock,
    work: Path,
    limit: int | None = None,
    tick: Tick | None = None,
) -> tuple[Outcome, ...]:
    """Export and diagnose every incident, then judge all of them.

    Args:
        data_set: where the incidents come from.
        diagnose: the whole path, question to release.
        clock: measures the time of each run, export left out.
        work: an empty folder for the exported incidents; they stay there.
        limit: take so many incidents only, spread evenly over all of them.
        tick: called after each run.

    Raises:
        InvalidInput: the data are not there, or a result is for an incident without a label.
    """
    ids = spread(data_set.incident_ids(), limit)
    runs: list[Run] = []
    for number, incident_id in enumerate(ids, start=1):
        case = data_set.export(incident_id, Condition.AS_PUBLISHED, work)
        started_s = clock.now_s()
        result = diagnose(case.folder, case.baseline)
        runs.append(Run(case=case, result=result, elapsed_s=clock.now_s() - started_s))
        if tick is not None:
            tick(number, len(ids))
    labels = data_set.labels(ids)
    missing = [run.case.incident_id for run in runs if run.case.incident_id not in labels]
    if missing:
        raise InvalidInput(data_set.name, f"has no label for {missing[0]}", "use the files as published")
    return tuple(judge(run, labels[run.case.incident_id]) for run in runs)


def result_of(document: RunDocument) -> RunResult:
    """What a published document names: proven causes, unproven candidates."""
    return RunResult(
        outcome=document.release.outcome.value,
        causes=tuple(_to_ranked(cause) for cause in document.report.causes),
        candidates=tuple(_to_ranked(candidate) for candidate in document.report.candidates),
        failed_tools=tuple(r.tool for r in document.records if r.status is InvocationStatus.ERROR),
    )


def _to_ranked(named: CauseEntry | Candidate) -> Ranked:
    return Ranked(
        entity=named.entity, fault_kind=named.fault_kind.value, region=named.region, score=named.score
    )


def spread(ids: Sequence[str], limit: int | None) -> tuple[str, ...]:
    """At most `limit` of the ids, evenly spaced, so that a few stand for all groups."""
    if limit is None or limit >= len(ids):
        return tuple(ids)
    return tuple(ids[index * len(ids) // limit] for index in range(limit))
