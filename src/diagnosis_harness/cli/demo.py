"""`diagnose demo`: simulate an incident, write it as a folder, and diagnose that folder."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from diagnosis_harness.cli.ask import AskRequest, diagnose_folder
from diagnosis_harness.cli.demo_verdict import is_right, verdict_lines
from diagnosis_harness.cli.exit_codes import exit_code
from diagnosis_harness.cli.output import tell
from diagnosis_harness.cli.ports import OpenDiagnosis
from diagnosis_harness.cli.publish import OutputOptions, publish
from diagnosis_harness.cli.words import phrases
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.simulator.folder import SimulatedIncident, simulate_folder


@dataclass(frozen=True, slots=True)
class Demo:
    """What to simulate. `keep` is the parent of a folder to keep; None deletes it after the run."""

    fault: str
    seed: int
    keep: Path | None
    language: Language
    deadline_s: float | None


def run_demo(demo: Demo, output: OutputOptions, open_diagnosis: OpenDiagnosis) -> int:
    """Simulate, diagnose, and only then print what was injected and whether it was found.

    The exit code is 0 if the diagnosis was right, also when nothing was injected and no cause was named;
    otherwise it is that of the run. The run sees the folder only, never the right answer.

    Raises:
        InvalidInput: no such fault, a seed below zero, or a folder that cannot be written.
    """
    kind = _check(demo)
    # With --json only the document goes to standard output.
    notes = sys.stderr if output.as_json else sys.stdout
    tell(f"{phrases.SIMULATED.render(demo.language, seed=demo.seed)}\n", notes)
    with nullcontext(demo.keep) if demo.keep else TemporaryDirectory(prefix="diagnose-demo-") as parent:
        incident = _simulate(kind, demo.seed, Path(parent))
        if demo.keep is not None:
            tell(f"{phrases.KEPT_FOLDER.render(demo.language, folder=str(incident.folder))}\n", notes)
        return _diagnose(demo, incident, output, open_diagnosis)


def _diagnose(
    demo: Demo, incident: SimulatedIncident, output: OutputOptions, open_diagnosis: OpenDiagnosis
) -> int:
    request = AskRequest(
        question=phrases.DEMO_QUESTION.in_(demo.language),
        folder=incident.folder,
        deadline_s=demo.deadline_s,
        language=demo.language,
    )
    document = diagnose_folder(request, incident.folder, open_diagnosis, color=output.color)
    publish(document, output)
    verdict = "\n".join(verdict_lines(document, incident.truth, demo.language))
    tell(f"\n{verdict}", sys.stderr if output.as_json else sys.stdout)
    if is_right(document, incident.truth):
        return 0
    return exit_code(document.release.outcome, document.run.state)


def _simulate(kind: FaultKind, seed: int, parent: Path) -> SimulatedIncident:
    try:
        return simulate_folder(kind, seed=seed, parent=parent)
    except OSError as error:
        problem = f"it cannot be written ({error.strerror})"
        raise InvalidInput(str(parent), problem, "name a folder that can be written") from error


def _check(demo: Demo) -> FaultKind:
    if demo.seed < 0:
        raise InvalidInput("--seed", f"{demo.seed} is below zero", "give zero or more")
    if demo.fault not in set(FaultKind):
        known = ", ".join(kind.value for kind in FaultKind)
        raise InvalidInput("--fault", f"'{demo.fault}' is not known", f"choose one of {known}")
    return FaultKind(demo.fault)
