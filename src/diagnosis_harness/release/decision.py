"""What may be published, by how the work ended: one table (seed: lifecycle and states, §10, §3.2, §6, §9).

The first row whose conditions hold decides. No outcome is derived from a run state, nor a run state from an
outcome.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome


class WorkEnd(StrEnum):
    """How diagnosing and checking ended: the key of the table, not a run state."""

    SUPPORTED = "SUPPORTED"  # a conclusion passed every guard
    EVIDENCE_INVALID = "EVIDENCE_INVALID"  # a conclusion failed EvidenceGuard, also after repair
    UNSUPPORTED = "UNSUPPORTED"  # SemanticGuard did not support it
    JUDGE_UNAVAILABLE = "JUDGE_UNAVAILABLE"  # SemanticGuard gave no verdict
    ANSWERED = "ANSWERED"  # no conclusion is needed: checked claims answer the question
    NO_CONCLUSION = "NO_CONCLUSION"  # a legal draft that concludes nothing
    SATURATED = "SATURATED"  # controlled stop: nothing new was coming
    PROTOCOL_STOP = "PROTOCOL_STOP"  # controlled stop: the progress protocol was broken
    DRAFT_ILLEGAL = "DRAFT_ILLEGAL"  # empty, unreadable, or not of the schema
    POLICY_FAILED = "POLICY_FAILED"  # the language model behind the policy failed
    ROUTER_UNAVAILABLE = "ROUTER_UNAVAILABLE"  # after all attempts; no path is guessed
    ANSWER_FAILED = "ANSWER_FAILED"  # the player of a path without diagnosis failed
    ONSET_OUTSIDE_DATA = "ONSET_OUTSIDE_DATA"  # the stated onset lies outside the recording
    SOURCE_UNAVAILABLE = "SOURCE_UNAVAILABLE"  # the telemetry cannot be read
    SOURCE_EXPIRED = "SOURCE_EXPIRED"  # a source that a caller sent was gone before the run could read it
    EVIDENCE_STORE_UNAVAILABLE = "EVIDENCE_STORE_UNAVAILABLE"  # evidence could not be stored
    INTERNAL_FAILURE = "INTERNAL_FAILURE"
    BUDGET_REACHED = "BUDGET_REACHED"  # in any stage
    DEADLINE_REACHED = "DEADLINE_REACHED"
    CANCELLED = "CANCELLED"
    ENDED_EARLY = "ENDED_EARLY"  # a player or tool ended the run SUCCESS before its release


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `facts` and `missing` are conditions; None means any."""

    rule: str
    end: WorkEnd
    state: RunState
    outcome: ReleaseOutcome
    fallback: FallbackType | None = None
    facts: bool | None = None
    missing: bool | None = None


_S, _B, _T, _F, _C = (
    RunState.SUCCESS,
    RunState.BUDGET_EXHAUSTED,
    RunState.TIMED_OUT,
    RunState.FAILED,
    RunState.CANCELLED,
)
_BACK, _FAIL = ReleaseOutcome.FALLBACK, ReleaseOutcome.FAILED
_THIN, _LACK = FallbackType.INSUFFICIENT_EVIDENCE, FallbackType.MISSING_REQUIRED_CONTEXT

