"""`diagnose bench`: diagnose public data sets and simulated faults, and score the answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diagnosis_harness.bench.datasets.catalog import NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from diagnosis_harness.bench.case import DataSet, Diagnose, RunResult
    from diagnosis_harness.bench.scoring import Outcome
    from diagnosis_harness.cli.ports import OpenDiagnosis

QUESTION = "What caused this incident?"
UNBOUNDED = 1000
WRONG_SHOWN = 20


def register(app: typer.Typer, open_diagnosis: OpenDiagnosis) -> None:
    """Add the command `bench`."""

    @app.command()
    def bench(
        data_set: Annotated[
            str,
            typer.Argument(
                metavar="DATASET",
                help=f"{', '.join(NAMES)}, demo-faults or hard-kinds (simulated), or a folder of your own"
                " incidents (docs/reference/truth.md).",
            ),
        ],
        *,
        limit: Annotated[
            int | None, typer.Option("--limit", metavar="N", min=1, help="Take N incidents, evenly spread.")
        ] = None,
        json_file: Annotated[
            Path | None,
            typer.Option("--json", metavar="OUT", help="Write scores and every outcome to a file."),
        ] = None,
        data: Annotated[
            Path | None,
            typer.Option(
                "--data", metavar="DIR", envvar="DIAGNOSIS_DATA", help="The folder of the public data sets."
            ),
        ] = None,
        seeds: Annotated[
            int, typer.Option("--seeds", metavar="N", min=1, help="Simulated: seeds of each kind.")
        ] = 20,
        first_seed: Annotated[
            int,
            typer.Option(
                "--first-seed",
                metavar="N",
                help="Simulated: the first seed; of hard-kinds even ones are for development.",
            ),
        ] = 1000,
    ) -> int:
        """Diagnose every incident of a data set and score the answers.

        The runs see incident folders with opaque names; the right answers are read after the last run.
        """
        chosen = _data_set(data_set, data, seeds=seeds, first_seed=first_seed)
        outcomes = _run(chosen, _diagnose_with(open_diagnosis), limit=limit)
        _show(chosen.name, outcomes)
        if json_file is not None:
            _save(json_file, chosen.name, outcomes)
        return 0


def _data_set(name: str, data: Path | None, *, seeds: int, first_seed: int) -> DataSet:
    from diagnosis_harness.bench.datasets.catalog import data_set, own_incidents
    from diagnosis_harness.bench.demo_faults import DemoFaults
    from diagnosis_harness.bench.hard_kinds import HardKinds
    from diagnosis_harness.kernel.errors import InvalidInput

    if name == "demo-faults":
        return DemoFaults(seeds=seeds, first_seed=first_seed)
    if name == "hard-kinds":
        return HardKinds(seeds=seeds, first_seed=first_seed)
    if name not in NAMES and Path(name).is_dir():
        return own_incidents(Path(name))
    if name not in NAMES:
        known = ", ".join((*NAMES, "demo-faults", "hard-kinds"))
        raise InvalidInput("DATASET", f"'{name}' is not a known data set", f"choose one of {known}")
    if data is None:
        raise InvalidInput(
            name, "it needs the folder of the public data sets", "name it with --data or DIAGNOSIS_DATA"
        )
    return data_set(name, data)


def _diagnose_with(open_diagnosis: OpenDiagnosis) -> Diagnose:
    """Diagnose one folder, from reading it to the published document."""
    import asyncio
    from contextlib import closing

    from diagnosis_harness.bench.runner import result_of
    from diagnosis_harness.kernel.language import Language
    from diagnosis_harness.trace.sink import NullSink

    def silent(file: str, done: int, total: int) -> None:
        """Progress is counted in incidents, not in files."""

    def diagnose(folder: Path, baseline: Path | None) -> RunResult:
        with closing(
            open_diagnosis(folder=folder, baseline=baseline, onset_s=None, sink=NullSink(), progress=silent)
        ) as diagnosis:
            return result_of(asyncio.run(diagnosis.run(QUESTION, language=Language.EN, deadline_s=None)))

    return diagnose


def _run(chosen: DataSet, diagnose: Diagnose, *, limit: int | None) -> tuple[Outcome, ...]:
    from tempfile import TemporaryDirectory

    from rich.console import Console
    from rich.progress import Progress

    from diagnosis_harness.bench.runner import run_bench
    from diagnosis_harness.kernel.clock import SystemClock

    console = Console(stderr=True)
    with (
        TemporaryDirectory(prefix="diagnose-bench-") as work,
        Progress(console=console, transient=True, disable=not console.is_terminal) as progress,
    ):
        task = progress.add_task(chosen.name, total=None)
        return run_bench(
            chosen,
            diagnose,
            clock=SystemClock(),
            work=Path(work),
            limit=limit,
            tick=lambda done, total: progress.update(task, completed=done, total=total),
        )


def _show(name: str, outcomes: Sequence[Outcome]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table

    from diagnosis_harness.bench.report import COLUMNS, failure_line, score_rows, wrong_rows

    table = Table(
        title=f"{name}: {len(outcomes)} runs", title_justify="left", box=SIMPLE_HEAD, padding=(0, 1)
    )
    for index, column in enumerate(COLUMNS):
        table.add_column(column, justify="right" if index else "left", no_wrap=True)
    for row in score_rows(outcomes):
        table.add_row(*row)
    console = Console(markup=False, highlight=False, emoji=False)
    # A narrow screen may wrap a line; cutting cells would lose figures.
    wide = console.options.update(max_width=UNBOUNDED)
    console.width = max(console.width, Measurement.get(console, wide, table).maximum)
    console.print(table)
    if (broken := failure_line(outcomes)) is not None:
        console.print(broken, soft_wrap=True)
    wrong = wrong_rows(outcomes)
    for line in wrong[:WRONG_SHOWN]:
        console.print(f"confident and wrong: {line}", soft_wrap=True)
    if len(wrong) > WRONG_SHOWN:
        console.print(f"confident and wrong: {len(wrong) - WRONG_SHOWN} more; --json lists all")


def _save(file: Path, name: str, outcomes: Sequence[Outcome]) -> None:
    from diagnosis_harness.bench.report import bench_document
    from diagnosis_harness.kernel.errors import InvalidInput

    text = json.dumps(bench_document(name, outcomes), indent=2, ensure_ascii=False)
    try:
        file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        problem = f"it cannot be written ({error.strerror})"
        raise InvalidInput(str(file), problem, "name a file in a folder that can be written") from error
