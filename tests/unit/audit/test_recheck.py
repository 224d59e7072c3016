"""A saved run against what its queries bring now: what holds, what changed, what could not be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.support import documents

from diagnosis_harness.audit.verification.recheck import FactStatus, QueryStatus, Recheck, compare
from diagnosis_harness.guards.verdict import FindingCode
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.report.document import RecordEntry, RunDocument
from diagnosis_harness.testing.evidence import ready_record
from diagnosis_harness.tools.boundary import ToolBoundaryResult
from diagnosis_harness.tools.evidence import EvidenceItem
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord
from diagnosis_harness.tools.preflight import Refusal, RefusalCode
from diagnosis_harness.tools.projection import project
from diagnosis_harness.tools.spec import ProjectionBounds, ToolFindings, ToolRequest

RUN = "r2"


def make_records() -> tuple[EvidenceRecord, ...]:
    """Two queries that found something, one that did not, and one that failed."""
    changed, ranked, _, failed = documents.records()
    scope = '{"entity":"checkout","text":"OutOfMemory"}'
    return changed, ranked, ready_record(tool_call_id="t3", tool_name="search_logs", scope=scope), failed


def make_saved_run() -> RunDocument:
    """A concluded run of three claims that its records support: a cause, a change, an absence."""
    success = documents.success()
    cause, change, _, absence = success.report.claims
    return replace(
        success,
        report=replace(success.report, claims=(cause, change, replace(absence, window=None))),
        records=tuple(RecordEntry.of(record) for record in make_records()),
    )


def answer_again(record: EvidenceRecord, items: tuple[EvidenceItem, ...]) -> ToolBoundaryResult:
    """The same query in another run, with these items."""
    projection = record.projection
    assert projection is not None
    findings = ToolFindings(items=items, window=projection.window, looked_at=projection.looked_at)
    fresh = replace(
        make_records()[3],  # any record that has ended; what matters of it is replaced
        run_id=RUN,
        tool_call_id=record.tool_call_id,
        tool_name=record.tool_name,
        scope=record.scope,
    )
    begun = replace(
        fresh,
        invocation=type(fresh.invocation).PROJECTING,
        evidence=None,
        error_code=None,
        finished_s=None,
    )
    stored = project(record.tool_name, record.scope, findings, ProjectionBounds())
    return ToolBoundaryResult(_request(record), record=begun.ready(stored, at_s=documents.ONSET_S + 1))


def _request(record: EvidenceRecord) -> ToolRequest:
    return ToolRequest(record.tool_call_id, record.tool_name, {})


def again(
    change: Callable[[EvidenceItem], EvidenceItem | None] = lambda item: item,
    *,
    without: tuple[ToolBoundaryResult, ...] = (),
    also: tuple[EvidenceItem, ...] = (),
) -> Recheck:
    """Ask all three queries again: every item as changed, `also` where nothing was found."""
    left_out = {result.request.tool_call_id for result in without}
    results = [
        answer_again(record, tuple(new for item in record.items if (new := change(item))) or also)
        for record in make_records()
        if record.projection is not None and record.tool_call_id not in left_out
    ]
    return compare(make_saved_run(), [*results, *without], run_id=RUN, state=RunState.SUCCESS)


def status(recheck: Recheck) -> dict[str, FactStatus]:
    """How each fact stands."""
    return {fact.claim_id: fact.status for fact in recheck.facts}


def test_the_same_answers_support_the_same_facts() -> None:
    """By digest, query for query; a record that had failed is no query of the run."""
    recheck = again()

    assert {query.tool_call_id: query.status for query in recheck.queries} == dict.fromkeys(
        ("t1", "t2", "t3"), QueryStatus.SAME
    )
    assert status(recheck) == dict.fromkeys(("k1", "k2", "k4"), FactStatus.HOLDS)
    assert recheck.holding == 3


def test_a_fact_moves_with_its_item() -> None:
    """Another place in the list and another line are no other fact."""
    recheck = again(lambda item: replace(item, item_id=f"new-{item.item_id}", line=f"now: {item.line}"))

    assert {query.status for query in recheck.queries if query.tool_call_id != "t3"} == {QueryStatus.DIFFERS}
    assert set(status(recheck).values()) == {FactStatus.HOLDS}


def test_another_value_is_a_change_with_both_lines() -> None:
    """The nearest answer of now is of the same entity and signal."""
    recheck = again(
        lambda item: replace(item, value=50.0, line="cpu at 50") if item.item_id == "i1" else item
    )

    (changed,) = (fact for fact in recheck.facts if fact.status is not FactStatus.HOLDS)
    assert changed.claim_id == "k2"
    assert changed.status is FactStatus.CHANGED
    assert changed.codes == (FindingCode.VALUE_NOT_SUPPORTED,)
    assert changed.old == "checkout cpu_percent rose from 12 percent to 97 percent"
    assert changed.new == "cpu at 50"
    assert not recheck.holds


def test_what_is_not_found_any_more_is_gone() -> None:
    """No other entity's line is shown in its place."""
    recheck = again(lambda item: None if item.item_id == "i1" else item)

    gone = next(fact for fact in recheck.facts if fact.claim_id == "k2")
    assert gone.status is FactStatus.GONE
    assert gone.new is None


def test_an_absence_ends_when_something_is_found() -> None:
    """Where nothing had been found in that scope, there is a line now."""
    found = make_records()[0].items[0]

    recheck = again(also=(found,))

    absence = next(fact for fact in recheck.facts if fact.claim_id == "k4")
    assert absence.status is FactStatus.CHANGED
    assert (absence.old, absence.new) == (None, found.line)


def test_a_query_without_an_answer_decides_nothing() -> None:
    """Refused or failed: its facts neither hold nor are gone, and the query says why."""
    first, second, *_ = make_records()
    failed = replace(
        make_records()[3], run_id=RUN, tool_call_id=second.tool_call_id, error_code=ErrorCode.TIMED_OUT
    )
    recheck = again(
        without=(
            ToolBoundaryResult(_request(first), refusal=Refusal(RefusalCode.BUDGET_EXHAUSTED, "no more")),
            ToolBoundaryResult(_request(second), record=failed),
        )
    )

    assert [(query.tool_call_id, query.code) for query in recheck.queries] == [
        ("t1", "BUDGET_EXHAUSTED"),
        ("t2", "TIMED_OUT"),
        ("t3", None),
    ]
    assert status(recheck) == {
        "k1": FactStatus.NOT_ASKED,
        "k2": FactStatus.NOT_ASKED,
        "k4": FactStatus.HOLDS,
    }
    assert not recheck.holds


def test_a_scope_that_no_call_has_is_not_asked() -> None:
    """A forged document cannot make anybody ask in words of its own."""
    success = make_saved_run()
    records = (replace(success.records[0], scope="[]"), *success.records[1:])

    recheck = compare(replace(success, records=records), [], run_id=RUN, state=RunState.SUCCESS)

    assert recheck.queries[0].status is QueryStatus.NOT_ASKED
    assert recheck.queries[0].code == "UNREADABLE"
