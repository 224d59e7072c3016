"""Traces are exported after their runs: a failing backend is counted, logged once, and delays nothing."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.support.scripted_chat import KeptChat, concluding, open_chat
from tests.support.scripted_router import ScriptedRouter

from diagnosis_harness.adapters.telemetry.exporter import ExportCounts, TraceExporter
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason
from diagnosis_harness.application.runs.row import RunRow, RunStatus
from diagnosis_harness.kernel.errors import FailureKind, TechnicalFailure
from diagnosis_harness.trace.event import TraceName
from diagnosis_harness.trace.spans import RunSpans, spans_of

WAIT_S = 20.0
ABOUT = RoutingDecision(IntentType.SYSTEM_CHAT, RoutingReason.LLM_JUDGED)


@dataclass(slots=True)
class ScriptedSender:
    """A backend that works, fails, or does not answer while its gate is closed."""

    sent: list[RunSpans] = field(default_factory=list)
    fails: bool = False
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    is_closed: bool = False

    async def send(self, run: RunSpans) -> None:
        """Take the spans."""
        self.sent.append(run)
        self.arrived.set()
        await self.gate.wait()
        if self.fails:
            raise TechnicalFailure("the backend for traces answered 503", kind=FailureKind.REJECTED)

    async def close(self) -> None:
        """Note it."""
        self.is_closed = True


def ready(*, fails: bool = False) -> ScriptedSender:
    """A backend that answers at once."""
    sender = ScriptedSender(fails=fails)
    sender.gate.set()
    return sender


async def ask(it: KeptChat, exporter: TraceExporter, *, times: int = 1) -> list[RunRow]:
    """Make runs while the exporter listens."""
    stop = it.log.on_written(exporter.on_written)
    try:
        return [await it.ask() for _ in range(times)]
    finally:
        stop()


def test_a_closed_run_is_sent_whole_and_once(tmp_path: Path) -> None:
    """The spans of all its kept events, with its session; nothing before RUN_FINISHED is written."""

    async def work() -> None:
        async with open_chat(tmp_path, **concluding()) as it:  # type: ignore[arg-type]  # named by the function
            sender = ready()
            exporter = TraceExporter(it.stores.archive, sender)
            exporter.start()
            (row,) = await ask(it, exporter)
            await exporter.close(within_s=WAIT_S)

            events = await it.events(row.run_id)
            assert sender.sent == [spans_of(events, session_id="ses-a")]
            assert events[-1].name is TraceName.RUN_FINISHED
            assert exporter.counts == ExportCounts(sent=1)
            assert sender.is_closed

    asyncio.run(work())


def test_a_backend_that_does_not_answer_holds_no_run_up(tmp_path: Path) -> None:
    """Runs end and are kept while the first one's spans hang; at the end the exporter lets go in time."""

    async def work() -> None:
        async with open_chat(tmp_path, router=ScriptedRouter(ABOUT)) as it:
            sender = ScriptedSender()
            exporter = TraceExporter(it.stores.archive, sender, waiting_max=2)
            exporter.start()
            stop = it.log.on_written(exporter.on_written)
            first = await it.ask()
            await asyncio.wait_for(sender.arrived.wait(), WAIT_S)
            rows = [first, *[await it.ask() for _ in range(4)]]
            stop()

            assert all(row.status.is_final and row.is_closed for row in rows)
            assert len(sender.sent) == 1
            assert exporter.counts == ExportCounts(dropped=2)
            await exporter.close(within_s=0.05)
            assert sender.is_closed

    asyncio.run(work())


def test_a_failing_backend_is_counted_and_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Each run is tried once and stays what it was; the next word is said after it has worked again."""

    async def work() -> None:
        async with open_chat(tmp_path, router=ScriptedRouter(ABOUT)) as it:
            sender = ready(fails=True)
            exporter = TraceExporter(it.stores.archive, sender)
            exporter.start()
            rows = await ask(it, exporter, times=3)
            await exporter.close(within_s=WAIT_S)

            assert exporter.counts == ExportCounts(failed=3)
            assert len(sender.sent) == 3
            assert rows[0].status is RunStatus.SUCCESS

    with caplog.at_level(logging.WARNING, logger="diagnosis_harness.telemetry"):
        asyncio.run(work())
    assert [record.getMessage() for record in caplog.records] == [
        (
            "Traces cannot be exported: the backend for traces answered 503. This is logged once until an"
            " export succeeds."
        )
    ]


def test_a_run_that_is_not_kept_is_passed_over(tmp_path: Path) -> None:
    """Nothing is sent for it, and the next one is."""

    async def work() -> None:
        async with open_chat(tmp_path, router=ScriptedRouter(ABOUT)) as it:
            sender = ready()
            exporter = TraceExporter(it.stores.archive, sender)
            exporter.start()
            exporter.on_closed("run-nobody")
            await ask(it, exporter)
            await exporter.close(within_s=WAIT_S)

            assert exporter.counts == ExportCounts(sent=1)

    asyncio.run(work())


def test_a_sender_that_breaks_is_counted_and_the_next_run_is_sent(tmp_path: Path) -> None:
    """Whatever it raises."""

    class Broken(ScriptedSender):
        async def send(self, run: RunSpans) -> None:
            await super().send(run)
            if len(self.sent) == 1:
                raise KeyError("a bug")

    async def work() -> None:
        async with open_chat(tmp_path, router=ScriptedRouter(ABOUT)) as it:
            sender = Broken()
            sender.gate.set()
            exporter = TraceExporter(it.stores.archive, sender)
            exporter.start()
            await ask(it, exporter, times=2)
            await exporter.close(within_s=WAIT_S)
            assert exporter.counts == ExportCounts(sent=1, failed=1)

    asyncio.run(work())
