"""Runs the incidents of a bench one after the other, in this process or in several."""

from __future__ import annotations

import multiprocessing
import shutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

from diagnosis_harness.bench.case import (
    BenchRun,
    Case,
    Condition,
    DataSet,
    Diagnose,
    Diagnosed,
    RunResult,
    Truth,
)
from diagnosis_harness.bench.results_file import digest_folder
from diagnosis_harness.kernel.errors import InvalidInput

BASELINES_KEPT = (
    4  # folders of normal operation on disk at a time; incidents that share one run one after the other
)
RUNS_EACH = 150  # a process ends after this many runs, so that its memory stays bounded
LABELS_EACH = 25  # simulated worlds whose truth one process finds at a time
DAMAGED = (
    *(OSError, EOFError, zlib.error),
    *(ValueError, LookupError, AttributeError, TypeError, OverflowError),
)
"""Errors that a reader of published files raises if one is cut off, badly encoded, or lacks a field."""

NOT_READ = "REFUSED"
"""The outcome of a run whose folder the product refused: there is no answer, so it counts as broken."""

BROKE = "BROKE"
"""The outcome of a run that ended with an error of the product's own: there is no answer either."""


@dataclass(frozen=True, slots=True)
class Task:
    """One incident under one condition."""

    incident_id: str
    condition: Condition


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of a task: a case and its run, a case whose run is known by its key, or a refusal."""

    task: Task
    key: str = ""
    case: Case | None = None
    run: BenchRun | None = None
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Bench:
    """What is measured, and where.

    Attributes:
        data_set: where the incidents come from.
        diagnose: the whole path, question to release.
        work: an empty folder for the exported incidents.
        code: a digest of what decides a run besides its folder: code, settings, question.
    """

    data_set: DataSet
    diagnose: Diagnose
    work: Path
    code: str = ""


@dataclass(slots=True)
class _Worker:
    """One process at work."""

    bench: Bench
    target: Path
    known: frozenset[str]
    baselines: list[Path] = field(default_factory=list)

    def attempt(self, task: Task) -> Attempt:
        """Export the incident, run it unless its run is known, and remove the folder."""
        try:
            case = self.bench.data_set.export(task.incident_id, task.condition, self.target)
        except InvalidInput as error:
            return Attempt(task, refusal=str(error))
        except DAMAGED as error:
            return Attempt(task, refusal=f"its files are not of the form of the set ({_name(error)})")
        except Exception as error:  # noqa: BLE001 - one incident never ends the bench
            return Attempt(task, refusal=f"it cannot be written as a folder ({_name(error)})")
        try:
            key = self._key(task, case)
            run = None if key in self.known else self._run(case)
        except Exception as error:  # noqa: BLE001 - as above
            return Attempt(task, refusal=f"its folder cannot be read ({_name(error)})")
        finally:
            self._clear(case)
        return Attempt(task, key=key, case=case, run=run)

    def _key(self, task: Task, case: Case) -> str:
        parts = (
            self.bench.code,
            self.bench.data_set.name,
            task.incident_id,
            task.condition.value,
            digest_folder(case.folder),
            "" if case.baseline is None else digest_folder(case.baseline),
        )
        return sha256("\0".join(parts).encode()).hexdigest()

    def _run(self, case: Case) -> BenchRun:
        try:
            diagnosed = self.bench.diagnose(case.folder, case.baseline)
        except InvalidInput as error:
            # The incident is named, and not its copy in a folder that is removed.
            sentence = str(error).replace(str(case.folder), case.incident_id)
            diagnosed = Diagnosed(RunResult(NOT_READ, causes=(), candidates=(), reason=sentence))
        except Exception as error:  # noqa: BLE001 - counted as a run without an answer, and named
            diagnosed = Diagnosed(RunResult(BROKE, causes=(), candidates=(), reason=_name(error)))
        return BenchRun(
            case=case,
            result=diagnosed.result,
            cost=diagnosed.cost,
            data_bytes=_size(case.folder) + (0 if case.baseline is None else _size(case.baseline)),
            loudest=diagnosed.loudest,
            known=diagnosed.known,
        )

    def _clear(self, case: Case) -> None:
        """Remove the incident's folder, and folders of normal operation that were not used recently."""
        shutil.rmtree(case.folder, ignore_errors=True)
        if case.baseline is None:
            return
        if case.baseline in self.baselines:
            self.baselines.remove(case.baseline)
        self.baselines.append(case.baseline)
        while len(self.baselines) > BASELINES_KEPT:
            shutil.rmtree(self.baselines.pop(0), ignore_errors=True)


