"""Diagnose everything that can be scored here, and write the tables of docs/benchmarks.md.

Simulated incidents always, public ones if the folder of the data sets is named. Each data set has a section
of its own on the page; a missing data set keeps its figures. Finished runs are stored in `.build/score`, so
that a stopped run continues and a second run over the same code repeats nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dev.commit import describe_commit, find_commit
from rich.console import Console
from rich.progress import Progress, TaskID

from diagnosis_harness.bench.calibration import measure_calibration
from diagnosis_harness.bench.case import HEALTHY, Condition, DataSet
from diagnosis_harness.bench.datasets.catalog import NAMES, data_set
from diagnosis_harness.bench.demo_faults import DemoFaults
from diagnosis_harness.bench.hard_kinds import FIRST_PUBLISHED_SEED, HardKinds
from diagnosis_harness.bench.html_page import html_page
from diagnosis_harness.bench.measures import MEASURES, Score
from diagnosis_harness.bench.report import (
    bench_document,
    failure_line,
    line_of_unused,
    range_text,
    rows_not_scored,
    rows_without_answer,
    share_text,
)
from diagnosis_harness.bench.results_file import ResultsFile
from diagnosis_harness.bench.runner import BenchResult, Pace, Wanted, run_bench
from diagnosis_harness.bench.work import Bench
from diagnosis_harness.cli.main import FolderOpener
from diagnosis_harness.cli.whole_path import WholePath, digest_conditions
from diagnosis_harness.kernel.errors import InvalidInput

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
OUT = Path(__file__).parents[1] / ".build" / "score"
LIMITS: Mapping[Condition, int] = dict.fromkeys(HEALTHY, 36)  # as many windows as PetShop has
EVENTS_EACH = 300  # of 1,251 incidents that are ranked only; an interval of five hundredths to each side
HARD_SEEDS = 8  # of each of the hard kinds
DEMO_SEEDS = 20
DEMO_FIRST_SEED = 7001  # odd: nobody looks at these worlds
SPLITS_SHOWN = ("group", "scenario", "fault kind", "decided by")
COLUMNS = ("top-1 (95%)", "top-3", "released", "wrong of released (95%)", "kind right", "false alarm (95%)")
BASELINES = ("chance", "alert's entity", "loudest")
PLAIN = frozenset(
    {
        "top1",
        "top3",
        "released",
        "wrong",
        "right",
        "kind",
        "false_alarm",
        "chance",
        "alert",
        "loudest",
    }
)
"""Figures that the tables hold; the others are in a list below them."""


@dataclass(frozen=True, slots=True)
class Part:
    """One data set of the score, and the part of it that is run."""

    data_set: DataSet
    wanted: Wanted = field(default_factory=lambda: Wanted(tuple(Condition), limits=LIMITS))


def parts(data: Path | None, only: Collection[str] = ()) -> Iterator[Part]:
    """The available data sets, or those of the given names; a missing one is left out and named."""
    simulated = (
        DemoFaults(seeds=DEMO_SEEDS, first_seed=DEMO_FIRST_SEED),
        HardKinds(seeds=HARD_SEEDS, first_seed=FIRST_PUBLISHED_SEED),
    )
    yield from (Part(one) for one in simulated if not only or one.name in only)
    if data is None:
        return
    for name in NAMES:
        if only and name not in only:
            continue
        found = data_set(name, data)
        try:
            many = len(found.incident_ids()) > EVENTS_EACH
        except InvalidInput as missing:
            print(f"{name}: left out, {missing}", flush=True)
            continue
        yield Part(found, Wanted(tuple(Condition), limits=LIMITS, limit=EVENTS_EACH if many else None))


def run_parts(wanted: Sequence[Part], code: str, *, results: ResultsFile, jobs: int) -> list[BenchResult]:
    """Run the parts one after another, with a progress bar for each."""
    console = Console(stderr=True)
    found = []
    with Progress(console=console, disable=not console.is_terminal) as progress:
        for part in wanted:
            task = progress.add_task(part.data_set.name, total=None)

            def tick(done: int, total: int, task: TaskID = task) -> None:
                progress.update(task, completed=done, total=total)

            with tempfile.TemporaryDirectory(prefix="diagnose-score-") as work:
                bench = Bench(part.data_set, WholePath(FolderOpener()), Path(work), code)
                found.append(run_bench(bench, part.wanted, results=results, pace=Pace(jobs, tick)))
            print(
                f"{part.data_set.name}: {len(found[-1].outcomes)} runs, {found[-1].reused} kept", flush=True
            )
    return found


def describe_measurement(result: BenchResult, commit: str) -> str:
    """The commit that was measured, and how long its runs took, including stored runs."""
    minutes = sum(outcome.run.cost.elapsed_s for outcome in result.outcomes) / 60
    return (
        f"{describe_commit(commit)}: {len(result.outcomes)} runs, {minutes:.1f} minutes one after the other."
    )


def section(result: BenchResult, commit: str = "") -> str:
    """The section of one data set on the page."""
    whole = [(condition.value, one) for condition, one in result.scores() if one.split == "all"]
    lines = [describe_measurement(result, commit), "", *_table("stated", whole)]
    first = result.conditions()[0]
    mine = [score for condition, score in result.scores() if condition is first]
    for split in SPLITS_SHOWN:
        rows = [(score.name, score) for score in mine if score.split == split]
        lines += ["", *_table(split, rows)] if rows else []
    lines += ["", *_further(mine[0]), *_calibration(result, first), _costs(mine[0])]
    if (broken := failure_line(result.outcomes)) is not None:
        lines += ["", broken]
    if (unused := line_of_unused(result.outcomes)) is not None:
        lines += [f"- {unused}"]
    lines += [f"- no answer: {line}" for line in rows_without_answer(result.outcomes)]
    lines += [f"- not scored: {line}" for line in rows_not_scored(result)]
    return "\n".join(line for line in lines) + "\n"


def _table(heading: str, rows: Sequence[tuple[str, Score]]) -> Iterator[str]:
    baselines = any("chance" in score.figures for _, score in rows) and heading in {"stated", "group"}
    head = (heading, "n", *COLUMNS, *(BASELINES if baselines else ()))
    yield f"| {' | '.join(head)} |"
    yield "|---" + "|--:" * (len(head) - 1) + "|"
    for name, score in rows:
        cells = [
            _with_range(score, "top1"),
            share_text(score, "top3"),
            share_text(score, "released"),
            _with_range(score, "wrong"),
            share_text(score, "kind"),
            _with_range(score, "false_alarm"),
        ]
        if baselines:
            cells += [share_text(score, name) for name in ("chance", "alert", "loudest")]
        yield f"| {name.replace('|', '/')} | {score.runs} | {' | '.join(cells)} |"


def _with_range(score: Score, name: str) -> str:
    return f"{share_text(score, name)} ({range_text(score, name)})" if name in score.figures else "–"


def _further(score: Score) -> Iterator[str]:
    for measure in MEASURES:
        if measure.name not in PLAIN and (figure := score.figures.get(measure.name)) is not None:
            shown = f"{figure.share:.2f} ({figure.low:.2f}–{figure.high:.2f}) of {figure.count}"
            yield f"- {measure.title}: {shown} ({measure.says})"


def _calibration(result: BenchResult, condition: Condition) -> Iterator[str]:
    found = measure_calibration(result.under(condition))
    if found is not None:
        bins = ", ".join(
            f"{one.confidence:.2f}: {one.right.share:.2f} of {one.right.count}" for one in found.bins
        )
        brier = f"{found.brier.share:.3f} ({found.brier.low:.3f}–{found.brier.high:.3f})"
        yield (
            f"- confidence: Brier score {brier}, of the base rate {found.base.share:.3f}; right at a mean"
            f" confidence of {bins}"
        )


def _costs(score: Score) -> str:
    """The costs that do not depend on the machine; seconds and CPU are in the report."""
    costs = score.costs
    return (
        f"- medians: {costs.tool_calls:.0f} tool calls, {costs.record_bytes / 1e3:.1f} kB of records,"
        f" {costs.data_bytes / 1e6:.2f} MB in the folder"
    )


def write_sections(page: Path, texts: Sequence[tuple[str, str]]) -> None:
    """Replace the section of each data set; one that the page does not have yet goes to the end of them.

    Raises:
        ValueError: the page has no place for sections, or the end of one is missing.
    """
    whole = page.read_text(encoding="utf-8")
    end = "<!-- scores: end -->"
    if end not in whole:
        raise ValueError(f"{page} has no {end}")
    for name, text in texts:
        begin, close = f"<!-- score {name}: written by make score -->", f"<!-- score {name}: end -->"
        block = f"{begin}\n{text}{close}"
        if begin in whole and close not in whole:
            raise ValueError(f"{page} has {begin} and no {close}")
        if begin in whole:
            before, _, rest = whole.partition(begin)
            whole = before + block + rest.partition(close)[2]
        else:
            whole = whole.replace(end, f"### {name}\n\n{block}\n\n{end}")
    page.write_text(whole, encoding="utf-8")


def main() -> int:
    """Run, write the report, write the page."""
    options = _options()
    named = os.environ.get("DIAGNOSIS_DATA", "")
    data = Path(named) if named and Path(named).is_dir() else None
    chosen = list(parts(data, options.only or ()))
    if options.limit is not None:
        chosen = [Part(p.data_set, Wanted(p.wanted.conditions, options.limit)) for p in chosen]
    options.out.mkdir(parents=True, exist_ok=True)
    code = digest_conditions(None)
    results = ResultsFile(options.out / "runs.jsonl")
    found = run_parts(chosen, code, results=results, jobs=options.jobs)
    document = json.dumps(bench_document(found, code=code), ensure_ascii=False)
    (options.out / "score.json").write_text(document + "\n", encoding="utf-8")
    (options.out / "score.html").write_text(html_page(found, code=code), encoding="utf-8")
    commit = find_commit()
    texts = [(result.data_set, section(result, commit)) for result in found]
    if options.page is not None:
        write_sections(options.page, texts)
    elif options.limit is None:
        write_sections(PAGE, texts)
    for result in found:
        if (broken := failure_line(result.outcomes)) is not None:
            print(f"{result.data_set}: {broken}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make score", description=__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="processes at once (default 2)")
    parser.add_argument("--only", action="append", metavar="SET", help="only this data set; repeatable")
    parser.add_argument(
        "--limit", type=int, help="so many incidents of each condition; the page is then left alone"
    )
    parser.add_argument("--page", type=Path, help="write the sections of this page instead")
    parser.add_argument("--out", type=Path, default=OUT, help="where runs and the report are kept")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
