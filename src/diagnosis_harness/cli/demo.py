"""`diagnose demo`: simulate an incident, write it as a folder, and diagnose that folder."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from diagnosis_harness.cli.ask import AskRequest, Handling, diagnose_folder
from diagnosis_harness.cli.demo_verdict import (
    Injected,
    hard_injection,
    is_right,
    usual_injection,
    verdict_lines,
)
from diagnosis_harness.cli.exit_codes import exit_code
from diagnosis_harness.cli.kept_runs import AskedOf, keep_run
from diagnosis_harness.cli.output import write_line
from diagnosis_harness.cli.ports import OpenDiagnosis
from diagnosis_harness.cli.publish import OutputOptions, write_outputs
from diagnosis_harness.cli.words import phrases
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.simulator.folder import simulate_folder
from diagnosis_harness.simulator.hard.catalog import HARD_KINDS
from diagnosis_harness.simulator.hard.play import simulate_hard
from diagnosis_harness.simulator.hard.writing import hard_folder_name, write_hard_folder


@dataclass(frozen=True, slots=True)
class Demo:
    """What to simulate. `keep` is the parent of a folder to keep; None deletes it after the run.

    A hard kind is simulated with twice the seed: its odd seeds are for the published score only.
    """

    fault: str
    seed: int
    keep: Path | None
    language: Language
    deadline_s: float | None


def run_demo(demo: Demo, output: OutputOptions, open_diagnosis: OpenDiagnosis, handling: Handling) -> int:
    """Simulate, diagnose, and only then print what was injected and whether it was found.

    The exit code is 0 if the diagnosis was right, also when nothing was injected and no cause was named;
    otherwise it is that of the run. The run sees the folder only, never the right answer.

    Raises:
        InvalidInput: no such fault, a seed below zero, or a folder that cannot be written.
    """
    _check(demo)
    # With --json only the document goes to standard output.
    notes = sys.stderr if output.as_json else sys.stdout
    write_line(f"{phrases.SIMULATED.render(demo.language, seed=demo.seed)}\n", notes)
    with nullcontext(demo.keep) if demo.keep else TemporaryDirectory(prefix="diagnose-demo-") as parent:
        folder, injected = _simulate(demo, Path(parent))
        if demo.keep is not None:
            write_line(f"{phrases.KEPT_FOLDER.render(demo.language, folder=str(folder))}\n", notes)
        return _diagnose(demo, (folder, injected), output, open_diagnosis, handling=handling)


def _diagnose(
    demo: Demo,
    incident: tuple[Path, Injected],
    output: OutputOptions,
    open_diagnosis: OpenDiagnosis,
    *,
    handling: Handling,
) -> int:
    folder, injected = incident
    request = AskRequest(
        question=phrases.DEMO_QUESTION.in_(demo.language),
        folder=folder,
        deadline_s=demo.deadline_s,
        language=demo.language,
    )
    document = diagnose_folder(request, folder, open_diagnosis, color=output.color)
    write_outputs(document, output)
    if handling.keep:
        keep_run(document, AskedOf(folder if demo.keep else None), handling.settings_file, demo.language)
    verdict = "\n".join(verdict_lines(document, injected, demo.language))
    write_line(f"\n{verdict}", sys.stderr if output.as_json else sys.stdout)
    if is_right(document, injected):
        return 0
    return exit_code(document.release.outcome, document.run.state)


def _simulate(demo: Demo, parent: Path) -> tuple[Path, Injected]:
    """Write the folder, and print what was broken, to judge the answer by."""
    try:
        if demo.fault not in HARD_KINDS:
            incident = simulate_folder(FaultKind(demo.fault), seed=demo.seed, parent=parent)
            return incident.folder, usual_injection(incident.truth)
        seed = 2 * demo.seed
        world = simulate_hard(HARD_KINDS[demo.fault], seed=seed)
        folder = parent / hard_folder_name(demo.fault, seed)
        write_hard_folder(world, folder)
        return folder, hard_injection(world)
    except OSError as error:
        problem = f"it cannot be written ({error.strerror})"
        raise InvalidInput(str(parent), problem, "name a folder that can be written") from error


def _check(demo: Demo) -> None:
    if demo.seed < 0:
        raise InvalidInput("--seed", f"{demo.seed} is below zero", "give zero or more")
    if demo.fault not in {*FaultKind, *HARD_KINDS}:
        known = ", ".join((*FaultKind, *HARD_KINDS))
        raise InvalidInput("--fault", f"'{demo.fault}' is not known", f"choose one of {known}")
