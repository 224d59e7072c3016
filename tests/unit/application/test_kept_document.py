"""What is kept of a run gives its document back, whole and verifiable."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.kept_chat import DRAFT, LOOK, KeptChat, concluding, found, opened

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason
from diagnosis_harness.application.runs.document import document_of, settled
from diagnosis_harness.application.runs.row import RunRow
from diagnosis_harness.application.verification.verify import verify
from diagnosis_harness.diagnosis.policy import GiveDraft
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.kernel.errors import RunDocumentInvalid
from diagnosis_harness.release.document import RunDocument
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.release.saved import saved_bytes
from diagnosis_harness.testing.evidence import begun_record
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
from diagnosis_harness.testing.scripted_router import ScriptedRouter
from diagnosis_harness.testing.scripted_tool import ScriptedTool
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode
from diagnosis_harness.trace.event import TraceName

SYSTEM = RoutingDecision(IntentType.SYSTEM_CHAT, RoutingReason.GREETING)


def play(folder: Path, act: Callable[[KeptChat], Awaitable[RunRow]], **scripted: object) -> RunDocument:
    """The document of the run that `act` asks for."""

    async def played() -> RunDocument:
        async with opened(folder, **scripted) as kept:  # type: ignore[arg-type]  # handed through
            row = await asyncio.wait_for(act(kept), 60)
            records = await kept.keeping.archive.records(row.run_id)
            return document_of(row, records, await kept.events(row.run_id))

    return asyncio.run(played())


async def asked(kept: KeptChat) -> RunRow:
    """One question with a stated onset."""
    return await kept.ask(kept.request("why is payment slow?", onset_s=1_700_000_000.0))


def test_a_conclusion_is_verified_from_what_is_kept(tmp_path: Path) -> None:
    """Root digest, bytes, claims, report: everything holds that held when it left."""
    document = play(tmp_path, asked, **concluding())
    verification = verify(saved_bytes(document), file="run.json")
    assert document.release.outcome is ReleaseOutcome.SUCCESS
    assert document.report.causes
    assert document.run.onset_at == "2023-11-14T22:13:20Z"
    assert verification.verified, [check for check in verification.checks if check.flaws]


def test_a_fallback_is_verified_from_what_is_kept(tmp_path: Path) -> None:
    """The same of what stands without a conclusion."""
    thin = replace(DRAFT, conclusion=())
    document = play(
        tmp_path, asked, policy=ScriptedPolicy(LOOK, GiveDraft(thin)), tools=(ScriptedTool(found),)
    )
    assert document.release.outcome is ReleaseOutcome.FALLBACK
    assert verify(saved_bytes(document), file="run.json").verified


def test_the_trace_of_the_document_is_the_whole_log(tmp_path: Path) -> None:
    """From RUN_STARTED to RUN_FINISHED, routing and all."""
    document = play(tmp_path, asked, **concluding())
    names = [line.name for line in document.trace]
    assert names[0] is TraceName.RUN_STARTED
    assert names[-1] is TraceName.RUN_FINISHED
    assert TraceName.ROUTING_DECISION in names


def test_another_path_has_an_empty_report(tmp_path: Path) -> None:
    """There is no claim in it, and no record."""
    document = play(tmp_path, asked, router=ScriptedRouter(SYSTEM))
    assert document.report.claims == ()
    assert document.records == ()
    assert document.release.outcome is ReleaseOutcome.SUCCESS


def test_a_cancelled_run_keeps_its_evidence(tmp_path: Path) -> None:
    """What had been looked at stands in the document; no cause does."""

    async def act(kept: KeptChat) -> RunRow:
        kept.system.go.clear()
        task = asyncio.create_task(asked(kept))
        await kept.system.entered.wait()
        kept.core.cancel(kept.keeping.active.all()[0], CancellationReason.USER_REQUESTED)
        return await task

    document = play(tmp_path, act, router=ScriptedRouter(SYSTEM))
    assert document.release.outcome is ReleaseOutcome.CANCELLED
    assert document.release.failure == "The run was cancelled before it had an answer."


def test_a_run_that_goes_on_has_no_document(tmp_path: Path) -> None:
    """It is refused, and not made up."""

    async def act(kept: KeptChat) -> RunRow:
        submitted = await kept.keeping.archive.submit(kept.request())
        return submitted.row

    with pytest.raises(RunDocumentInvalid):
        play(tmp_path, act)


def test_a_record_that_never_ended_is_shown_as_abandoned_once_its_run_is_closed(tmp_path: Path) -> None:
    """The store was away when it should have ended; nobody waits for it any more."""

    async def act(kept: KeptChat) -> RunRow:
        row = await asked(kept)
        open_record = replace(begun_record("t1"), run_id=row.run_id)
        (shown,) = settled(row, [open_record])
        assert (shown.invocation, shown.error_code) == (InvocationStatus.ERROR, ErrorCode.ABANDONED)
        assert settled(replace(row, is_closed=False), [open_record]) == (open_record,)
        return row

    play(tmp_path, act, router=ScriptedRouter(SYSTEM))
