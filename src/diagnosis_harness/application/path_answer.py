"""The result of a path of a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """The safe content of a run that succeeded.

    Attributes:
        body: a JSON object: `kind` (wire value of the intent), `text` (what a person reads) and typed parts.
        conclusion: the result that a later question of the session may use (PE-04); None if there is none.
    """

    body: JsonValue
    conclusion: str | None


class AnswerPath(Protocol):
    """Answers the questions of one intent."""

    async def answer(self, ctx: RunContext, question: str, language: Language) -> PathAnswer:
        """Answer a question that the caller has masked; the path emits its own stages and trace events.

        Raises:
            RunAborted: the run had ended, or ended meanwhile.
            TechnicalFailure: there is no answer.
        """
        ...
