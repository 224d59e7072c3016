"""The port of the policy, which decides the next step: the embedded analyst, an llm, or your own policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.diagnosis.question_form import NO_FORM, FormRead
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.spec import ToolSpec


@dataclass(frozen=True, slots=True)
class Refused:
    """A tool request that did not become a call, as the policy sees it."""

    tool_call_id: str
    tool_name: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class PolicyView:
    """Everything a policy may see: records only, no source, no series and no statistics.

    Attributes:
        onset_s: when the trouble began, as the caller states it; None if nobody did.
        affected: the entities that the question is about; a ranking for another supports no conclusion.
        form: the form of the question, and the entities it is about. The answer reports what was seen of
            them; a form that does not ask for a cause needs no conclusion.
        until_s: the end of the time that the question is about; comparisons go no further.
        asks_of_unknown: no telemetry knows the entity of the question, so no conclusion can be released.
        due: tool call ids whose results this answer must assess.
        stop_required: no more tools may be called; give a draft, or none.
    """

    question: str
    onset_s: float | None
    tools: tuple[ToolSpec, ...]
    records: tuple[EvidenceRecord, ...]
    refused: tuple[Refused, ...]
    due: frozenset[str]
    stop_required: bool
    affected: tuple[str, ...] = ()
    asks_of_unknown: bool = False
    form: FormRead = NO_FORM
    until_s: float | None = None


@dataclass(frozen=True, slots=True)
class WantedCall:
    """A tool call that a policy requests. The policy chooses the id, and it is never rewritten."""

    tool_call_id: str
    tool_name: str
    arguments: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class AskTools:
    """Request tool calls, in order, and give the assessments that were due."""

    calls: tuple[WantedCall, ...]
    assessments: tuple[Assessment, ...] = ()


@dataclass(frozen=True, slots=True)
class GiveDraft:
    """Finish. `draft` is None if the policy has no result: an empty draft, not a conclusion."""

    draft: DiagnosisDraft | None
    assessments: tuple[Assessment, ...] = ()


PolicyAnswer: TypeAlias = AskTools | GiveDraft


class DiagnosisPolicy(Protocol):
    """Decides the steps of a diagnosis. Each call is one controlled step and costs one llm call."""

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """Decide the next step, and count its tokens (none without a language model).

        Raises:
            LlmFailure: the language model behind it failed.
            MalformedAnswer: its answer could not be read.
        """
        ...
