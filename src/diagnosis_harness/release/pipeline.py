"""Decides what of a draft may be published, in the seed's order (harness-lifecycle-and-states §9).

With a conclusion: EvidenceGuard, at most one EvidenceRepair and a recheck, SemanticGuard. Without one, only
the references are checked. The table decides; this module makes no decision of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from diagnosis_harness.diagnosis.answer_size import WORDING_MAX
from diagnosis_harness.diagnosis.claim import CONCLUSIONS, Claim, Predicate
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.diagnosis.draft import DiagnosisDraft, SetAside
from diagnosis_harness.diagnosis.execution import DiagnosisAgentExecution
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.progress import ProgressSnapshot
from diagnosis_harness.guards.answering import answering_claims
from diagnosis_harness.guards.evidence_guard import check_claims, check_draft, with_sound_refs
from diagnosis_harness.guards.evidence_repair import EvidenceRepairer, admit_repair
from diagnosis_harness.guards.reassurance import reassuring_claims
from diagnosis_harness.guards.restating import restate_all
from diagnosis_harness.guards.semantic_guard import SemanticCase, SemanticJudge, build_case
from diagnosis_harness.guards.semantic_rules import case_objections
from diagnosis_harness.guards.verdict import EvidenceVerdict, Judgement, SemanticVerdict
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.retry import RetryRole
from diagnosis_harness.kernel.errors import MalformedAnswer, NothingToRelease, TechnicalFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.release.decision import WorkEnd, decide
from diagnosis_harness.release.form_table import FORM_TABLE, FormResult
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.release.result import DiagnosisReleaseResult
from diagnosis_harness.release.standing import confidences, number_claims, score_causes, standing_of
from diagnosis_harness.release.work import do_release_work
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.preflight import RefusalCode
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase


@dataclass(frozen=True, slots=True)
class _Basis:
    """What a draft is checked against: the question, and what the run recorded."""

    inquiry: Inquiry
    snapshot: ProgressSnapshot
    denied: bool = False
    """Whether a tool was refused because the caller may not use it."""

    @property
    def records(self) -> tuple[EvidenceRecord, ...]:
        return self.snapshot.records


_SUCCESS = ReleaseOutcome.SUCCESS
FACTS_MAX = 256
"""The most facts of a run that are checked, in the order of the assessments; a report shows ten."""


@dataclass(frozen=True, slots=True)
class ReleasePipeline:
    """Checks a draft with the guards. Keeps no state between runs."""

    core: DiagnosisHarnessCore
    roles: RoleBoundary
    repairer: EvidenceRepairer
    judge: SemanticJudge

    async def release(
        self, ctx: RunContext, execution: DiagnosisAgentExecution, *, inquiry: Inquiry
    ) -> DiagnosisReleaseResult:
        """What may be published.

        Raises:
            NothingToRelease: no conclusion, no verified fact, nothing missing that could be named.
            RunAborted: the run ended meanwhile.
        """
        basis = _Basis(inquiry, execution.snapshot, is_denied(execution))
        draft = execution.draft or DiagnosisDraft(conclusion=(), claims=())
        if draft.conclusion:
            return await self._with_conclusion(ctx, basis, draft)
        reason = execution.stop_reason
        end = WorkEnd.NO_CONCLUSION if reason is None else end_of_stop(reason)
        return await self._without_conclusion(ctx, end, basis, draft)

    async def _with_conclusion(
        self, ctx: RunContext, basis: _Basis, draft: DiagnosisDraft
    ) -> DiagnosisReleaseResult:
        self.core.check_active(ctx)
        verdict = check_draft(draft, basis.records, run_id=ctx.run_id, inquiry=basis.inquiry)
        self._emit_evidence_verdict(ctx, TraceName.EVIDENCE_GUARD_INITIAL, draft, verdict)
        if not verdict.valid:
            repaired = await self._repair(ctx, basis, draft, verdict)
            if repaired is not None:
                draft = repaired
                again = check_draft(draft, basis.records, run_id=ctx.run_id, inquiry=basis.inquiry)
                verdict = replace(again, repaired=True)
            self._emit_evidence_verdict(ctx, TraceName.EVIDENCE_GUARD_RECHECK, draft, verdict)
        if not verdict.valid or not draft.conclusion:
            return await self._result(ctx, WorkEnd.EVIDENCE_INVALID, basis, draft, verdict=verdict)
        case = build_case(draft, basis.records, inquiry=basis.inquiry)
        judgement = await self._judge(ctx, case)
        if judgement is None:
            return await self._result(ctx, WorkEnd.JUDGE_UNAVAILABLE, basis, draft, verdict=verdict)
        supported = judgement.verdict is SemanticVerdict.SUPPORTED
        end = WorkEnd.SUPPORTED if supported else WorkEnd.UNSUPPORTED
        return await self._result(ctx, end, basis, draft, verdict=verdict, judged=(case, judgement))

    async def _repair(
        self, ctx: RunContext, basis: _Basis, draft: DiagnosisDraft, verdict: EvidenceVerdict
    ) -> DiagnosisDraft | None:
        """The repaired draft; None when the repair failed technically, which counts as still invalid."""
        self.core.emit(ctx, TraceName.EVIDENCE_REPAIR, TracePhase.GUARD, TraceEventStatus.STARTED)
        try:
            proposed = await self.roles.play(
                ctx,
                RetryRole.EVIDENCE_REPAIR,
                lambda ctx: self.repairer.repair(
                    ctx, draft, verdict.findings, basis.records, inquiry=basis.inquiry
                ),
            )
        except (TechnicalFailure, MalformedAnswer):
            self.core.emit(ctx, TraceName.EVIDENCE_REPAIR, TracePhase.GUARD, TraceEventStatus.FAILED)
            return None
        self.core.emit(ctx, TraceName.EVIDENCE_REPAIR, TracePhase.GUARD, TraceEventStatus.SUCCEEDED)
        return admit_repair(draft, proposed, basis.records)

    async def _judge(self, ctx: RunContext, case: SemanticCase) -> Judgement | None:
        """The judge's verdict; None when it gave none."""
        if objections := case_objections(case):
            judgement = Judgement(SemanticVerdict.UNSUPPORTED, objections)
            self._emit_judgement(ctx, case, judgement)
            return judgement
        try:
            judgement = await self.roles.play(
                ctx, RetryRole.SEMANTIC_GUARD, lambda ctx: self.judge.judge(ctx, case)
            )
        except (TechnicalFailure, MalformedAnswer):
            self.core.emit(ctx, TraceName.SEMANTIC_GUARD_DECISION, TracePhase.GUARD, TraceEventStatus.FAILED)
            return None
        self._emit_judgement(ctx, case, judgement)
        return judgement

    def _emit_judgement(self, ctx: RunContext, case: SemanticCase, judgement: Judgement) -> None:
        refused = judgement.verdict is SemanticVerdict.UNSUPPORTED
        self.core.emit(
            ctx,
            TraceName.SEMANTIC_GUARD_DECISION,
            TracePhase.GUARD,
            TraceEventStatus.REJECTED if refused else TraceEventStatus.SUCCEEDED,
            {
                "verdict": judgement.verdict.value,
                "reasons": [reason.value for reason in judgement.reasons],
                **({"set_aside": _set_aside_lines(case.set_aside)} if case.set_aside else {}),
            },
        )

    async def _without_conclusion(
        self, ctx: RunContext, end: WorkEnd, basis: _Basis, draft: DiagnosisDraft
    ) -> DiagnosisReleaseResult:
        verdict = check_draft(draft, basis.records, run_id=ctx.run_id, inquiry=basis.inquiry)
        self._emit_evidence_verdict(ctx, TraceName.EVIDENCE_GUARD_INITIAL, draft, verdict)
        if not verdict.valid:
            sound = with_sound_refs(draft.claims, basis.records, run_id=ctx.run_id, inquiry=basis.inquiry)
            draft = replace(draft, claims=sound)
            verdict = check_draft(draft, basis.records, run_id=ctx.run_id, inquiry=basis.inquiry)
        return await self._result(ctx, end, basis, draft, verdict=verdict)

    async def _result(
        self,
        ctx: RunContext,
        end: WorkEnd,
        basis: _Basis,
        draft: DiagnosisDraft,
        *,
        verdict: EvidenceVerdict,
        judged: tuple[SemanticCase, Judgement] | None = None,
    ) -> DiagnosisReleaseResult:
        work = partial(_result_of, ctx.run_id, end, basis, draft, verdict=verdict, judged=judged)
        return await do_release_work(
            ctx, self.core, work, claims=len(draft.claims) + len(basis.snapshot.facts)
        )

    def _emit_evidence_verdict(
        self, ctx: RunContext, name: TraceName, draft: DiagnosisDraft, verdict: EvidenceVerdict
    ) -> None:
        """Findings by the position of their claim, since its name is the agent's own text."""
        places = {claim.claim_id: f"claim {place}" for place, claim in enumerate(draft.claims, start=1)}
        self.core.emit(
            ctx,
            name,
            TracePhase.GUARD,
            TraceEventStatus.SUCCEEDED if verdict.valid else TraceEventStatus.REJECTED,
            {
                "passed": len(verdict.passed),
                "findings": [
                    f"{places.get(finding.claim_id, 'conclusion')}: {finding.code.value}"
                    for finding in verdict.findings[:20]
                ],
            },
        )


