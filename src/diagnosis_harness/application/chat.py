"""One question through the service, in the order of the lifecycle document, §2.

    read session context → start_run → persist RUNNING and RUN_STARTED → `started` (metadata) → route → one of
    three paths → release → complete → persist the end → RUN_FINISHED → return (content or failure, done)

Nothing of the run may be shown before this returns its row: what is shown is what was kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from diagnosis_harness.application.chat_ending import ChatEnd, answered, diagnosed, ending_of, unanswered
from diagnosis_harness.application.diagnosis_path import DiagnosisPath
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.path_answer import AnswerPath
from diagnosis_harness.application.previous_turn import PreviousTurn
from diagnosis_harness.application.router import Routing
from diagnosis_harness.application.runs.events import tell_decision, tell_finished, tell_started
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.application.runs.row import RunEnding, RunRow
from diagnosis_harness.application.runs.run_stores import RunStores
from diagnosis_harness.application.session_context import SessionContext, read_session
from diagnosis_harness.application.status import ChatApplicationStatus, tell_status
from diagnosis_harness.harness.budget import RunBudgetLimits
from diagnosis_harness.harness.callbacks import call_contained
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.retry_policy import HarnessRetryPolicies
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.harness.waiting import Operation
from diagnosis_harness.kernel.errors import (
    MalformedAnswer,
    OnsetOutsideData,
    RouterUnavailable,
    RunAborted,
    RunNotKept,
    RunTaken,
    SourceUnavailable,
    StoreFailure,
    TechnicalFailure,
)
from diagnosis_harness.release.decision import WorkEnd, end_of_state

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

T = TypeVar("T")

_STEPS_OF_AN_END = 5
"""One more than there are: each has its own limit, and the whole must not be cut before the last of them."""


@dataclass(frozen=True, slots=True)
class Paths:
    """The three ways that a question can go."""

    system: AnswerPath
    knowledge: AnswerPath
    diagnosis: DiagnosisPath


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """What every run of the service gets."""

    limits: RunBudgetLimits
    retry_policies: HarnessRetryPolicies
    finalise_timeout_s: float


class ChatApplicationUseCase:
    """Answers questions, one run each. Holds no state of a run."""

    def __init__(
        self,
        core: DiagnosisHarnessCore,
        *,
        routing: Routing,
        paths: Paths,
        stores: RunStores,
        settings: ChatSettings,
    ) -> None:
        self._core = core
        self._routing = routing
        self._paths = paths
        self._stores = stores
        self._settings = settings

    async def answer(self, request: RunRequest, started: Callable[[RunContext], None]) -> RunRow:
        """Run a question to its end and give its row as it is kept then, ended and closed.

        Args:
            started: called once, when the run is kept and its RUN_STARTED is written: metadata may leave. It
                is quick; what it raises is recorded (CALLBACK_FAILED), and the run goes on.

        Raises:
            StoreFailure: before `started`: the run is not known to be kept; a row that stands all the same is
                ended by the supervisor.
            TooManyRuns: before `started`: the caller has too many that are not finished.
            RunTaken: before `started`: the queued run was claimed, cancelled or ended before.
            RunNotKept: after `started`: the end could not be kept, and nothing of it may be shown. The row is
                ended as soon as the store works again.
            Exception: a bug; the run is FAILED and kept as that, where the store works.
        """
        context = await read_session(self._stores.archive, request)
        if self._stores.active.get(request.run_id) is not None:
            raise RunTaken(request.run_id)  # delivered twice to this process
        ctx = self._opened(request)
        with self._stores.active.track(ctx):
            try:
                started_s = await self._begun(ctx, request)
                call_contained(partial(started, ctx), ctx.lifecycle.journal)
                return await self._finished(ctx, request, context, started_s)
            finally:
                self._stores.log.close(ctx)

    def _opened(self, request: RunRequest) -> RunContext:
        return self._core.start_run(
            session_id=request.session_id,
            run_id=request.run_id,
            limits=self._settings.limits,
            retry_policies=self._settings.retry_policies,
            timeout_s=request.limit_s,
        )

    async def _begun(self, ctx: RunContext, request: RunRequest) -> float:
        """Keep the run and its first event, and say when it began, as it is kept.

        A run that cannot be kept ends here and is nobody's.
        """
        stores, at_s = self._stores, self._core.clock.now_s()
        try:
            is_ours = await self._kept(
                ctx, lambda ctx: stores.store.begin(ctx, request, owner=stores.owner, at_s=at_s)
            )
            if is_ours:
                stores.log.open(ctx)
                tell_started(self._core, ctx, request.question)
                await self._kept(ctx, stores.log.flush)
        except BaseException as error:
            self._core.complete_failure(ctx, type(error).__name__)
            if isinstance(error, TechnicalFailure) and not isinstance(error, StoreFailure):
                raise StoreFailure(f"the run could not be kept: {error}", kind=error.kind) from error
            raise
        if not is_ours:
            self._core.complete_failure(ctx, RunTaken.__name__)
            raise RunTaken(request.run_id)
        return at_s

    async def _finished(
        self, ctx: RunContext, request: RunRequest, context: SessionContext, started_s: float
    ) -> RunRow:
        try:
            end = await self._worked(ctx, request, context)
        except BaseException as error:
            self._core.complete_failure(ctx, type(error).__name__)
            await self._closed(ctx, request, unanswered(WorkEnd.INTERNAL_FAILURE), started_s)
            raise
        return await self._closed(ctx, request, end, started_s)

    async def _closed(self, ctx: RunContext, request: RunRequest, end: ChatEnd, started_s: float) -> RunRow:
        """Persist, then RUN_FINISHED, then read what stands, in one piece: a host's cancel comes after it."""
        ending = ending_of(ctx, request, end, started_s=started_s)
        limit_s = _STEPS_OF_AN_END * self._settings.finalise_timeout_s
        return await self._core.finalise(ctx, lambda ctx: self._closing(ctx, ending), limit_s=limit_s)

    async def _closing(self, ctx: RunContext, ending: RunEnding) -> RunRow:
        """The steps of an end; only what the last one reads may be shown."""
        stores = self._stores
        try:
            await self._kept(ctx, stores.log.flush)
            if await self._kept(ctx, lambda ctx: stores.store.finish(ctx, ending)):
                tell_finished(self._core, ctx, ending.outcome)
                await self._kept(ctx, stores.log.flush)
        except TechnicalFailure as failure:
            return await self._standing(ctx, failure)
        return await self._standing(ctx, None)

    async def _standing(self, ctx: RunContext, failure: TechnicalFailure | None) -> RunRow:
        """The row as it stands: this end, or the one that another process gave the run before."""
        try:
            row = await self._kept(ctx, lambda ctx: self._stores.archive.run(ctx.run_id))
        except TechnicalFailure as unread:
            why = failure or unread
            raise RunNotKept(f"the end of the run could not be kept: {why}", kind=unread.kind) from unread
        if row is None or not row.is_closed:
            problem = str(failure or "its row is gone, or goes on")
            raise RunNotKept(f"the end of the run could not be kept: {problem}") from failure
        return row

    # ------------------------------------------------------------------ the work between start and end

    async def _worked(self, ctx: RunContext, request: RunRequest, context: SessionContext) -> ChatEnd:
        """Route and take the path; the run has ended when this returns."""
        try:
            tell_status(self._core, ctx, ChatApplicationStatus.ROUTING)
            decision = await self._routing.route(ctx, request.question, context.history)
            await self._core.wait(
                ctx,
                lambda ctx: self._stores.store.record_intent(ctx, decision.intent),
                limit_s=self._settings.finalise_timeout_s,
            )
            match decision.intent:
                case IntentType.DIAGNOSIS:
                    previous = context.previous if isinstance(context.previous, PreviousTurn) else None
                    return diagnosed(await self._paths.diagnosis.diagnose(ctx, request, previous))
                case IntentType.KNOWLEDGE_QUERY:
                    return await self._answered(ctx, self._paths.knowledge, request)
                case IntentType.SYSTEM_CHAT:
                    return await self._answered(ctx, self._paths.system, request)
        except RouterUnavailable:
            return self._without_answer(ctx, WorkEnd.ROUTER_UNAVAILABLE)
        except SourceUnavailable:
            return self._without_answer(ctx, WorkEnd.SOURCE_UNAVAILABLE)
        except OnsetOutsideData:
            return self._without_answer(ctx, WorkEnd.ONSET_OUTSIDE_DATA)
        except RunAborted:
            return self._without_answer(ctx, end_of_state(ctx.lifecycle.state))
        except TechnicalFailure:
            return self._without_answer(ctx, WorkEnd.INTERNAL_FAILURE)

    async def _answered(self, ctx: RunContext, path: AnswerPath, request: RunRequest) -> ChatEnd:
        try:
            answer = await path.answer(ctx, request.question, request.language)
        except (TechnicalFailure, MalformedAnswer):
            return self._without_answer(ctx, WorkEnd.ANSWER_FAILED)
        if not self._core.complete_success(ctx):
            return self._without_answer(ctx, end_of_state(ctx.lifecycle.state))
        end = answered(answer)
        tell_decision(self._core, ctx, end.outcome, end.fallback)
        return end

    def _without_answer(self, ctx: RunContext, end: WorkEnd) -> ChatEnd:
        """End the run without content; an end that had come before stands and decides."""
        if not self._core.complete_failure(ctx, end.value) and ctx.lifecycle.state is not RunState.FAILED:
            end = end_of_state(ctx.lifecycle.state)
        chat_end = unanswered(end)
        tell_decision(self._core, ctx, chat_end.outcome, chat_end.fallback)
        return chat_end

    async def _kept(self, ctx: RunContext, operation: Operation[T]) -> T:
        """Bookkeeping: bounded, and not stopped by the run's end."""
        return await self._core.finalise(ctx, operation, limit_s=self._settings.finalise_timeout_s)
