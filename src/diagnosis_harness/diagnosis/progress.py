"""The progress protocol as a pure fold over results and assessments (seed: lifecycle and states, §8).

The harness itself counts NO_EVIDENCE and exact repeats as NO_GAIN. The policy must assess every other success
in its next answer, with facts that cite its items. Technical failures count neither way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.collection import (
    CollectionState,
    CollectionThresholds,
    DiagnosisStopReason,
    InformationGain,
)
from diagnosis_harness.diagnosis.records import Records
from diagnosis_harness.tools.evidence import EvidenceStatus
from diagnosis_harness.tools.invocation import EvidenceRecord


@dataclass(frozen=True, slots=True)
class Assessment:
    """The policy's assessment of one result: whether it helped, and which facts it gives."""

    tool_call_id: str
    gain: InformationGain
    facts: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgressSnapshot:
    """Everything the loop has learnt; frozen, and part of every end of the loop.

    Attributes:
        records: final records, in the order of their calls.
        facts: facts of accepted assessments, as claims; not yet verified by a guard.
        no_gain: NO_GAIN results in a row.
        violations: protocol violations in a row.
        due: tool call ids whose results the next answer must assess.
        scopes: `(tool_name, scope)` of READY records, to know an exact repeat.
        collection: SATURATED for good once a threshold was reached; budget does not saturate.
        stop_required: the instruction to stop was delivered.
        stop_reason: why collecting stopped, or None.
        steps: how many decisions the policy made.
        store_failed: the evidence store failed to store a record of a call, which may explain missing
                evidence.
    """

    records: tuple[EvidenceRecord, ...] = ()
    facts: tuple[Claim, ...] = ()
    no_gain: int = 0
    violations: int = 0
    due: frozenset[str] = frozenset()
    scopes: frozenset[tuple[str, str]] = frozenset()
    collection: CollectionState = CollectionState.COLLECTING
    stop_required: bool = False
    stop_reason: DiagnosisStopReason | None = None
    steps: int = 0
    store_failed: bool = False


@dataclass(frozen=True, slots=True)
class ProgressNote:
    """How the harness judged one result or assessment; becomes a TOOL_PROGRESS event."""

    tool_call_id: str
    gain: InformationGain | None
    why: str


def with_step(snapshot: ProgressSnapshot) -> ProgressSnapshot:
    """The snapshot with one more step counted."""
    return replace(snapshot, steps=snapshot.steps + 1)


def after_records(
    snapshot: ProgressSnapshot, records: Iterable[EvidenceRecord], thresholds: CollectionThresholds
) -> tuple[ProgressSnapshot, tuple[ProgressNote, ...]]:
    """Add final records in order. NO_GAIN by rule counts at once; the rest becomes due for assessment."""
    notes: list[ProgressNote] = []
    for record in records:
        snapshot = replace(snapshot, records=(*snapshot.records, record))
        if record.evidence is EvidenceStatus.ERROR:
            notes.append(ProgressNote(record.tool_call_id, None, "technical failure"))
            continue
        repeat = (record.tool_name, record.scope) in snapshot.scopes
        snapshot = replace(snapshot, scopes=snapshot.scopes | {(record.tool_name, record.scope)})
        if repeat or record.evidence is EvidenceStatus.NO_EVIDENCE:
            why = "exact repeat" if repeat else "no evidence in this scope"
            notes.append(ProgressNote(record.tool_call_id, InformationGain.NO_GAIN, why))
            snapshot = _count_gain(snapshot, InformationGain.NO_GAIN, thresholds)
        else:
            snapshot = replace(snapshot, due=snapshot.due | {record.tool_call_id})
    return snapshot, tuple(notes)


def after_assessments(
    snapshot: ProgressSnapshot, assessments: Sequence[Assessment], thresholds: CollectionThresholds
) -> tuple[ProgressSnapshot, tuple[ProgressNote, ...]]:
    """Add a policy's assessments of what was due; any number of missing or invalid ones is one violation.

    A valid set of assessments resets the count of violations. Nothing stays due either way: there is no
    second chance to assess.
    """
    problem = _problem(snapshot, assessments)
    if problem is not None:
        violations = snapshot.violations + 1
        snapshot = replace(snapshot, violations=violations, due=frozenset())
        if violations >= thresholds.protocol_violations:
            snapshot = _saturate(snapshot, DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED)
        return snapshot, (ProgressNote(problem[0], None, problem[1]),)
    notes: list[ProgressNote] = []
    for assessment in assessments:
        snapshot = _count_gain(snapshot, assessment.gain, thresholds)
        snapshot = replace(snapshot, facts=(*snapshot.facts, *assessment.facts), violations=0)
        notes.append(ProgressNote(assessment.tool_call_id, assessment.gain, "assessed"))
    return replace(snapshot, due=frozenset()), tuple(notes)


def with_store_failure(snapshot: ProgressSnapshot) -> ProgressSnapshot:
    """The snapshot after the evidence store failed for a call."""
    return replace(snapshot, store_failed=True)


def with_stop_delivered(snapshot: ProgressSnapshot) -> ProgressSnapshot:
    """The snapshot after STOP_REQUIRED was delivered; it is delivered once."""
    return replace(snapshot, stop_required=True)


def with_budget_stop(snapshot: ProgressSnapshot) -> ProgressSnapshot:
    """The snapshot after the budget ran out, which replaces any earlier reason.

    This does not change whether collection is SATURATED.
    """
    return replace(snapshot, stop_reason=DiagnosisStopReason.BUDGET_LIMIT_REACHED)


def _count_gain(
    snapshot: ProgressSnapshot, gain: InformationGain, thresholds: CollectionThresholds
) -> ProgressSnapshot:
    if gain is InformationGain.GAINED:
        return replace(snapshot, no_gain=0)
    snapshot = replace(snapshot, no_gain=snapshot.no_gain + 1)
    if snapshot.no_gain < thresholds.no_gain:
        return snapshot
    return _saturate(snapshot, DiagnosisStopReason.INFORMATION_SATURATED)


def _saturate(snapshot: ProgressSnapshot, reason: DiagnosisStopReason) -> ProgressSnapshot:
    """Stop collecting; the first reason stays."""
    return replace(snapshot, collection=CollectionState.SATURATED, stop_reason=snapshot.stop_reason or reason)


def _problem(snapshot: ProgressSnapshot, assessments: Sequence[Assessment]) -> tuple[str, str] | None:
    """The first problem in a set of assessments: the tool call id and a clause."""
    ids = [assessment.tool_call_id for assessment in assessments]
    if len(set(ids)) != len(ids):
        return ids[0], "a result was assessed twice"
    for call_id in ids:
        if call_id not in snapshot.due:
            return call_id, "a result that is not due was assessed"
    for call_id in sorted(snapshot.due):
        if call_id not in ids:
            return call_id, "a result was not assessed"
    records = Records(snapshot.records)
    for assessment in assessments:
        if assessment.gain is InformationGain.GAINED and not assessment.facts:
            return assessment.tool_call_id, "a gain without a fact"
        for fact in assessment.facts:
            if not fact.refs or any(
                ref.tool_call_id != assessment.tool_call_id or records.item(ref) is None for ref in fact.refs
            ):
                return assessment.tool_call_id, "a fact that cites no item of the assessed result"
    return None