def _result_of(
    run_id: str,
    end: WorkEnd,
    basis: _Basis,
    draft: DiagnosisDraft,
    *,
    verdict: EvidenceVerdict,
    judged: tuple[SemanticCase, Judgement] | None,
) -> DiagnosisReleaseResult:
    """What is published of a checked draft. Pure.

    Raises:
        NothingToRelease: see `ReleasePipeline.release`.
    """
    passed = (claim for claim in draft.claims if claim.claim_id in verdict.passed)
    standing = restate_all(passed, basis.records, basis.inquiry)
    facts = (*standing, *facts_beyond(standing, basis.snapshot, run_id=run_id, inquiry=basis.inquiry))
    beside = standing_of(draft, basis.records, run_id=run_id, inquiry=basis.inquiry, denied=basis.denied)
    if end is WorkEnd.NO_CONCLUSION and answers(basis.inquiry, facts, basis.records):
        end = WorkEnd.ANSWERED
    if not reassuring_claims(basis.inquiry, facts, basis.records):
        facts = tuple(claim for claim in facts if claim.predicate is not Predicate.UNREMARKABLE)
    row = decide(end, facts=bool(facts), missing=any(each.is_required for each in beside.missing_info))
    success = row.outcome is ReleaseOutcome.SUCCESS
    if row.outcome is ReleaseOutcome.FAILED:
        raise NothingToRelease(f"{row.rule}: {end.value}")
    case = judged[0] if judged and success else None  # the judge has seen a success with causes
    published = standing if case else tuple(c for c in facts if success or c.predicate not in CONCLUSIONS)
    # The level is computed from what is published: a dropped reference does not count.
    causes = score_causes(case, published, basis.records, inquiry=basis.inquiry) if case else ()
    claims, causes = number_claims(published, causes)
    concluded = {cause.entity for cause in causes}
    return DiagnosisReleaseResult(
        outcome=row.outcome,
        fallback=row.fallback,
        content=replace(
            beside,
            causes=causes,
            confidence=confidences(case, repaired=verdict.repaired) if case else (),
            claims=claims,
            hypotheses=tuple(h for h in beside.hypotheses if h.entity not in concluded),
            set_aside=case.set_aside if case else (),
        ),
        findings=verdict.findings,
        reasons=judged[1].reasons if judged else (),
    )