def _name(error: BaseException) -> str:
    """An error in a few words, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def attempt_all(
    bench: Bench, tasks: Sequence[Task], *, known: frozenset[str], jobs: int
) -> Iterator[Attempt]:
    """Every task, in whatever order they end.

    Raises:
        InvalidInput: a process died.
    """
    if jobs == 1:
        worker = _Worker(bench, bench.work, known)
        yield from map(worker.attempt, tasks)
        return
    for start in range(0, len(tasks), RUNS_EACH * jobs):
        some = tasks[start : start + RUNS_EACH * jobs]
        with _pool(bench, jobs=jobs, known=known) as pool:
            try:
                waiting = [pool.submit(_attempt, task) for task in some]
                for ended in as_completed(waiting):
                    yield ended.result()
            except BrokenProcessPool as error:
                problem = "a bench process died, most likely because it ran out of memory"
                raise InvalidInput("--jobs", problem, "run it again with fewer") from error
            finally:
                pool.shutdown(wait=True, cancel_futures=True)


def open_labels(bench: Bench, incident_ids: Sequence[str], *, jobs: int) -> Mapping[str, Truth]:
    """The truth of these incidents; a data set that simulates them may need some time.

    Raises:
        InvalidInput: the labels are not of the form of the set.
    """
    try:
        return _open_labels(bench, incident_ids, jobs=jobs)
    except DAMAGED as error:
        truths = {name: _open_label(bench, name) for name in incident_ids}
        if all(truth.unusable for truth in truths.values()):
            problem = f"its labels are not of the form of the set ({_name(error)})"
            raise InvalidInput(bench.data_set.name, problem, "fetch the data set again") from error
        return truths


def _open_label(bench: Bench, incident_id: str) -> Truth:
    """The truth of one incident, read separately, so that a damaged one does not affect the others."""
    missing = Truth(entities=(), fault_kind="", unusable="there is no truth for it")
    try:
        return bench.data_set.labels((incident_id,)).get(incident_id, missing)
    except DAMAGED as error:
        sentence = f"its label is not of the form of the set ({_name(error)})"
        return Truth(entities=(), fault_kind="", unusable=sentence)


def _open_labels(bench: Bench, incident_ids: Sequence[str], *, jobs: int) -> Mapping[str, Truth]:
    if jobs == 1 or len(incident_ids) <= LABELS_EACH:
        return bench.data_set.labels(incident_ids)
    parts = [incident_ids[at : at + LABELS_EACH] for at in range(0, len(incident_ids), LABELS_EACH)]
    with _pool(bench, jobs=jobs, known=frozenset()) as pool:
        return {
            incident_id: truth for found in pool.map(_labels, parts) for incident_id, truth in found.items()
        }


def _pool(bench: Bench, *, jobs: int, known: frozenset[str]) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(
        max_workers=jobs,
        mp_context=multiprocessing.get_context("spawn"),  # a fork would copy threads that hold locks
        initializer=_start_worker,
        initargs=(bench, known),
    )


_OF_THIS_PROCESS: list[_Worker] = []
"""The worker of this process, if it is one of several."""


def _start_worker(bench: Bench, known: frozenset[str]) -> None:
    target = Path(mkdtemp(prefix="process-", dir=bench.work))
    _OF_THIS_PROCESS[:] = [_Worker(bench, target, known)]


def _attempt(task: Task) -> Attempt:
    return _OF_THIS_PROCESS[0].attempt(task)


def _labels(incident_ids: Sequence[str]) -> dict[str, Truth]:
    return dict(_OF_THIS_PROCESS[0].bench.data_set.labels(incident_ids))
