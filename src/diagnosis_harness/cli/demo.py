"""`diagnose demo`: a simulated system is broken, written as a folder, and diagnosed by the same path."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from diagnosis_harness.cli.answer import Asking, answer
from diagnosis_harness.cli.exit_codes import exit_code
from diagnosis_harness.cli.output import Output, publish, tell
from diagnosis_harness.cli.phrases import phrases_of
from diagnosis_harness.cli.ports import OpenDiagnosis
from diagnosis_harness.cli.verdict import is_right, verdict_lines
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.simulator.folder import SimulatedIncident, simulate_folder


@dataclass(frozen=True, slots=True)
class Demo:
    """What to simulate. `keep` is where the folder stays; None lets it go with the run."""

    fault: str
    seed: int
    keep: Path | None
    language: Language
    deadline_s: float | None


def run_demo(demo: Demo, output: Output, open_diagnosis: OpenDiagnosis) -> int:
    """Simulate, diagnose, and only then say what had been injected and whether it was found.

    The exit code is 0 where it was right, also by naming nothing where nothing was wrong; else the run's own.
    The right answer stays here: the run gets the folder and nothing else.

    Raises:
        InvalidInput: no such fault, a seed below zero, or a folder that cannot be written.
    """
    kind = _checked(demo)
    phrases = phrases_of(demo.language)
    # The document alone belongs on standard output when it was asked for.
    aside = sys.stderr if output.as_json else sys.stdout
    tell(f"{phrases.simulated.format(seed=demo.seed)}\n", aside)
    with nullcontext(demo.keep) if demo.keep else TemporaryDirectory(prefix="diagnose-demo-") as parent:
        incident = _simulated(kind, demo.seed, Path(parent))
        if demo.keep is not None:
            tell(f"{phrases.kept_folder.format(folder=incident.folder)}\n", aside)
        return _diagnosed(demo, incident, output, open_diagnosis)


def _diagnosed(demo: Demo, incident: SimulatedIncident, output: Output, open_diagnosis: OpenDiagnosis) -> int:
    phrases = phrases_of(demo.language)
    asking = Asking(
        question=phrases.demo_question,
        folder=incident.folder,
        deadline_s=demo.deadline_s,
        language=demo.language,
    )
    document = answer(asking, open_diagnosis, color=output.color)
    publish(document, output)
    said = "\n".join(verdict_lines(document, incident.truth, phrases))
    tell(f"\n{said}", sys.stderr if output.as_json else sys.stdout)
    if is_right(document, incident.truth):
        return 0
    return exit_code(document.release.outcome, document.run.state)


def _simulated(kind: FaultKind, seed: int, parent: Path) -> SimulatedIncident:
    try:
        return simulate_folder(kind, seed=seed, parent=parent)
    except OSError as error:
        problem = f"it cannot be written ({error.strerror})"
        raise InvalidInput(str(parent), problem, "name a folder that can be written") from error


def _checked(demo: Demo) -> FaultKind:
    if demo.seed < 0:
        raise InvalidInput("--seed", f"{demo.seed} is below zero", "give zero or more")
    if demo.fault not in set(FaultKind):
        known = ", ".join(kind.value for kind in FaultKind)
        raise InvalidInput("--fault", f"'{demo.fault}' is not known", f"choose one of {known}")
    return FaultKind(demo.fault)
