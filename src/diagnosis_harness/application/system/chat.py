"""SYSTEM_CHAT: one controlled answer about the system, worded by code from its profile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.path_answer import PathAnswer
from diagnosis_harness.application.status import ChatApplicationStatus, emit_status
from diagnosis_harness.application.system.answer import SystemAnswer, check_answer
from diagnosis_harness.application.system.profile import SystemProfile, profile_json
from diagnosis_harness.application.system.text import is_known_name, system_text
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.retry import RetryRole
from diagnosis_harness.kernel.errors import AnswerRefused, FailureKind, MalformedAnswer, TechnicalFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase


class SystemResponder(Protocol):
    """The port of the responder, which answers about the system. One call is one attempt."""

    async def respond(
        self, ctx: RunContext, question: str, language: Language, profile: SystemProfile
    ) -> tuple[SystemAnswer, TokenUsage]:
        """The topics of the answer, and the tokens used; the result is checked.

        Raises:
            LlmFailure: the language model behind it failed.
            MalformedAnswer: its answer does not have the agreed form.
        """
        ...


@dataclass(frozen=True, slots=True)
class SystemChat:
    """Answers about the system. Holds no state between runs.

    Attributes:
        profile: returns the profile of the system at the time of a run.
    """

    core: DiagnosisHarnessCore
    roles: RoleBoundary
    responder: SystemResponder
    profile: Callable[[RunContext], SystemProfile]

    async def answer(self, ctx: RunContext, question: str, language: Language) -> PathAnswer:
        """One answer; it names only sources, tools and abilities in the profile.

        Raises:
            RunAborted: the run had ended or ended meanwhile.
            AnswerRefused: the responder named something that it was not given.
            TechnicalFailure: the responder failed.
        """
        emit_status(self.core, ctx, ChatApplicationStatus.SYSTEM_RESPONDING)
        profile = self.profile(ctx)
        given = await self._respond(ctx, question, language, profile)
        names: list[JsonValue] = [
            {"name": name, "held": is_known_name(profile, name)} for name in given.asked_about
        ]
        return PathAnswer(
            {
                "kind": IntentType.SYSTEM_CHAT.value,
                "text": system_text(given, profile, language),
                "topics": [topic.value for topic in given.topics],
                "asked_about": names,
                "profile": profile_json(profile),
            },
            conclusion=None,
        )

    async def _respond(
        self, ctx: RunContext, question: str, language: Language, profile: SystemProfile
    ) -> SystemAnswer:
        try:
            given = await self.roles.play(
                ctx,
                RetryRole.SYSTEM_RESPONDER,
                lambda ctx: self.responder.respond(ctx, question, language, profile),
            )
            check_answer(given, question)
        except TechnicalFailure as failure:
            self._emit_answer(ctx, TraceEventStatus.FAILED, {"failure": failure.kind.value})
            raise
        except MalformedAnswer as answer:
            self._emit_answer(ctx, TraceEventStatus.FAILED, {"failure": FailureKind.INVALID_OUTPUT.value})
            raise AnswerRefused(str(answer), kind=FailureKind.INVALID_OUTPUT) from answer
        self._emit_answer(
            ctx,
            TraceEventStatus.SUCCEEDED,
            {"topics": [topic.value for topic in given.topics], "asked_about": list(given.asked_about)},
        )
        return given

    def _emit_answer(self, ctx: RunContext, status: TraceEventStatus, payload: dict[str, JsonValue]) -> None:
        self.core.emit(ctx, TraceName.SYSTEM_ANSWER, TracePhase.RUN, status, payload)
