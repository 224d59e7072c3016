"""The agent that chooses which tools to call, in which order, and what to conclude from the answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.tools.invocation import EvidenceRecord

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

Records: TypeAlias = Sequence[EvidenceRecord]
Asking: TypeAlias = tuple[str, Mapping[str, JsonValue]]
"""A tool's name and its arguments."""


@dataclass(frozen=True, slots=True)
class Word:
    """What the agent submits: a draft, and which parts of it are known to be false or are its own prose."""

    draft: DiagnosisDraft | None
    untrue: tuple[str, ...] = ()
    prose: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of an agent.

    Attributes:
        rounds: calls, round by round; the policy is asked between them.
        finish: the draft, from the records of all rounds. facts: the facts that it reports from one record
        during the run.
        until: after each round, whether its results suffice, so that no further round is needed.
    """

    rounds: tuple[tuple[Asking, ...], ...]
    finish: Callable[[Records], Word]
    facts: Callable[[EvidenceRecord], tuple[Claim, ...]] = lambda _: ()
    until: Callable[[Records], bool] = lambda _: False


@dataclass(slots=True)
class Liar:
    """Plays a plan as the diagnosing role.

    Attributes:
        word: what it submitted last.
        refused: whether one of its calls was refused, in which case it may have nothing to submit.
    """

    plan: Plan
    asked: int = 0
    word: Word = field(default_factory=lambda: Word(None))
    refused: bool = False

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """The next round, or the draft."""
        del ctx
        self.refused = bool(view.refused)
        told = tuple(self._assess(record) for record in view.records if record.tool_call_id in view.due)
        over = view.stop_required or self.asked >= len(self.plan.rounds) or self.plan.until(view.records)
        if not over:
            calls = tuple(
                WantedCall(f"r{self.asked}c{place}", name, arguments)
                for place, (name, arguments) in enumerate(self.plan.rounds[self.asked])
            )
            self.asked += 1
            return AskTools(calls, told), TokenUsage(0, 0)
        self.word = self.plan.finish(view.records)
        return GiveDraft(self.word.draft, told), TokenUsage(0, 0)

    def _assess(self, record: EvidenceRecord) -> Assessment:
        facts = self.plan.facts(record)
        return Assessment(
            record.tool_call_id, InformationGain.GAINED if facts else InformationGain.NO_GAIN, facts
        )