TABLE: tuple[Row, ...] = (
    Row("RL-10", WorkEnd.SUPPORTED, _S, ReleaseOutcome.SUCCESS),
    Row("RL-15", WorkEnd.EVIDENCE_INVALID, _S, _BACK, FallbackType.EVIDENCE_VALIDATION_FAILED),
    Row("RL-16", WorkEnd.UNSUPPORTED, _S, _BACK, FallbackType.SEMANTIC_UNSUPPORTED),
    Row("RL-17", WorkEnd.JUDGE_UNAVAILABLE, _S, _BACK, FallbackType.SEMANTIC_UNAVAILABLE),
    Row("GU-146", WorkEnd.ANSWERED, _S, ReleaseOutcome.SUCCESS, facts=True),
    Row("GU-146", WorkEnd.ANSWERED, _S, _BACK, _THIN, facts=False),
    Row("RL-12", WorkEnd.NO_CONCLUSION, _S, _BACK, _THIN, facts=True),
    Row("RL-11", WorkEnd.NO_CONCLUSION, _S, _BACK, _LACK, facts=False, missing=True),
    Row("RL-24", WorkEnd.NO_CONCLUSION, _F, _FAIL, facts=False, missing=False),
    Row("RL-13", WorkEnd.SATURATED, _S, _BACK, _THIN, facts=True),
    Row("RL-23", WorkEnd.SATURATED, _F, _FAIL, facts=False),
    Row("RL-14", WorkEnd.PROTOCOL_STOP, _S, _BACK, _THIN, facts=True),
    Row("RL-23", WorkEnd.PROTOCOL_STOP, _F, _FAIL, facts=False),
    Row("RL-26", WorkEnd.DRAFT_ILLEGAL, _S, _BACK, _THIN, facts=True),
    Row("RL-26", WorkEnd.DRAFT_ILLEGAL, _F, _FAIL, facts=False),
    Row("RL-27", WorkEnd.POLICY_FAILED, _F, _FAIL),
    Row("RL-28", WorkEnd.ROUTER_UNAVAILABLE, _F, _FAIL),
    Row("RL-27", WorkEnd.ANSWER_FAILED, _F, _FAIL),
    Row("RL-21", WorkEnd.ONSET_OUTSIDE_DATA, _F, _FAIL),
    Row("RL-21", WorkEnd.SOURCE_UNAVAILABLE, _F, _FAIL),
    Row("RL-21", WorkEnd.SOURCE_EXPIRED, _F, _FAIL),
    Row("RL-21", WorkEnd.EVIDENCE_STORE_UNAVAILABLE, _F, _FAIL),
    Row("RL-21", WorkEnd.INTERNAL_FAILURE, _F, _FAIL),
    Row("RL-18", WorkEnd.BUDGET_REACHED, _B, _BACK, _THIN, facts=True),
    Row("RL-20", WorkEnd.BUDGET_REACHED, _B, _FAIL, facts=False),
    Row("RL-31", WorkEnd.DEADLINE_REACHED, _T, _BACK, _THIN, facts=True),
    Row("RL-19", WorkEnd.DEADLINE_REACHED, _T, _FAIL, facts=False),
    Row("RL-22", WorkEnd.CANCELLED, _C, ReleaseOutcome.CANCELLED),
    Row("SV-08", WorkEnd.ENDED_EARLY, _S, _BACK, _THIN),
)


def decide(end: WorkEnd, *, facts: bool, missing: bool) -> Row:
    """The row for an end. Total: every end has a row for each combination of the conditions."""
    for row in TABLE:
        if row.end is end and row.facts in (None, facts) and row.missing in (None, missing):
            return row
    raise AssertionError(f"the release table has no row for {end}")


def end_of_state(state: RunState) -> WorkEnd:
    """How the work ended if the run itself ended first.

    The caller completes a run after its release. If a run is SUCCESS before that, a player or tool ended
    it: it released nothing, so its outcome is a fallback, whatever was prepared.

    Raises:
        ContractViolation: the run has not ended.
    """
    if not state.is_terminal:
        raise ContractViolation("a run that goes on has no end")
    return {
        RunState.SUCCESS: WorkEnd.ENDED_EARLY,
        RunState.CANCELLED: WorkEnd.CANCELLED,
        RunState.TIMED_OUT: WorkEnd.DEADLINE_REACHED,
        RunState.BUDGET_EXHAUSTED: WorkEnd.BUDGET_REACHED,
        RunState.FAILED: WorkEnd.INTERNAL_FAILURE,
    }[state]
