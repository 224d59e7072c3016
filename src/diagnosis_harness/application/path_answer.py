"""What a path of a question returns, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.decision import WorkEnd
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """The safe content of a run that succeeded.

    Attributes:
        body: a JSON object: `kind` (wire value of the intent), `text` (what a person reads) and typed parts.
        conclusion: what a later question of the session may build on (PE-04); None where there is nothing.
    """

    body: JsonValue
    conclusion: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PathEnd:
    """How a path ended.

    Attributes:
        answer: safe content as JSON; a diagnosis always has some.
        failure: with FAILED and CANCELLED, how the work ended.
    """

    outcome: ReleaseOutcome
    fallback: FallbackType | None = None
    stop_reason: DiagnosisStopReason | None = None
    answer: JsonValue = None
    failure: WorkEnd | None = None
    conclusion: str | None = None
    published_result: JsonValue = None
    agent_steps: int = 0


class AnswerPath(Protocol):
    """Answers the questions of one intent."""

    async def answer(self, ctx: RunContext, question: str, language: Language) -> PathAnswer:
        """Answer a question that the caller has masked; the path emits its own stages and trace events.

        Raises:
            RunAborted: the run had ended, or ended meanwhile.
            TechnicalFailure: there is no answer.
        """
        ...
