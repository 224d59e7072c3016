"""The real command line over the real system, with metrics that never answer: a process for the tests."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

from diagnosis_harness.bootstrap.diagnosis import Diagnosis, build_diagnosis
from diagnosis_harness.cli.main import run_command
from diagnosis_harness.cli.ports import LoadProgress
from diagnosis_harness.diagnosis.question import OnsetWords
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.ports import ALL_METRICS, MetricSelection, Recording
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName
from diagnosis_harness.trace.sink import FanOutSink, TraceSink


class StuckMetrics:
    """A backend that takes a call and never comes back."""

    def signals(self, ctx: RunContext, recording: Recording) -> NoReturn:
        self._hang()

    def series(
        self, ctx: RunContext, recording: Recording, selection: MetricSelection = ALL_METRICS
    ) -> NoReturn:
        self._hang()

    def _hang(self) -> NoReturn:
        print("stuck", file=sys.stderr, flush=True)  # noqa: T201 - what the test waits for
        while True:
            threading.Event().wait()


class Announcer:
    """Says on standard error which tools have answered, for a test that waits for one of them."""

    def emit(self, event: TraceEvent) -> None:
        if event.name is TraceName.TOOL_INVOCATION and event.status is TraceEventStatus.SUCCEEDED:
            print(f"answered: {event.payload.get('tool')}", file=sys.stderr, flush=True)  # noqa: T201 - as above


def open_stuck(
    *,
    folder: Path,
    baseline: Path | None,
    onset: float | OnsetWords | None,
    sink: TraceSink,
    progress: LoadProgress,
) -> Diagnosis:
    """The folder as it is, but for its metrics."""
    both = FanOutSink([sink, Announcer()])
    diagnosis = build_diagnosis(folder=folder, baseline=baseline, onset=onset, sink=both, progress=progress)
    diagnosis.sources = replace(diagnosis.sources, metrics=StuckMetrics())
    return diagnosis


if __name__ == "__main__":
    sys.exit(run_command(sys.argv[1:], open_diagnosis=open_stuck))
