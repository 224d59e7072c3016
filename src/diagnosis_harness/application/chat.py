"""One question through the service, in the order of the lifecycle document, §2.

    read session context → start_run → persist RUNNING and RUN_STARTED → `started` (metadata) → route → one of
    three paths → release → complete → persist the end → RUN_FINISHED → return (content or failure, done)

Nothing of the run may be shown before this returns its row: only what is stored is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from diagnosis_harness.application.chat_ending import end_with_answer, end_without_answer
from diagnosis_harness.application.diagnosis_path import DiagnosisPath
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.path_answer import AnswerPath, PathAnswer
from diagnosis_harness.application.previous_turn import PreviousTurn
from diagnosis_harness.application.router import Routing
from diagnosis_harness.application.runs.events import (
    emit_release_decision,
    emit_run_finished,
    emit_run_started,
)
from diagnosis_harness.application.runs.request import RunRequest
from diagnosis_harness.application.runs.row import RunEnding, RunRow
from diagnosis_harness.application.runs.run_stores import RunStores
from diagnosis_harness.application.session_context import SessionContext, read_session
from diagnosis_harness.application.status import ChatApplicationStatus, emit_status
from diagnosis_harness.harness.budget import RunBudgetLimits
from diagnosis_harness.harness.callbacks import call_contained
from diagnosis_harness.harness.context import RunContext
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
    SourceExpired,
    SourceUnavailable,
    StoreFailure,
    TechnicalFailure,
)
from diagnosis_harness.kernel.faults import error_text
from diagnosis_harness.release.decision import WorkEnd, end_of_state

T = TypeVar("T")

_STEPS_OF_AN_END = 5
"""The number of steps in `_write_end`, plus one: each has its own limit, and the total must cover them."""


@dataclass(frozen=True, slots=True)
class Paths:
    """The three paths of a question."""

    system: AnswerPath
    knowledge: AnswerPath
    diagnosis: DiagnosisPath

    def answering(self, intent: IntentType) -> AnswerPath:
        """The path of an intent that a text answers."""
        return {IntentType.SYSTEM_CHAT: self.system, IntentType.KNOWLEDGE_QUERY: self.knowledge}[intent]


@dataclass(frozen=True, slots=True)
class ChatSettings:
    """Limits of every run of the service."""

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
        """Run a question to its end and return its stored row, ended and closed.

        Args:
            started: called once, when the run and its RUN_STARTED are stored, so that metadata may be sent.
                It must be quick; an error it raises is recorded (CALLBACK_FAILED), and the run continues.

        Raises:
            StoreFailure: before `started`: the run may not be stored; the supervisor ends any row.
            TooManyRuns: before `started`: the caller has too many unfinished runs.
            RunTaken: before `started`: the queued run was already claimed, cancelled or ended.
            RunNotKept: after `started`: the end could not be stored, and nothing of it may be shown. The row
                is ended as soon as the store works again.
            Exception: a bug; the run is FAILED and stored as such if the store works.
        """
        context = await read_session(self._stores.archive, request)
        if self._stores.active.get(request.run_id) is not None:
            raise RunTaken(request.run_id)  # delivered twice to this process
        ctx = self._open(request)
        with self._stores.active.track(ctx):
            try:
                started_s = await self._start(ctx, request)
                call_contained(partial(started, ctx), ctx.lifecycle.journal)
                return await self._run_to_end(ctx, request, context, started_s)
            finally:
                self._stores.log.close(ctx)

    def _open(self, request: RunRequest) -> RunContext:
        return self._core.start_run(
            session_id=request.session_id,
            run_id=request.run_id,
            limits=self._settings.limits,
            retry_policies=self._settings.retry_policies,
            timeout_s=request.limit_s,
        )

    async def _start(self, ctx: RunContext, request: RunRequest) -> float:
        """Store the run and its first event, and return its stored start time.

        A run that cannot be stored ends here and belongs to no process.
        """
        stores, at_s = self._stores, self._core.clock.now_s()
        try:
            is_ours = await self._persist(
                ctx, lambda ctx: stores.store.begin(ctx, request, owner=stores.owner, at_s=at_s)
            )
            if is_ours:
                stores.log.open(ctx)
                emit_run_started(self._core, ctx, request.question)
                await self._persist(ctx, stores.log.flush)
        except BaseException as error:
            self._core.complete_failure(ctx, type(error).__name__)
            if isinstance(error, TechnicalFailure) and not isinstance(error, StoreFailure):
                raise StoreFailure(
                    f"the run could not be stored: {error_text(error)}", kind=error.kind
                ) from error
            raise
        if not is_ours:
            self._core.complete_failure(ctx, RunTaken.__name__)
            raise RunTaken(request.run_id)
        return at_s

    async def _run_to_end(
        self, ctx: RunContext, request: RunRequest, context: SessionContext, started_s: float
    ) -> RunRow:
        try:
            ending = await self._run_path(ctx, request, context, started_s)
        except BaseException as error:
            self._core.complete_failure(ctx, type(error).__name__)
            failed = WorkEnd.INTERNAL_FAILURE
            await self._finish(ctx, end_without_answer(ctx, failed, request.language, started_s=started_s))
            raise
        return await self._finish(ctx, ending)

    async def _finish(self, ctx: RunContext, ending: RunEnding) -> RunRow:
        """Store the end, emit RUN_FINISHED and read the row back; no cancel cuts this short."""
        limit_s = _STEPS_OF_AN_END * self._settings.finalise_timeout_s
        return await self._core.finalise(ctx, lambda ctx: self._write_end(ctx, ending), limit_s=limit_s)

    async def _write_end(self, ctx: RunContext, ending: RunEnding) -> RunRow:
        """The steps of an end; only the row that the last step reads may be shown."""
        stores = self._stores
        try:
            await self._persist(ctx, stores.log.flush)
            if await self._persist(ctx, lambda ctx: stores.store.finish(ctx, ending)):
                emit_run_finished(self._core, ctx, ending.outcome)
                await self._persist(ctx, stores.log.flush)
        except TechnicalFailure as failure:
            return await self._final_row(ctx, failure)
        return await self._final_row(ctx, None)

    async def _final_row(self, ctx: RunContext, failure: TechnicalFailure | None) -> RunRow:
        """The stored row: this end, or one that another process wrote first."""
        try:
            row = await self._persist(ctx, lambda ctx: self._stores.archive.run(ctx.run_id))
        except TechnicalFailure as unread:
            why = failure or unread
            raise RunNotKept(f"the end of the run could not be stored: {why}", kind=unread.kind) from unread
        if row is None or not row.is_closed:
            problem = str(failure or "its row is missing or still open")
            raise RunNotKept(f"the end of the run could not be stored: {problem}") from failure
        return row

    # ------------------------------------------------------------------ between start and end

    async def _run_path(
        self, ctx: RunContext, request: RunRequest, context: SessionContext, started_s: float
    ) -> RunEnding:
        """Route the question and follow its path; the run has ended when this returns."""
        try:
            emit_status(self._core, ctx, ChatApplicationStatus.ROUTING)
            previous = context.previous if isinstance(context.previous, PreviousTurn) else None
            decision = await self._routing.route(
                ctx,
                request.question,
                context.history,
                revise=partial(self._paths.diagnosis.revise, request=request, previous=previous),
            )
            await self._core.wait(
                ctx,
                lambda ctx: self._stores.store.record_intent(ctx, decision.intent),
                limit_s=self._settings.finalise_timeout_s,
            )
            if decision.intent is IntentType.DIAGNOSIS:
                return await self._paths.diagnosis.diagnose(ctx, request, previous, started_s=started_s)
            answered: PathAnswer | WorkEnd = await self._answer(
                ctx, self._paths.answering(decision.intent), request
            )
        except RouterUnavailable:
            answered = WorkEnd.ROUTER_UNAVAILABLE
        except SourceExpired:
            answered = WorkEnd.SOURCE_EXPIRED
        except SourceUnavailable:
            answered = WorkEnd.SOURCE_UNAVAILABLE
        except OnsetOutsideData:
            answered = WorkEnd.ONSET_OUTSIDE_DATA
        except RunAborted:
            answered = end_of_state(ctx.lifecycle.state)
        except TechnicalFailure:
            answered = WorkEnd.INTERNAL_FAILURE
        if isinstance(answered, WorkEnd):
            end = self._fail(ctx, answered)
            ending = end_without_answer(ctx, end, request.language, started_s=started_s)
        else:
            ending = end_with_answer(ctx, answered, started_s=started_s)
        emit_release_decision(self._core, ctx, ending.outcome, ending.fallback)
        return ending

    async def _answer(self, ctx: RunContext, path: AnswerPath, request: RunRequest) -> PathAnswer | WorkEnd:
        """The answer of a path, if the run succeeded with one, or why it did not."""
        try:
            answer = await path.answer(ctx, request.question, request.language)
        except (TechnicalFailure, MalformedAnswer):
            return WorkEnd.ANSWER_FAILED
        return answer if self._core.complete_success(ctx) else end_of_state(ctx.lifecycle.state)

    def _fail(self, ctx: RunContext, end: WorkEnd) -> WorkEnd:
        """End the run without content; an earlier end of the run takes precedence."""
        if not self._core.complete_failure(ctx, end.value) and ctx.lifecycle.state is not RunState.FAILED:
            return end_of_state(ctx.lifecycle.state)
        return end

    async def _persist(self, ctx: RunContext, operation: Operation[T]) -> T:
        """Run a store operation, bounded in time and not stopped by the end of the run."""
        return await self._core.finalise(ctx, operation, limit_s=self._settings.finalise_timeout_s)
