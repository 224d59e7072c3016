"""The progress protocol: what counts, what clears, what saturates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef
from diagnosis_harness.diagnosis.collection import (
    CollectionState,
    CollectionThresholds,
    DiagnosisStopReason,
    InformationGain,
)
from diagnosis_harness.diagnosis.progress import (
    Assessment,
    ProgressSnapshot,
    after_assessments,
    after_records,
    with_budget_stop,
)
from diagnosis_harness.testing.evidence import change_claim, change_item, error_record, ready_record
from diagnosis_harness.tools.invocation import EvidenceRecord

THRESHOLDS = CollectionThresholds(no_gain=2, protocol_violations=2)
GAINED, NO_GAIN = InformationGain.GAINED, InformationGain.NO_GAIN


def take_records(*records: EvidenceRecord, start: ProgressSnapshot | None = None) -> ProgressSnapshot:
    """The snapshot after these records."""
    return after_records(start or ProgressSnapshot(), records, THRESHOLDS)[0]


def make_record(call_id: str, scope: str) -> EvidenceRecord:
    """A record with one item."""
    return ready_record(change_item(), tool_call_id=call_id, scope=scope)


def fact(call_id: str) -> Claim:
    """A fact that cites the one item of a record."""
    return change_claim(tool_call_id=call_id, claim_id=f"fact-{call_id}")


def test_an_empty_result_is_not_a_gain_by_the_harness_itself() -> None:
    """Nothing is due: the policy has no say in it."""
    snapshot = take_records(ready_record())
    assert (snapshot.no_gain, snapshot.due) == (1, frozenset())


def test_an_exact_repeat_is_not_a_gain_and_another_scope_is_not() -> None:
    """The same tool with the same normalised scope, compared with READY records."""
    snapshot = take_records(
        make_record("t1", '{"a":1}'), make_record("t2", '{"a":1}'), make_record("t3", '{"a":2}')
    )
    assert (snapshot.no_gain, snapshot.due) == (1, frozenset({"t1", "t3"}))


def test_trying_again_after_a_failure_is_fair() -> None:
    """A failed call is neither a gain nor a loss, and its repeat is no repeat."""
    snapshot = take_records(error_record("t1"), make_record("t2", "{}"))
    assert (snapshot.no_gain, snapshot.due) == (0, frozenset({"t2"}))


def test_a_gain_clears_what_had_been_counted() -> None:
    """GAINED starts the count again."""
    snapshot = take_records(ready_record(), make_record("t2", '{"a":1}'))
    snapshot, _ = after_assessments(snapshot, [Assessment("t2", GAINED, (fact("t2"),))], THRESHOLDS)
    assert (snapshot.no_gain, snapshot.facts) == (0, (fact("t2"),))


def test_no_gain_in_a_row_saturates_for_good() -> None:
    """At the threshold collecting is over, and a later gain does not reopen it."""
    snapshot = take_records(ready_record(scope='{"a":1}'), ready_record(tool_call_id="t2", scope='{"a":2}'))
    assert snapshot.collection is CollectionState.SATURATED
    assert snapshot.stop_reason is DiagnosisStopReason.INFORMATION_SATURATED
    later = take_records(make_record("t3", '{"a":3}'), start=snapshot)
    later, _ = after_assessments(later, [Assessment("t3", GAINED, (fact("t3"),))], THRESHOLDS)
    assert later.collection is CollectionState.SATURATED


DUE = take_records(make_record("t1", "{}"))


@pytest.mark.parametrize(
    "assessments",
    [
        [],
        [Assessment("t9", NO_GAIN)],
        [Assessment("t1", NO_GAIN), Assessment("t1", NO_GAIN)],
        [Assessment("t1", GAINED)],
        [Assessment("t1", GAINED, (replace(fact("t1"), refs=()),))],
        [Assessment("t1", GAINED, (replace(fact("t1"), refs=(EvidenceRef("t1", "i9"),)),))],
        [Assessment("t1", GAINED, (fact("t2"),))],
    ],
    ids=["none", "not due", "twice", "gain without fact", "fact without ref", "no such item", "other record"],
)
def test_an_unsound_assessment_is_a_violation_and_gives_no_fact(assessments: list[Assessment]) -> None:
    """One violation, no gain, no loss, no fact; the result has had its chance."""
    snapshot, _ = after_assessments(DUE, assessments, THRESHOLDS)
    assert (snapshot.violations, snapshot.no_gain, snapshot.facts, snapshot.due) == (1, 0, (), frozenset())


def test_violations_in_a_row_stop_collecting_and_a_sound_answer_clears_them() -> None:
    """Two in a row stop; one, then a sound one, then one does not."""
    once, _ = after_assessments(DUE, [], THRESHOLDS)
    twice, _ = after_assessments(take_records(make_record("t2", '{"a":2}'), start=once), [], THRESHOLDS)
    assert twice.stop_reason is DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED
    sound, _ = after_assessments(
        take_records(make_record("t2", '{"a":2}'), start=once), [Assessment("t2", NO_GAIN)], THRESHOLDS
    )
    again, _ = after_assessments(take_records(make_record("t3", '{"a":3}'), start=sound), [], THRESHOLDS)
    assert (again.violations, again.stop_reason) == (1, None)


def test_an_answer_with_nothing_due_and_nothing_assessed_is_sound() -> None:
    """The first answer of a run breaks no protocol."""
    snapshot, _ = after_assessments(ProgressSnapshot(), [], THRESHOLDS)
    assert snapshot == ProgressSnapshot()


def test_a_budget_stop_does_not_saturate() -> None:
    """The run is over; whether more could have been collected is another matter."""
    snapshot = with_budget_stop(DUE)
    assert snapshot.collection is CollectionState.COLLECTING
    assert snapshot.stop_reason is DiagnosisStopReason.BUDGET_LIMIT_REACHED


def test_technical_failures_and_violations_neither_raise_nor_clear_the_count() -> None:
    """NO_GAIN, a failure, a violation, NO_GAIN: two in a row, as if nothing had been between."""
    snapshot = take_records(ready_record(scope='{"a":1}'), error_record("t2"))
    assert snapshot.no_gain == 1
    snapshot, _ = after_assessments(
        take_records(make_record("t3", '{"a":3}'), start=snapshot), [], THRESHOLDS
    )
    assert (snapshot.no_gain, snapshot.violations) == (1, 1)
    snapshot = take_records(ready_record(tool_call_id="t4", scope='{"a":4}'), start=snapshot)
    assert snapshot.stop_reason is DiagnosisStopReason.INFORMATION_SATURATED


@pytest.mark.parametrize("record", [error_record("t2"), ready_record(tool_call_id="t2")])
def test_what_is_not_assessed_does_not_clear_violations(record: EvidenceRecord) -> None:
    """Only an accepted assessment does; an answer that had nothing to assess says nothing of it."""
    snapshot, _ = after_assessments(DUE, [], THRESHOLDS)
    snapshot, _ = after_assessments(take_records(record, start=snapshot), [], THRESHOLDS)
    assert snapshot.violations == 1


@pytest.mark.parametrize(("gain", "facts"), [(GAINED, (fact("t2"),)), (NO_GAIN, ())])
def test_any_accepted_assessment_clears_violations(gain: InformationGain, facts: tuple[Claim, ...]) -> None:
    """Whether it helped or not."""
    snapshot, _ = after_assessments(DUE, [], THRESHOLDS)
    snapshot = take_records(make_record("t2", '{"a":2}'), start=snapshot)
    snapshot, _ = after_assessments(snapshot, [Assessment("t2", gain, facts)], THRESHOLDS)
    assert snapshot.violations == 0


def test_the_first_reason_to_saturate_is_kept() -> None:
    """A threshold that is reached later changes nothing."""
    snapshot = take_records(ready_record(scope='{"a":1}'), ready_record(tool_call_id="t2", scope='{"a":2}'))
    for number in (3, 4):
        snapshot = take_records(make_record(f"t{number}", f'{{"a":{number}}}'), start=snapshot)
        snapshot, _ = after_assessments(snapshot, [], THRESHOLDS)
    assert (snapshot.violations, snapshot.stop_reason) == (2, DiagnosisStopReason.INFORMATION_SATURATED)


def test_a_budget_stop_leaves_saturated_as_it_was() -> None:
    """SATURATED is final."""
    snapshot = take_records(ready_record(scope='{"a":1}'), ready_record(tool_call_id="t2", scope='{"a":2}'))
    assert with_budget_stop(snapshot).collection is CollectionState.SATURATED
