"""What every `DiagnosisPolicy` must do, as checks that any policy can be run against.

Each check makes the policies that it needs, and raises AssertionError where the contract is broken. Beside an
answer a policy may give one of `TYPED_FAILURES`; anything else that it raises ends a check as an error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from tests.support.expecting import expect
from tests.support.player_material import TYPED_FAILURES, VIEWS, reports_plausible_usage

from diagnosis_harness.diagnosis.answer_size import check_size
from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, Claim, EvidenceRef
from diagnosis_harness.diagnosis.collection import CollectionThresholds
from diagnosis_harness.diagnosis.policy import AskTools, DiagnosisPolicy, GiveDraft, PolicyAnswer, PolicyView
from diagnosis_harness.diagnosis.progress import ProgressSnapshot, after_assessments
from diagnosis_harness.diagnosis.wire import decode_answer, encode_answer
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.testing.runs import Rig

MakePolicy = Callable[[], DiagnosisPolicy]
Check = Callable[[MakePolicy], None]


def _decide(policy: DiagnosisPolicy, view: PolicyView) -> PolicyAnswer | None:
    """The policy's answer; None where it failed in a way that is allowed."""
    try:
        answer, usage = asyncio.run(policy.decide(Rig().run(), view))
    except TYPED_FAILURES:
        return None
    expect(holds=isinstance(answer, AskTools | GiveDraft), what="a policy gives a draft or calls")
    expect(holds=reports_plausible_usage(usage), what="a policy says what tokens it took")
    return answer


def _answers(make: MakePolicy) -> Iterator[tuple[str, PolicyView, PolicyAnswer]]:
    """The answer of a fresh policy to each view."""
    for name, view in VIEWS.items():
        answer = _decide(make(), view)
        if answer is not None:
            yield name, view, answer


def answers_within_the_bounds(make: MakePolicy) -> None:
    """Every answer is small enough, and is the same after it was written as JSON and read back."""
    for name, _, answer in _answers(make):
        check_size(answer)
        expect(holds=decode_answer(encode_answer(answer)) == answer, what=f"{name}: the same after JSON")


def asks_only_for_tools_that_are_offered(make: MakePolicy) -> None:
    """Each call has an id of its own that no record or refused call of the run has."""
    for name, view, answer in _answers(make):
        if not isinstance(answer, AskTools):
            continue
        offered = {spec.name for spec in view.tools}
        used = {record.tool_call_id for record in view.records} | {each.tool_call_id for each in view.refused}
        ids = [call.tool_call_id for call in answer.calls]
        expect(holds=bool(ids), what=f"{name}: at least one call")
        expect(holds=offered >= {call.tool_name for call in answer.calls}, what=f"{name}: offered tools")
        expect(holds=len(set(ids)) == len(ids) and used.isdisjoint(ids), what=f"{name}: new ids")


def asks_for_nothing_after_the_stop(make: MakePolicy) -> None:
    """When collecting must stop, all that is left to give is a draft."""
    for name, view, answer in _answers(make):
        if view.stop_required:
            expect(holds=isinstance(answer, GiveDraft), what=f"{name}: a draft")


def assesses_exactly_what_is_due(make: MakePolicy) -> None:
    """Every due result once, and a gain with facts that cite it: no violation of the progress protocol."""
    for name, view, answer in _answers(make):
        before = ProgressSnapshot(records=view.records, due=view.due)
        after, notes = after_assessments(before, answer.assessments, CollectionThresholds())
        expect(holds=after.violations == 0, what=f"{name}: {[note.why for note in notes]}")


def cites_only_records_of_the_run(make: MakePolicy) -> None:
    """Every reference points at an item of a record that the view holds, or at an empty record as a whole."""
    for name, view, answer in _answers(make):
        known = {
            EvidenceRef(record.tool_call_id, item_id)
            for record in view.records
            for item_id in (WHOLE_RECORD, *(item.item_id for item in record.items))
        }
        claims: list[Claim] = [fact for each in answer.assessments for fact in each.facts]
        cited: list[EvidenceRef] = []
        if isinstance(answer, GiveDraft) and answer.draft is not None:
            claims += answer.draft.claims
            for each in answer.draft.hypotheses:
                cited += (*each.evidence_for, *each.evidence_against)
        for claim in claims:
            cited += (*claim.refs, *(quote.ref for quote in claim.quotes))
        expect(holds=known.issuperset(cited), what=f"{name}: {set(cited) - known}")


def answers_the_same_view_the_same_way(make: MakePolicy) -> None:
    """A fresh policy and one that has served other runs agree: a policy holds nothing of a run."""
    used = make()
    for view in VIEWS.values():
        _decide(used, view)
    for name, view in VIEWS.items():
        expect(holds=_decide(used, view) == _decide(make(), view), what=f"{name}: the same answer")


def survives_a_cancelled_run(make: MakePolicy) -> None:
    """Asked inside a run that was cancelled, it answers or says that the run has ended; it never hangs."""
    rig = Rig()
    ctx = rig.run()
    rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)
    for view in VIEWS.values():
        try:
            asyncio.run(asyncio.wait_for(make().decide(ctx, view), timeout=30.0))
        except TYPED_FAILURES:
            continue


CHECKS: tuple[Check, ...] = (
    answers_within_the_bounds,
    asks_only_for_tools_that_are_offered,
    asks_for_nothing_after_the_stop,
    assesses_exactly_what_is_due,
    cites_only_records_of_the_run,
    answers_the_same_view_the_same_way,
    survives_a_cancelled_run,
)
