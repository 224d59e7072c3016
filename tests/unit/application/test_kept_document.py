"""What is kept of a run gives its document back, whole and verifiable."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.scripted_chat import DRAFT, LOOK, KeptChat, concluding, make_findings, open_chat
from tests.support.scripted_router import ScriptedRouter

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason
from diagnosis_harness.application.runs.document import document_of, records_to_show
from diagnosis_harness.application.runs.early_end import closing_events, ending_of_abandoned
from diagnosis_harness.application.runs.row import CancelRequest, RunRow, RunSpent
from diagnosis_harness.audit.verification.result import Flaw, FlawCode
from diagnosis_harness.audit.verification.verify import verify
from diagnosis_harness.diagnosis.policy import GiveDraft
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import RunDocumentInvalid, SourceUnavailable
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import RecordEntry, RunDocument
from diagnosis_harness.report.document_file import document_bytes
from diagnosis_harness.report.window import read_instant
from diagnosis_harness.testing.evidence import projecting_record
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
from diagnosis_harness.testing.scripted_tool import ScriptedTool
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode
from diagnosis_harness.trace.event import TraceName

SYSTEM = RoutingDecision(IntentType.SYSTEM_CHAT, RoutingReason.GREETING)


def flaws(document: RunDocument) -> list[Flaw]:
    """Everything that `diagnose runs verify` objects to."""
    return [flaw for check in verify(document_bytes(document), file="run").checks for flaw in check.flaws]


def play(folder: Path, act: Callable[[KeptChat], Awaitable[RunRow]], **scripted: object) -> RunDocument:
    """The document of the run that `act` asks for."""

    async def run_act() -> RunDocument:
        async with open_chat(folder, **scripted) as kept:  # type: ignore[arg-type]  # handed through
            row = await asyncio.wait_for(act(kept), 60)
            records = await kept.stores.archive.records(row.run_id)
            return document_of(row, records, await kept.events(row.run_id))

    return asyncio.run(run_act())


async def ask_with_onset(kept: KeptChat) -> RunRow:
    """One question with a stated onset."""
    return await kept.ask(kept.request("why is payment slow?", onset_s=1_700_000_000.0))


def test_a_conclusion_is_verified_from_what_is_kept(tmp_path: Path) -> None:
    """Root digest, bytes, claims, report: everything holds that held when it left."""
    document = play(tmp_path, ask_with_onset, **concluding())
    verification = verify(document_bytes(document), file="run.json")
    assert document.release.outcome is ReleaseOutcome.SUCCESS
    assert document.report.causes
    assert document.run.onset_at == "2023-11-14T22:13:20Z"
    assert verification.verified, [check for check in verification.checks if check.flaws]


def test_a_fallback_is_verified_from_what_is_kept(tmp_path: Path) -> None:
    """The same for a release without a conclusion."""
    thin = replace(DRAFT, conclusion=())
    document = play(
        tmp_path,
        ask_with_onset,
        policy=ScriptedPolicy(LOOK, GiveDraft(thin)),
        tools=(ScriptedTool(make_findings),),
    )
    assert document.release.outcome is ReleaseOutcome.FALLBACK
    assert verify(document_bytes(document), file="run.json").verified


def test_the_trace_of_the_document_is_the_whole_log(tmp_path: Path) -> None:
    """From RUN_STARTED to RUN_FINISHED, routing and all."""
    document = play(tmp_path, ask_with_onset, **concluding())
    names = [line.name for line in document.trace]
    assert names[0] is TraceName.RUN_STARTED
    assert names[-1] is TraceName.RUN_FINISHED
    assert TraceName.ROUTING_DECISION in names


def test_another_path_has_a_report_that_says_which(tmp_path: Path) -> None:
    """There is no claim in it, and no record."""
    document = play(tmp_path, ask_with_onset, router=ScriptedRouter(SYSTEM))
    assert document.report.summary == (
        "It asked for no diagnosis (SYSTEM_CHAT). The answer is kept with the run, and not here.",
    )
    assert document.report.claims == ()
    assert document.records == ()
    assert document.release.outcome is ReleaseOutcome.SUCCESS


@pytest.mark.parametrize("intent", [IntentType.SYSTEM_CHAT, IntentType.KNOWLEDGE_QUERY])
def test_an_answer_of_another_path_verifies(tmp_path: Path, intent: IntentType) -> None:
    """There is no report to be composed again, and one that is added does not verify."""
    router = ScriptedRouter(RoutingDecision(intent, RoutingReason.ASKS_HOW_TO))
    document = play(tmp_path, ask_with_onset, router=router)
    added = replace(document, report=replace(document.report, summary=("payment is the cause.",)))
    assert flaws(document) == []
    assert [flaw.code for flaw in flaws(added)] == [FlawCode.SUMMARY_DIFFERS]


def test_a_failure_without_a_report_says_why_and_verifies(tmp_path: Path) -> None:
    """The source could not be read: the document says so, and what may be done."""

    async def act(kept: KeptChat) -> RunRow:
        kept.source.raises = SourceUnavailable("gone")
        return await ask_with_onset(kept)

    document = play(tmp_path, act)
    assert document.report.summary[:2] == ("There is no answer.", document.release.failure)
    assert document.report.next_checks
    assert flaws(document) == []


@pytest.mark.parametrize("reason", [CancellationReason.USER_REQUESTED, CancellationReason.DEADLINE_EXCEEDED])
def test_a_run_that_ended_in_the_queue_verifies(tmp_path: Path, reason: CancellationReason) -> None:
    """It never began, and took no time, however long it had waited."""

    async def act(kept: KeptChat) -> RunRow:
        queued = (await kept.stores.archive.submit(kept.request())).row
        kept.clock.advance(30.0)
        row = await kept.stores.archive.request_cancel(
            queued.request.run_id, CancelRequest(reason, kept.clock.now_s())
        )
        assert row is not None
        return row

    document = play(tmp_path, act)
    assert document.run.duration_s == 0.0
    assert flaws(document) == []


@pytest.mark.parametrize("had_ended", [False, True])
def test_a_run_whose_process_is_gone_verifies_with_all_that_it_had_found(
    tmp_path: Path, *, had_ended: bool
) -> None:
    """Its account is lost; the report lists the records there are, and the least that they cost.

    Its log ends where it was killed, and who closed it wrote the end.
    """

    async def run_act() -> RunDocument:
        async with open_chat(tmp_path, **concluding()) as kept:  # type: ignore[arg-type]  # handed through
            row = await asyncio.wait_for(ask_with_onset(kept), 60)
            assert row.ending is not None
            lost = ending_of_abandoned(
                row.request,
                RunSpent(duration_s=row.ending.spent.duration_s, is_estimated=True),
                at_s=row.ending.termination.at_s,
                ended=row.ending.termination if had_ended else None,
            )
            events = await kept.events(row.run_id)
            killed_at = TraceName.RELEASE_DECISION if had_ended else TraceName.RUN_ENDED
            own = events[: [event.name for event in events].index(killed_at)]
            after = (own[-1].seq, own[-1].at_s)
            end = closing_events(row.run_id, lost, after=after, ended_is_logged=had_ended)
            records = await kept.stores.archive.records(row.run_id)
            return document_of(replace(row, ending=lost), records, [*own, *end])

    document = asyncio.run(run_act())
    assert document.release.outcome is ReleaseOutcome.FAILED
    assert [each.tool for each in document.report.coverage.asked] == ["look"]
    assert next((each.name, each.tool, each.used) for each in document.run.usage) == ("tool_calls", None, 1)
    assert flaws(document) == []


def test_a_record_of_a_refused_call_is_not_in_the_document(tmp_path: Path) -> None:
    """The run had ended while the store began it: nothing was called, counted or reported."""

    async def run_act() -> None:
        async with open_chat(tmp_path, **concluding()) as kept:  # type: ignore[arg-type]  # handed through
            row = await asyncio.wait_for(ask_with_onset(kept), 60)
            records = await kept.stores.archive.records(row.run_id)
            events = await kept.events(row.run_id)
            late = replace(projecting_record("t2"), run_id=row.run_id)
            turned_away = late.with_error(ErrorCode.ABANDONED, at_s=late.started_s)
            assert document_of(row, [*records, turned_away], events) == document_of(row, records, events)

    asyncio.run(run_act())


def test_a_call_that_the_end_of_its_run_forestalled_need_not_be_counted(tmp_path: Path) -> None:
    """Its record had begun; the gate was shut before the call. A run that ended well had no such end."""
    well = play(tmp_path, ask_with_onset, **concluding())
    document = replace(well, run=replace(well.run, state=RunState.TIMED_OUT))
    started_s = read_instant(document.run.started_at, "started_at")
    late = replace(projecting_record("t2"), run_id=document.run.run_id, tool_name="late", started_s=started_s)
    entry = RecordEntry.of(late.with_error(ErrorCode.RUN_ENDED, at_s=started_s))
    having = replace(document, records=(*document.records, entry))
    assert FlawCode.COUNTED_TOO_LITTLE not in {flaw.code for flaw in flaws(having)}
    having = replace(having, run=well.run)
    assert FlawCode.COUNTED_TOO_LITTLE in {flaw.code for flaw in flaws(having)}


def test_a_cancelled_run_keeps_its_evidence(tmp_path: Path) -> None:
    """The document holds what had been examined, and no cause."""

    async def act(kept: KeptChat) -> RunRow:
        kept.system.go.clear()
        task = asyncio.create_task(ask_with_onset(kept))
        await kept.system.entered.wait()
        kept.core.cancel(kept.stores.active.all()[0], CancellationReason.USER_REQUESTED)
        return await task

    document = play(tmp_path, act, router=ScriptedRouter(SYSTEM))
    assert document.release.outcome is ReleaseOutcome.CANCELLED
    assert document.release.failure is None
    assert document.report.summary[0] == "Cancelled before there was an answer."


def test_a_run_that_goes_on_has_no_document(tmp_path: Path) -> None:
    """It is refused, and not made up."""

    async def act(kept: KeptChat) -> RunRow:
        submitted = await kept.stores.archive.submit(kept.request())
        return submitted.row

    with pytest.raises(RunDocumentInvalid):
        play(tmp_path, act)


def test_a_record_that_never_ended_is_shown_as_abandoned_once_its_run_is_closed(tmp_path: Path) -> None:
    """The store was unavailable when it should have ended; nothing waits for it any more."""

    async def act(kept: KeptChat) -> RunRow:
        row = await ask_with_onset(kept)
        open_record = replace(projecting_record("t1"), run_id=row.run_id)
        (shown,) = records_to_show(row, [open_record])
        assert (shown.invocation, shown.error_code) == (InvocationStatus.ERROR, ErrorCode.ABANDONED)
        assert records_to_show(replace(row, is_closed=False), [open_record]) == (open_record,)
        return row

    play(tmp_path, act, router=ScriptedRouter(SYSTEM))
