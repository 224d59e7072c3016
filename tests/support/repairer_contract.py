"""What every `EvidenceRepairer` must do, as checks that any repairer can be run against.

Each check makes the repairers that it needs, and raises AssertionError where the contract is broken. Beside a
draft a repairer may give one of `TYPED_FAILURES`; anything else that it raises ends a check as an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.support.expecting import expect
from tests.support.player_material import REPAIRS, RUN_ID, TYPED_FAILURES, RepairTask, reports_plausible_usage

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.guards.evidence_guard import check_draft
from diagnosis_harness.guards.evidence_repair import EvidenceRepairer
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.runs import Rig

MakeRepairer = Callable[[], EvidenceRepairer]
Check = Callable[[MakeRepairer], None]


def _repair(
    repairer: EvidenceRepairer, task: RepairTask, ctx: RunContext | None = None
) -> DiagnosisDraft | None:
    """The proposal; None where the repairer failed in a way that is allowed."""

    async def repair() -> DiagnosisDraft:
        work = repairer.repair(
            ctx or Rig().run(), task.draft, task.findings, task.records, inquiry=task.inquiry
        )
        proposed, usage = await asyncio.wait_for(work, timeout=30.0)
        expect(holds=isinstance(proposed, DiagnosisDraft), what="a repairer proposes a draft")
        expect(holds=reports_plausible_usage(usage), what="a repairer says what tokens it took")
        return proposed

    try:
        return asyncio.run(repair())
    except TYPED_FAILURES:
        return None


def _proposals(make: MakeRepairer) -> Iterator[tuple[str, RepairTask, DiagnosisDraft]]:
    """The proposal of a fresh repairer for each task."""
    for name, task in REPAIRS.items():
        proposed = _repair(make(), task)
        if proposed is not None:
            yield name, task, proposed


def changes_references_and_nothing_else(make: MakeRepairer) -> None:
    """Every claim and every cause of the proposal is the draft's own, except for its references."""
    for name, task, proposed in _proposals(make):
        given = [_content(claim) for claim in task.draft.claims]
        expect(holds=all(_content(each) in given for each in proposed.claims), what=f"{name}: no new content")
        causes = {replace(cause, claim_ids=()): set(cause.claim_ids) for cause in task.draft.conclusion}
        for cause in proposed.conclusion:
            own = causes.get(replace(cause, claim_ids=()), set())
            expect(holds=own >= set(cause.claim_ids), what=f"{name}: no new cause, and none by other claims")


def _content(claim: Claim) -> Claim:
    return replace(claim, refs=(), quotes=())


def cites_only_records_of_the_run(make: MakeRepairer) -> None:
    """A reference that it changed points at an item of a record of this run."""
    for name, task, proposed in _proposals(make):
        known = {
            (record.tool_call_id, item.item_id)
            for record in task.records
            if record.run_id == RUN_ID
            for item in record.items
        }
        given = {ref for claim in task.draft.claims for ref in claim.refs}
        for claim in proposed.claims:
            new = {(ref.tool_call_id, ref.item_id) for ref in set(claim.refs) - given}
            expect(holds=new <= known, what=f"{name}: {new - known}")


def leaves_a_sound_draft_as_it_is(make: MakeRepairer) -> None:
    """Where nothing is objected to, nothing is proposed but the draft itself."""
    for name, task, proposed in _proposals(make):
        if not task.findings:
            expect(holds=proposed == task.draft, what=f"{name}: the draft unchanged")


def makes_no_objection_worse(make: MakeRepairer) -> None:
    """After the repair no more is objected to than before."""
    for name, task, proposed in _proposals(make):
        left = check_draft(proposed, task.records, run_id=RUN_ID, inquiry=task.inquiry).findings
        expect(holds=len(left) <= len(task.findings), what=f"{name}: {left}")


def repairs_the_same_draft_the_same_way(make: MakeRepairer) -> None:
    """A fresh repairer and one that has served other runs agree: a repairer holds nothing of a run."""
    used = make()
    for task in REPAIRS.values():
        _repair(used, task)
    for name, task in REPAIRS.items():
        expect(holds=_repair(used, task) == _repair(make(), task), what=f"{name}: the same proposal")


def survives_a_cancelled_run(make: MakeRepairer) -> None:
    """Asked inside a run that was cancelled, it answers or says that the run has ended; it never hangs."""
    rig = Rig()
    ctx = rig.run()
    rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)
    for task in REPAIRS.values():
        _repair(make(), task, ctx)


CHECKS: tuple[Check, ...] = (
    changes_references_and_nothing_else,
    cites_only_records_of_the_run,
    leaves_a_sound_draft_as_it_is,
    makes_no_objection_worse,
    repairs_the_same_draft_the_same_way,
    survives_a_cancelled_run,
)
