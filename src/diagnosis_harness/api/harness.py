"""The harness as a host program opens it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from math import isfinite
from pathlib import Path
from types import TracebackType
from typing import Self

from diagnosis_harness.api.answer import Answer, language_named
from diagnosis_harness.api.folder import IncidentFolder
from diagnosis_harness.api.live_run import LiveRun
from diagnosis_harness.api.run_events import RunEvents
from diagnosis_harness.application.answer_question import Question
from diagnosis_harness.application.runs.submission import check_question
from diagnosis_harness.bootstrap.workplace import Workplace, build_workplace, open_folder
from diagnosis_harness.diagnosis.policy import DiagnosisPolicy
from diagnosis_harness.harness.budget import RunBudgetLimits
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.waiting import run_in_worker
from diagnosis_harness.kernel.clock import Clock
from diagnosis_harness.kernel.errors import ContractViolation, InvalidInput
from diagnosis_harness.kernel.ids import IdSource
from diagnosis_harness.kernel.language import Language, language_of
from diagnosis_harness.release.work import do_release_work
from diagnosis_harness.settings import Settings, load_settings
from diagnosis_harness.toolbox.ports import Sources
from diagnosis_harness.tools.spec import Tool


@dataclass(slots=True, kw_only=True)
class Harness:
    """Answers questions with your tools, your policy and your telemetry; an async context manager.

    One harness serves any number of questions at once, inside the event loop that opened it. When its block
    ends, runs that still work are cancelled and its threads end.

    Attributes:
        tools: your own read-only tools, in addition to those over `sources`.
        policy: decides which tool to call next and what to conclude; None is the embedded analyst, which
            needs `sources`.
        sources: a folder of telemetry, or sources of your own; None where your tools bring everything.
        limits: what one run may spend; None takes them from the settings.
        timeout_s: how long one run may take; None takes it from the settings.
        settings: everything else; None reads the defaults and the `DIAGNOSE_...` environment variables.
        clock, ids: where time and ids come from; tests hand in `diagnosis_harness.testing`.
    """

    tools: Sequence[Tool] = ()
    policy: DiagnosisPolicy | None = None
    sources: IncidentFolder | Sources | str | Path | None = None
    limits: RunBudgetLimits | None = None
    timeout_s: float | None = None
    settings: Settings | None = None
    clock: Clock | None = None
    ids: IdSource | None = None
    _events: RunEvents = field(default_factory=RunEvents, init=False, repr=False)
    _workplace: Workplace | None = field(default=None, init=False, repr=False)
    _opened: Sources | None = field(default=None, init=False, repr=False)
    _live: set[LiveRun] = field(default_factory=set, init=False, repr=False)

    async def __aenter__(self) -> Self:
        """Read the sources, on a thread.

        Raises:
            InvalidInput: there are neither tools nor sources, or a folder, a file or a setting cannot be
            used.
        """
        if self._workplace is not None:
            raise ContractViolation("a harness is opened once at a time")
        if self.policy is None and self.sources is None:
            raise InvalidInput(
                "policy", "the embedded analyst has no sources to look into", "give sources, or a policy"
            )
        workplace = build_workplace(
            self.settings or load_settings(),
            tools=self.tools,
            policy=self.policy,
            sink=self._events,
            clock=self.clock,
            ids=self.ids,
        )
        try:
            self._opened = await _open_sources(workplace, self.sources)
        except BaseException:
            workplace.close()
            raise
        self._workplace = workplace
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel what still works, and let the threads end."""
        workplace, self._workplace, self._opened = self._workplace, None, None
        if workplace is None:
            return
        try:
            await self._cancel_live()
        finally:
            workplace.close()

    async def ask(
        self,
        question: str,
        *,
        onset: datetime | None = None,
        timeout_s: float | None = None,
        language: Language | str | None = None,
    ) -> Answer:
        """Ask and wait for the answer, which exists however the run ends, even cancelled or failed.

        Cancelling the task that waits here cancels the run.

        Args:
            onset: when the trouble began, if you know it; with a time zone.
            timeout_s: replaces that of the harness.
            language: of the answer; None is that of the question.

        Raises:
            InvalidInput: the question or another argument cannot be used.
            ContractViolation: the harness is not open.
        """
        return await self.stream(question, onset=onset, timeout_s=timeout_s, language=language).answer()

    def stream(
        self,
        question: str,
        *,
        onset: datetime | None = None,
        timeout_s: float | None = None,
        language: Language | str | None = None,
    ) -> LiveRun:
        """Begin to answer, and watch the run: see `LiveRun`. Arguments and errors are those of `ask`."""
        if self._workplace is None:
            raise ContractViolation("ask a harness inside its `async with` block")
        asked = Question(
            text=check_question(question),
            language=language_of(question) if language is None else language_named(language),
            limit_s=self._limit_s(timeout_s, self._workplace.settings),
            onset=None if onset is None else _onset_s(onset),
        )
        ctx = self._workplace.start_run(asked.limit_s, self.limits)
        cancel = partial(self._workplace.core.cancel, ctx, CancellationReason.USER_REQUESTED)
        run = LiveRun(ctx.run_id, cancel)
        self._events.watch(ctx.run_id, run.notify)
        run.start(self._answer(run, self._workplace, ctx, asked))
        self._live.add(run)
        return run

    def cancel(self) -> None:
        """Cancel every active run; each still gets an answer."""
        for run in tuple(self._live):
            run.cancel()

    async def _answer(
        self, run: LiveRun, workplace: Workplace, ctx: RunContext, question: Question
    ) -> Answer:
        try:
            answered = await workplace.answer(ctx, self._opened, question)
            work = partial(Answer, answered, self._events.of(ctx.run_id))
            claims = len(answered.end.content.claims)
            return await do_release_work(ctx, workplace.core, work, claims=claims)
        finally:
            self._events.forget(ctx.run_id)
            self._live.discard(run)

    async def _cancel_live(self) -> None:
        runs = tuple(self._live)
        self.cancel()
        await asyncio.gather(*(run.task for run in runs), return_exceptions=True)

    def _limit_s(self, timeout_s: float | None, settings: Settings) -> float:
        limit_s = self.timeout_s if timeout_s is None else timeout_s
        if limit_s is None:
            return settings.run.timeout_s
        if not (isfinite(limit_s) and limit_s > 0):
            raise InvalidInput(
                "timeout_s", f"{limit_s:g} is not a positive number of seconds", "give a number above zero"
            )
        return limit_s


def _onset_s(onset: datetime) -> float:
    if onset.tzinfo is None:
        raise InvalidInput("onset", "it has no time zone", "use datetime(..., tzinfo=UTC)")
    return onset.timestamp()


async def _open_sources(
    workplace: Workplace, sources: IncidentFolder | Sources | str | Path | None
) -> Sources | None:
    if sources is None or isinstance(sources, Sources):
        return sources
    folder = sources if isinstance(sources, IncidentFolder) else IncidentFolder(sources)
    baseline = None if folder.baseline is None else Path(folder.baseline)
    return await run_in_worker(
        workplace.workers, lambda: open_folder(workplace.settings, Path(folder.folder), baseline=baseline)
    )
