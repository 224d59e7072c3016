"""A policy, a repairer and a judge that answer as scripted, behind the real contracts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.policy import PolicyAnswer, PolicyView
from diagnosis_harness.guards.semantic_guard import SemanticCase
from diagnosis_harness.guards.verdict import Finding, Judgement, SemanticVerdict
from diagnosis_harness.harness.budget import NO_TOKENS, TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.tools.invocation import EvidenceRecord

ScriptedAnswer: TypeAlias = PolicyAnswer | Exception | Callable[[PolicyView], PolicyAnswer]


class ScriptedPolicy:
    """Gives or raises its answers in order, the last one repeatedly, and records every view."""

    def __init__(self, *answers: ScriptedAnswer) -> None:
        self._answers = answers
        self.views: list[PolicyView] = []

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """The next answer."""
        del ctx
        answer = self._answers[min(len(self.views), len(self._answers) - 1)]
        self.views.append(view)
        if isinstance(answer, Exception):
            raise answer
        return (answer(view) if callable(answer) else answer), NO_TOKENS


class ScriptedRepairer:
    """Proposes the result of `mend` on the draft; counts its calls."""

    def __init__(self, mend: Callable[[DiagnosisDraft], DiagnosisDraft] | Exception) -> None:
        self._mend = mend
        self.calls = 0

    async def repair(
        self,
        ctx: RunContext,
        draft: DiagnosisDraft,
        findings: Sequence[Finding],
        records: Sequence[EvidenceRecord],
        *,
        inquiry: Inquiry,
    ) -> tuple[DiagnosisDraft, TokenUsage]:
        """The proposal."""
        del ctx, findings, records, inquiry
        self.calls += 1
        if isinstance(self._mend, Exception):
            raise self._mend
        return self._mend(draft), NO_TOKENS


class ScriptedJudge:
    """Gives or raises its verdicts in order, the last one repeatedly, and records every case."""

    def __init__(self, *verdicts: Judgement | Exception) -> None:
        self._verdicts = verdicts or (Judgement(SemanticVerdict.SUPPORTED),)
        self.cases: list[SemanticCase] = []

    async def judge(self, ctx: RunContext, case: SemanticCase) -> tuple[Judgement, TokenUsage]:
        """The next verdict."""
        del ctx
        verdict = self._verdicts[min(len(self.cases), len(self._verdicts) - 1)]
        self.cases.append(case)
        if isinstance(verdict, Exception):
            raise verdict
        return verdict, NO_TOKENS
