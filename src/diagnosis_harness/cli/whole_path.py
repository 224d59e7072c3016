"""Diagnoses one incident folder for the bench, from reading it to the published document."""

from __future__ import annotations

import asyncio
import time
from contextlib import closing
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from diagnosis_harness.bench.answer import result_of
from diagnosis_harness.bench.case import Cost, Diagnosed
from diagnosis_harness.bench.loudest import find_known, find_loudest
from diagnosis_harness.bench.results_file import digest_code
from diagnosis_harness.bootstrap.diagnosis import Diagnosis
from diagnosis_harness.cli.ports import OpenDiagnosis
from diagnosis_harness.kernel.clock import Clock, SystemClock
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.settings import load_settings
from diagnosis_harness.trace.sink import NullSink

QUESTION = "What caused this incident?"
LIBRARIES = ("numpy", "duckdb")
"""Libraries whose version may change a figure."""


@dataclass(frozen=True, slots=True)
class WholePath:
    """Diagnoses one folder after another; it can be pickled if `open_diagnosis` can."""

    open_diagnosis: OpenDiagnosis
    clock: Clock | None = None
    """Measures the time of a run; None is the system's clock, which cannot be pickled."""

    def __call__(self, folder: Path, baseline: Path | None) -> Diagnosed:
        """Diagnose one folder.

        Raises:
            InvalidInput: the folder cannot be read.
        """
        clock = SystemClock() if self.clock is None else self.clock
        started_s, cpu_s = clock.now_s(), time.process_time()
        opened = self.open_diagnosis(
            folder=folder, baseline=baseline, onset=None, sink=NullSink(), progress=_ignore_progress
        )
        with closing(opened) as diagnosis:
            document = asyncio.run(diagnosis.run(QUESTION, language=Language.EN, deadline_s=None))
            cost = Cost(elapsed_s=clock.now_s() - started_s, cpu_s=time.process_time() - cpu_s)
            # A test double has no telemetry to examine.
            if not isinstance(diagnosis, Diagnosis):
                return Diagnosed(result_of(document), cost)
            loudest, known = find_loudest(diagnosis), find_known(diagnosis)
        return Diagnosed(result_of(document), cost, loudest, known)


def digest_conditions(settings_file: Path | None) -> str:
    """A digest of all that affects an answer besides the folder: code, libraries, settings, question."""
    settings = load_settings(settings_file)
    parts = (digest_code(), *(version(name) for name in LIBRARIES), settings.model_dump_json(), QUESTION)
    return sha256("\0".join(parts).encode()).hexdigest()


def _ignore_progress(file: str, done: int, total: int) -> None:
    """Show nothing, since the bench shows progress by incidents and not by files."""