def answers(inquiry: Inquiry, claims: Sequence[Claim], records: Sequence[EvidenceRecord]) -> bool:
    """Whether checked claims answer the question without a cause, by its form (`release.form_table`)."""
    found = {
        FormResult.ANSWERED: answering_claims(inquiry, claims, records),
        FormResult.SOUND: reassuring_claims(inquiry, claims, records),
    }
    form = inquiry.reading.form.form
    return any(
        supported and FORM_TABLE[form, result].outcome is _SUCCESS for result, supported in found.items()
    )


def _set_aside_lines(set_aside: tuple[SetAside, ...]) -> list[JsonValue]:
    return [f"{each.tool_call_id}: {each.reason.value}" for each in set_aside]


def is_denied(execution: DiagnosisAgentExecution) -> bool:
    """Whether a tool was refused because the caller may not use it."""
    return any(each.code == RefusalCode.NOT_AUTHORISED for each in execution.refused)


def end_of_stop(reason: DiagnosisStopReason) -> WorkEnd:
    """How the work ended for a controlled stop."""
    match reason:
        case DiagnosisStopReason.INFORMATION_SATURATED:
            return WorkEnd.SATURATED
        case DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED:
            return WorkEnd.PROTOCOL_STOP
        case DiagnosisStopReason.BUDGET_LIMIT_REACHED:
            return WorkEnd.BUDGET_REACHED


def facts_beyond(
    standing: tuple[Claim, ...], snapshot: ProgressSnapshot, *, run_id: str, inquiry: Inquiry
) -> tuple[Claim, ...]:
    """Verified facts, as they are published, that the standing claims do not say already. Pure.

    Which entity is the cause, and which is only affected, is a conclusion and not a fact.
    """
    published = {_content(claim) for claim in standing}
    found = []
    facts = [claim for claim in snapshot.facts if claim.predicate not in CONCLUSIONS][:FACTS_MAX]
    stated = tuple(_with_few_wordings(facts))
    for claim in check_claims(stated, snapshot.records, run_id=run_id, inquiry=inquiry).standing:
        if _content(claim) not in published:
            published.add(_content(claim))
            found.append(claim)
    return tuple(found)


def _with_few_wordings(facts: Iterable[Claim]) -> Iterator[Claim]:
    """Facts with as many characters of their own wordings as one answer may hold; the rest lose theirs.

    A run takes facts from many answers, and checking a wording is most of the work of a claim. A fact without
    one is published in the product's words.
    """
    characters = 0
    for claim in facts:
        characters += len(claim.wording or "")
        yield claim if characters <= WORDING_MAX else replace(claim, wording=None)


def _content(claim: Claim) -> Claim:
    return replace(claim, claim_id="", refs=(), quotes=(), wording=None)
