"""`diagnose bench`: diagnose public data sets, own incidents and simulated faults, and score the answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diagnosis_harness.bench.case import Condition, DataSet
from diagnosis_harness.bench.datasets.catalog import NAMES
from diagnosis_harness.cli.options import SettingsFile

if TYPE_CHECKING:  # slow imports, made only when needed
    from diagnosis_harness.bench.runner import BenchResult, Wanted
    from diagnosis_harness.cli.ports import OpenDiagnosis

UNBOUNDED = 1000
WRONG_SHOWN = 20
ALL = "all"
CONDITIONS = ", ".join(condition.value for condition in Condition)


DataSetArgument = Annotated[
    str | None,
    typer.Argument(
        metavar="DATASET",
        help=f"{', '.join(NAMES)}, demo-faults or hard-kinds (simulated), or a folder of your own"
        " incidents (docs/reference/truth.md).",
    ),
]
ConditionOption = Annotated[
    list[str] | None,
    typer.Option(
        "--condition",
        metavar="NAME",
        help=f"What is stated about each incident; repeatable, or {ALL}. {CONDITIONS}.",
    ),
]
LimitOption = Annotated[
    int | None,
    typer.Option("--limit", metavar="N", min=1, help="Take N incidents of each condition, evenly spread."),
]
JobsOption = Annotated[
    int, typer.Option("--jobs", metavar="N", min=1, help=("How many processes run at once."))
]
ResultsOption = Annotated[
    Path | None,
    typer.Option(
        "--results",
        metavar="FILE",
        help="Store finished runs here, and skip those already stored.",
    ),
]
JsonFileOption = Annotated[
    Path | None, typer.Option("--json", metavar="OUT", help="Write scores and every outcome to a file.")
]
HtmlFileOption = Annotated[
    Path | None,
    typer.Option("--html", metavar="OUT", help="Write one page with tables, curves and wrong releases."),
]
CompareOption = Annotated[
    tuple[Path, Path] | None,
    typer.Option("--compare", metavar="A.json B.json", help="Run nothing; compare two --json files instead."),
]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR", envvar="DIAGNOSIS_DATA", help="The folder of the public data sets."
    ),
]
SeedsOption = Annotated[
    int, typer.Option("--seeds", metavar="N", min=1, help="Simulated: seeds of each kind.")
]
FirstSeedOption = Annotated[
    int,
    typer.Option(
        "--first-seed",
        metavar="N",
        help="Simulated: the first seed, and every second one after it; even seeds are for development.",
    ),
]


ShowUnseenOption = Annotated[
    bool,
    typer.Option(
        "--show-unseen",
        help="Simulated: also show the wrong releases of odd seeds, which are otherwise only counted.",
    ),
]


def register(app: typer.Typer, open_diagnosis: OpenDiagnosis, settings_file: SettingsFile) -> None:
    """Add the command `bench`."""

    @app.command()
    def bench(  # noqa: PLR0913 - the options of a command
        data_set: DataSetArgument = None,
        *,
        condition: ConditionOption = None,
        limit: LimitOption = None,
        jobs: JobsOption = 1,
        results: ResultsOption = None,
        json_file: JsonFileOption = None,
        html_file: HtmlFileOption = None,
        compare: CompareOption = None,
        data: DataOption = None,
        seeds: SeedsOption = 20,
        first_seed: FirstSeedOption = 1000,
        show_unseen: ShowUnseenOption = False,
    ) -> int:
        """Diagnose every incident of a data set and score the answers.

        The runs see incident folders with opaque names; the right answers are read after the last run.
        """
        if compare is not None:
            return _compare(*compare)
        from diagnosis_harness.cli.whole_path import digest_conditions

        chosen = _data_set(data_set, data, seeds=seeds, first_seed=first_seed)
        wanted = _choose(condition or [Condition.AS_PUBLISHED.value], limit)
        code = digest_conditions(settings_file())
        result = _run(_Plan(chosen, open_diagnosis, code), wanted, results=results, jobs=jobs)
        _show(result, show_unseen=show_unseen)
        _save((json_file, html_file), result, code, show_unseen=show_unseen)
        return 0


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is measured: the incidents, how they are diagnosed, and a digest of all that affects an answer."""

    data_set: DataSet
    open_diagnosis: OpenDiagnosis
    code: str


def _data_set(name: str | None, data: Path | None, *, seeds: int, first_seed: int) -> DataSet:
    from diagnosis_harness.bench.datasets.catalog import data_set, own_incidents
    from diagnosis_harness.bench.demo_faults import DemoFaults
    from diagnosis_harness.bench.hard_kinds import HardKinds
    from diagnosis_harness.kernel.errors import InvalidInput

    known = ", ".join((*NAMES, "demo-faults", "hard-kinds"))
    if name is None:
        raise InvalidInput("DATASET", "no data set is named", f"choose one of {known}")
    if name == "demo-faults":
        return DemoFaults(seeds=seeds, first_seed=first_seed)
    if name == "hard-kinds":
        return HardKinds(seeds=seeds, first_seed=first_seed)
    if name not in NAMES and Path(name).is_dir():
        return own_incidents(Path(name))
    if name not in NAMES:
        raise InvalidInput("DATASET", f"'{name}' is not a known data set", f"choose one of {known}")
    if data is None:
        raise InvalidInput(
            name, "it needs the folder of the public data sets", "name it with --data or DIAGNOSIS_DATA"
        )
    return data_set(name, data)


