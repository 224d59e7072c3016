"""Builds the diagnosis of one incident folder for the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.application.answer_question import LOCAL_CALLER, Question
from diagnosis_harness.application.inquiry import NOTHING_CARRIED
from diagnosis_harness.application.previous_turn import Turn
from diagnosis_harness.application.routed_question import AnsweredText, RoutedAnswer
from diagnosis_harness.application.runs.events import fail_on_error
from diagnosis_harness.audit.verification.recheck import Recheck, ask_again
from diagnosis_harness.bootstrap.workplace import Workplace, build_workplace, open_folder
from diagnosis_harness.diagnosis.question import OnsetWords
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import CancelAnswer
from diagnosis_harness.kernel.closing import Closing
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.settings import Settings, load_settings
from diagnosis_harness.toolbox.ports import Sources
from diagnosis_harness.trace.sink import FanOutSink, MemorySink, TraceSink


@dataclass(slots=True)
class Diagnosis(Closing):
    """Answers questions about one incident, one run each and one question at a time.

    Close it after the last question, best as a context manager: this releases its threads and the tables
    read from the folder.
    """

    workplace: Workplace
    trace: MemorySink
    sources: Sources
    onset: float | OnsetWords | None = None
    _ctx: RunContext | None = None
    _cancelled_early: CancellationReason | None = None

    async def run(
        self, question: str, *, language: Language, deadline_s: float | None, zone: str | None = None
    ) -> RunDocument:
        """Ask; `deadline_s` is the time allowed from now, None the configured one.

        The answer is a document however the run ends, even if it is cancelled or fails.

        Raises:
            InvalidInput: the folder has no data for the time in the question; the run is FAILED.
        """
        limit_s = self.workplace.settings.run.timeout_s if deadline_s is None else deadline_s
        ctx = self._start(limit_s)
        answered = await self.workplace.answer(
            ctx, self.sources, Question(question, language, limit_s, self.onset, zone)
        )
        return answered.document(self.trace.events(ctx.run_id))

    async def ask(
        self,
        question: str,
        *,
        language: Language,
        deadline_s: float | None,
        zone: str | None = None,
        turn: Turn | None = None,
    ) -> RoutedAnswer:
        """Route the question as the service does, and answer it; times as in `run`, `turn` as in the port.

        Raises:
            InvalidInput: as `run`, or the runbooks of the settings cannot be read; the run is FAILED.
        """
        limit_s = self.workplace.settings.run.timeout_s if deadline_s is None else deadline_s
        ctx = self._start(limit_s, session_id=turn.session_id if turn else None)
        carried = turn.carried if turn else NOTHING_CARRIED
        answered = await self.workplace.answer_by_path(
            ctx, self.sources, Question(question, language, limit_s, self.onset, zone, carried)
        )
        document = answered.document(self.trace.events(ctx.run_id))
        return RoutedAnswer(document, answered.text if isinstance(answered, AnsweredText) else None)

    async def ask_again(self, document: RunDocument) -> Recheck:
        """Repeat the queries of a saved run in a new run, and compare the answers."""
        core, ctx = self.workplace.core, self._start(self.workplace.settings.run.timeout_s)
        with fail_on_error(core, ctx):
            boundary = self.workplace.boundary(self.sources)
            return await ask_again(core, ctx, boundary, document, caller=LOCAL_CALLER)

    def cancel(self, reason: CancellationReason) -> CancelAnswer | None:
        """Cancel the run.

        If none is open yet, the next one ends as soon as it opens, and the answer is None.
        """
        if self._ctx is None:
            self._cancelled_early = reason
            return None
        return self.workplace.core.cancel(self._ctx, reason)

    def close(self) -> None:
        """End running work, release the folder's tables and stop all threads. A second call does nothing."""
        self.workplace.close()

    def _start(self, limit_s: float, *, session_id: str | None = None) -> RunContext:
        self._ctx = ctx = self.workplace.start_run(limit_s, session_id=session_id)
        if self._cancelled_early is not None:
            self.workplace.core.cancel(ctx, self._cancelled_early)
        return ctx


def build_diagnosis(
    *,
    folder: Path,
    baseline: Path | None,
    onset: float | OnsetWords | None,
    sink: TraceSink,
    progress: Callable[[str, int, int], None],
    settings: Settings | None = None,
) -> Diagnosis:
    """Read an incident folder and build everything around it; the caller closes it.

    Raises:
        InvalidInput: the folder, a file in it or a setting cannot be used.
    """
    trace, settings = MemorySink(), settings or load_settings()
    workplace = build_workplace(settings, sink=FanOutSink((trace, sink)))
    try:
        stated_s = None if isinstance(onset, OnsetWords) else onset
        sources = open_folder(settings, folder, baseline=baseline, onset_s=stated_s, progress=progress)
    except BaseException:
        workplace.close()
        raise
    return Diagnosis(workplace, trace, sources, onset)
