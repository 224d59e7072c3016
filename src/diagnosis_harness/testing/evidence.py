"""Handmade evidence: items, records and claims that a test can change in one place."""

from __future__ import annotations

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate, Quote
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, InvocationStatus, ItemKind
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord
from diagnosis_harness.tools.projection import project
from diagnosis_harness.tools.spec import ProjectionBounds, ToolFindings

ONSET_S = 1_700_000_000.0
WINDOW = TimeWindow(ONSET_S, ONSET_S + 600)


def change_item(item_id: str = "i1", entity: str = "checkout") -> EvidenceItem:
    """A latency that rose from 0.21 s to 3.204 s."""
    return EvidenceItem(
        item_id=item_id,
        kind=ItemKind.SIGNAL_CHANGE,
        line=f"{entity} latency_p90 rose from 0.21 s to 3.204 s",
        entity=entity,
        signal="latency_p90",
        value=3.204,
        baseline=0.21,
        unit="s",
        direction=Direction.UP,
        window=WINDOW,
        onset_s=ONSET_S,
        score=20.0,
        attributes={"bad": True, "kind": "latency"},
    )


def cause_item(item_id: str = "c1", entity: str = "payment", affected: str = "checkout") -> EvidenceItem:
    """The item of a ranking for one candidate."""
    return EvidenceItem(
        item_id=item_id,
        kind=ItemKind.CAUSE_SCORE,
        line=f"{entity} ranks 1 as the cause of what {affected} shows",
        entity=entity,
        peer=affected,
        window=WINDOW,
        onset_s=ONSET_S,
        score=9.0,
        attributes={"rank": 1, "fault_kind": "CPU", "strength": 0.9, "margin": 0.5, "modalities": 2},
    )


def projecting_record(
    tool_call_id: str = "t1",
    *,
    tool_name: str = "find_changed_signals",
    run_id: str = "r1",
    scope: str = "{}",
) -> EvidenceRecord:
    """A PROJECTING record."""
    return EvidenceRecord(
        key=f"evidence:{run_id}:{tool_call_id}",
        run_id=run_id,
        tool_call_id=tool_call_id,
        tool_name=tool_name,
        scope=scope,
        caller="local",
        started_s=ONSET_S,
        invocation=InvocationStatus.PROJECTING,
        evidence=None,
    )


def ready_record(
    *items: EvidenceItem,
    tool_call_id: str = "t1",
    tool_name: str = "find_changed_signals",
    run_id: str = "r1",
    scope: str = "{}",
) -> EvidenceRecord:
    """A READY record that holds these items; NO_EVIDENCE without any."""
    begun = projecting_record(tool_call_id, tool_name=tool_name, run_id=run_id, scope=scope)
    findings = ToolFindings(items=items, window=WINDOW, looked_at=7)
    projection = project(begun.tool_name, begun.scope, findings, ProjectionBounds())
    return begun.ready(projection, at_s=ONSET_S + 1)


def error_record(
    tool_call_id: str = "t1", code: ErrorCode = ErrorCode.EXECUTION_FAILED, *, scope: str = "{}"
) -> EvidenceRecord:
    """A record that ended in ERROR."""
    return projecting_record(tool_call_id, scope=scope).with_error(code, at_s=ONSET_S + 1)


def change_claim(
    item: EvidenceItem | None = None, *, tool_call_id: str = "t1", claim_id: str = "k1"
) -> Claim:
    """The claim that `change_item` supports in all its parts."""
    item = item or change_item()
    ref = EvidenceRef(tool_call_id, item.item_id)
    return Claim(
        claim_id=claim_id,
        predicate=Predicate.CHANGED,
        entity=item.entity or "",
        refs=(ref,),
        quotes=(Quote(ref, item.line),),
        signal=item.signal,
        value=item.value,
        baseline=item.baseline,
        unit=item.unit,
        direction=item.direction,
        window=item.window,
    )


def cause_claim(item: EvidenceItem, *, tool_call_id: str, claim_id: str = "k0") -> Claim:
    """The claim that a `cause_item` supports."""
    ref = EvidenceRef(tool_call_id, item.item_id)
    return Claim(
        claim_id=claim_id,
        predicate=Predicate.CAUSED,
        entity=item.entity or "",
        affected=item.peer,
        refs=(ref,),
        quotes=(Quote(ref, item.line),),
    )