def _choose(names: list[str], limit: int | None) -> Wanted:
    from diagnosis_harness.bench.runner import Wanted
    from diagnosis_harness.kernel.errors import InvalidInput

    if ALL in names:
        return Wanted(tuple(Condition), limit)
    known = {condition.value: condition for condition in Condition}
    for name in names:
        if name not in known:
            raise InvalidInput(
                "--condition", f"'{name}' is not a condition", f"choose {ALL}, or some of {CONDITIONS}"
            )
    return Wanted(tuple(dict.fromkeys(known[name] for name in names)), limit)


def _run(plan: _Plan, wanted: Wanted, *, results: Path | None, jobs: int) -> BenchResult:
    from tempfile import TemporaryDirectory

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from diagnosis_harness.bench.results_file import ResultsFile
    from diagnosis_harness.bench.runner import Pace, run_bench
    from diagnosis_harness.bench.work import Bench
    from diagnosis_harness.cli.whole_path import WholePath

    console = Console(stderr=True)
    with (
        TemporaryDirectory(prefix="diagnose-bench-") as work,
        Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        ) as progress,
    ):
        task = progress.add_task(plan.data_set.name, total=None)
        bench = Bench(plan.data_set, WholePath(plan.open_diagnosis), Path(work), plan.code)
        pace = Pace(jobs, lambda done, total: progress.update(task, completed=done, total=total))
        return run_bench(bench, wanted, results=ResultsFile(results), pace=pace)


def _show(result: BenchResult, *, show_unseen: bool) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table

    from diagnosis_harness.bench.report import (
        COLUMNS,
        failure_line,
        line_of_unseen,
        line_of_unused,
        rows_not_scored,
        rows_without_answer,
        score_rows,
        wrong_rows,
        wrong_shown,
    )

    runs = len(result.outcomes)
    reused = f", {result.reused} of them from the results file" if result.reused else ""
    table = Table(
        title=f"{result.data_set}: {runs} runs{reused}",
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1),
    )
    for index, column in enumerate(COLUMNS):
        table.add_column(column, justify="right" if index else "left", no_wrap=True)
    for row in score_rows(result):
        table.add_row(*row)
    console = Console(markup=False, highlight=False, emoji=False)
    # A narrow screen may wrap a line; cutting cells would lose figures.
    wide = console.options.update(max_width=UNBOUNDED)
    console.width = max(console.width, Measurement.get(console, wide, table).maximum)
    console.print(table)
    if (broken := failure_line(result.outcomes)) is not None:
        console.print(broken, soft_wrap=True)
    if (unused := line_of_unused(result.outcomes)) is not None:
        console.print(unused, soft_wrap=True)
    for line in rows_without_answer(result.outcomes):
        console.print(f"no answer: {line}", soft_wrap=True)
    for line in rows_not_scored(result):
        console.print(f"not scored: {line}", soft_wrap=True)
    wrong = wrong_rows(wrong_shown(result.outcomes, show_unseen=show_unseen))
    for line in wrong[:WRONG_SHOWN]:
        console.print(f"released and wrong: {line}", soft_wrap=True)
    if len(wrong) > WRONG_SHOWN:
        console.print(f"released and wrong: {len(wrong) - WRONG_SHOWN} more; --html and --json list all")
    if (hidden := line_of_unseen(result.outcomes, show_unseen=show_unseen)) is not None:
        console.print(hidden, soft_wrap=True)


def _save(
    files: tuple[Path | None, Path | None], result: BenchResult, code: str, *, show_unseen: bool
) -> None:
    from diagnosis_harness.bench.html_page import html_page
    from diagnosis_harness.bench.report import bench_document

    json_file, html_file = files
    if json_file is not None:
        document = bench_document([result], code=code, show_unseen=show_unseen)
        _write(json_file, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    if html_file is not None:
        _write(html_file, html_page([result], code=code, show_unseen=show_unseen))


def _write(file: Path, text: str) -> None:
    from diagnosis_harness.kernel.errors import InvalidInput

    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        problem = f"it cannot be written ({error.strerror})"
        raise InvalidInput(str(file), problem, "name a file in a folder that can be written") from error


def _compare(before: Path, after: Path) -> int:
    from diagnosis_harness.bench.compare import compare_benches, comparison_lines, read_bench

    for line in comparison_lines(compare_benches(read_bench(before), read_bench(after))):
        typer.echo(line)
    return 0
