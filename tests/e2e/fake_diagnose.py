"""The real command line over a diagnosis that ends as its question says; run as a process by the tests."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support import documents

from diagnosis_harness.application.previous_turn import Turn
from diagnosis_harness.application.routed_question import RoutedAnswer
from diagnosis_harness.audit.verification.recheck import Recheck
from diagnosis_harness.cli.main import run_command
from diagnosis_harness.cli.ports import LoadProgress
from diagnosis_harness.diagnosis.question import OnsetWords
from diagnosis_harness.harness.termination import CancellationReason, RunState
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase
from diagnosis_harness.trace.sink import TraceSink


class FakeDiagnosis:
    """Ends as it is asked: SUCCESS, FALLBACK, FAILED with a state, raise, refuse, wait for cancel, stuck."""

    def __init__(self, sink: TraceSink) -> None:
        self._sink = sink
        self._seq = 0
        self._cancelled = asyncio.Event()

    async def run(
        self, question: str, *, language: Language, deadline_s: float | None, zone: str | None = None
    ) -> RunDocument:
        self._emit(TraceName.RUN_STARTED, TraceEventStatus.STARTED, {"limits": {"tool_calls": 60}})
        self._emit(TraceName.STATUS, TraceEventStatus.STARTED, {"stage": "DIAGNOSIS_RUNNING"})
        call = {"tool": "changed_signals", "tool_call_id": "t1"}
        self._emit(TraceName.TOOL_INVOCATION, TraceEventStatus.STARTED, call)
        match question.split():
            case ["wait" | "stuck" as how]:
                print("waiting", file=sys.stderr, flush=True)  # noqa: T201 - what the test waits for
                await (self._cancelled.wait() if how == "wait" else asyncio.Event().wait())
                return documents.document_of_cancel(language)
            case ["raise"]:
                raise ZeroDivisionError("a bug")
            case ["refuse"]:
                raise InvalidInput("metrics.csv", "has no time column", "name it in incident.toml")
            case ["FAILED", state]:
                return documents.document_of_end(ReleaseOutcome.FAILED, RunState(state))
            case ["FALLBACK"]:
                return documents.fallback(language)
        self._emit(TraceName.TOOL_INVOCATION, TraceEventStatus.SUCCEEDED, {**call, "items": 2})
        return documents.success(language)

    async def ask(
        self,
        question: str,
        *,
        language: Language,
        deadline_s: float | None,
        zone: str | None = None,
        turn: Turn | None = None,
    ) -> RoutedAnswer:
        return RoutedAnswer(await self.run(question, language=language, deadline_s=deadline_s, zone=zone))

    async def ask_again(self, document: RunDocument) -> Recheck:
        raise NotImplementedError  # saved runs are asked again of real folders

    def cancel(self, reason: CancellationReason) -> None:
        assert reason is CancellationReason.USER_REQUESTED
        self._cancelled.set()

    def close(self) -> None:
        self._cancelled.set()

    def _emit(self, name: TraceName, status: TraceEventStatus, payload: Mapping[str, object]) -> None:
        self._seq += 1
        event = TraceEvent(self._seq, "r1", SystemClock().now_s(), name, TracePhase.RUN, status, payload)  # type: ignore[arg-type]  # any payload will do
        self._sink.emit(event)


def open_fake(
    *,
    folder: Path,
    baseline: Path | None,
    onset: float | OnsetWords | None,
    sink: TraceSink,
    progress: LoadProgress,
) -> FakeDiagnosis:
    """A fake that reads nothing; the folder says whether reading is interrupted."""
    progress("metrics.csv", 1, 2)
    if folder.name == "slow":
        print("reading", file=sys.stderr, flush=True)  # noqa: T201 - what the test waits for
        signal.pause()
    return FakeDiagnosis(sink)


if __name__ == "__main__":
    sys.exit(run_command(sys.argv[1:], open_diagnosis=open_fake))
