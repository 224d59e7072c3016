"""Every way in which a run of the service can end, played over real stores in a file."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.support.scripted_chat import DRAFT, LOOK, KeptChat, concluding, make_findings, open_chat
from tests.support.scripted_router import ScriptedRouter

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason, RoutingTurn
from diagnosis_harness.application.runs.request import RunKind
from diagnosis_harness.application.runs.row import CancelRequest, RunRow
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, WantedCall
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import FailureKind, LlmFailure, SourceUnavailable
from diagnosis_harness.testing.runs import limits
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
from diagnosis_harness.testing.scripted_tool import ScriptedTool
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.spec import ToolFindings
from diagnosis_harness.trace.event import TraceEvent

USER = CancellationReason.USER_REQUESTED


@dataclass(frozen=True, slots=True)
class KeptEnd:
    """What is kept of a run that has ended."""

    row: RunRow
    records: tuple[EvidenceRecord, ...]
    events: tuple[TraceEvent, ...]


Act = Callable[[KeptChat], Awaitable[RunRow]]


@dataclass(slots=True)
class Door:
    """Where a run waits until the test opens it: for a router on the loop, and for a tool on its thread."""

    reached: asyncio.Event = field(default_factory=asyncio.Event)
    open: threading.Event = field(default_factory=threading.Event)
    loop: asyncio.AbstractEventLoop | None = None

    def look(self) -> ToolFindings:
        """A tool that waits."""
        assert self.loop is not None
        self.loop.call_soon_threadsafe(self.reached.set)
        self.open.wait(20)
        return make_findings()

    async def route(
        self, ctx: RunContext, question: str, history: tuple[RoutingTurn, ...]
    ) -> tuple[RoutingDecision, TokenUsage]:
        """A router that waits for ever."""
        del ctx, question, history
        self.reached.set()
        await asyncio.Event().wait()
        raise AssertionError


async def ask_once(kept: KeptChat) -> RunRow:
    """One question."""
    return await kept.ask()


def _raise_broken() -> ToolFindings:
    raise ValueError("broken")


def _router(intent: IntentType) -> dict[str, object]:
    return {"router": ScriptedRouter(RoutingDecision(intent, RoutingReason.LLM_JUDGED))}


async def _source_gone(kept: KeptChat) -> RunRow:
    kept.source.raises = SourceUnavailable("gone", kind=FailureKind.UNAVAILABLE)
    return await kept.ask()


async def _answer_fails(kept: KeptChat) -> RunRow:
    kept.system.raises = LlmFailure("away", kind=FailureKind.UNAVAILABLE)
    return await kept.ask()


def _at(end: Callable[[KeptChat], object], door: Door) -> Act:
    """A question whose run is ended by `end` while it waits at the door."""

    async def act(kept: KeptChat) -> RunRow:
        door.loop = asyncio.get_running_loop()
        task = asyncio.create_task(kept.ask())
        try:
            await door.reached.wait()
            end(kept)
            return await task
        finally:
            door.open.set()

    return act


def _in_path(end: Callable[[KeptChat], object]) -> Act:
    async def act(kept: KeptChat) -> RunRow:
        kept.system.go.clear()
        task = asyncio.create_task(kept.ask())
        await kept.system.entered.wait()
        end(kept)
        return await task

    return act


def _cancel(reason: CancellationReason) -> Callable[[KeptChat], object]:
    return lambda kept: kept.core.cancel(kept.stores.active.all()[0], reason)


def _queue(reason: CancellationReason) -> Act:
    async def act(kept: KeptChat) -> RunRow:
        queued = (await kept.stores.archive.submit(kept.request(kind=RunKind.BACKGROUND))).row
        kept.clock.advance(120.0)
        row = await kept.stores.archive.request_cancel(
            queued.run_id, CancelRequest(reason, kept.clock.now_s())
        )
        assert row is not None
        return row

    return act


def _not_begun(*, is_served: bool) -> Act:
    async def act(kept: KeptChat) -> RunRow:
        archive = kept.stores.archive
        run_id = (await archive.submit(kept.request(kind=RunKind.BACKGROUND, source="shop"))).row.run_id
        kept.clock.advance(120.0)
        assert await archive.expire(run_id, at_s=kept.clock.now_s(), is_served=is_served)
        row = await archive.run(run_id)
        assert row is not None
        return row

    return act


def _abandon_at(door: Door | None) -> Act:
    """Its process dies while it waits to start, or during its path; what it had written remains."""

    async def act(kept: KeptChat) -> RunRow:
        request = kept.request()
        kept.system.go.clear()
        if door is not None:
            door.loop = asyncio.get_running_loop()
        task = asyncio.create_task(kept.ask(request))
        try:
            await (kept.system.entered if door is None else door.reached).wait()
            await kept.log.flush(kept.stores.active.all()[0])
            kept.clock.advance(5.0)
            assert await kept.recovery.abandon(request.run_id, owner="me", at_s=kept.clock.now_s())
            kept.system.go.set()
            if door is not None:
                door.open.set()
            await asyncio.wait({task})
            task.exception()
        finally:
            if door is not None:
                door.open.set()
        row = await kept.stores.archive.run(request.run_id)
        assert row is not None
        return row

    return act


async def _abandon_before_any_event(kept: KeptChat) -> RunRow:
    """Its process is gone between the row and the first line of the log."""
    request = kept.request()
    ctx = kept.core.start_run(
        session_id=request.session_id, limits=limits(), timeout_s=60.0, retry_policies=None
    )
    request = replace(request, run_id=ctx.run_id)
    assert await kept.stores.store.begin(ctx, request, owner="me", at_s=kept.clock.now_s())
    kept.core.complete_failure(ctx, "gone")
    kept.clock.advance(5.0)
    assert await kept.recovery.abandon(request.run_id, owner="me", at_s=kept.clock.now_s())
    row = await kept.stores.archive.run(request.run_id)
    assert row is not None
    return row


def _tool_door() -> tuple[Door, dict[str, object]]:
    door = Door()
    return door, {"policy": ScriptedPolicy(LOOK, GiveDraft(DRAFT)), "tools": (ScriptedTool(door.look),)}


def _second_call_waits() -> tuple[Door, dict[str, object]]:
    """The first call is answered and its record is READY; the second waits."""
    door, calls = Door(), 0

    def look() -> ToolFindings:
        nonlocal calls
        calls += 1
        return make_findings() if calls == 1 else door.look()

    again = AskTools((WantedCall("t2", "look", {"entity": "payment"}),))
    return door, {"policy": ScriptedPolicy(LOOK, again, GiveDraft(DRAFT)), "tools": (ScriptedTool(look),)}


def ends() -> dict[str, tuple[Act, dict[str, object]]]:
    """By name: what to do, and what the rig is scripted with."""
    thin = ScriptedPolicy(LOOK, GiveDraft(replace(DRAFT, conclusion=())))
    thin_again = ScriptedPolicy(LOOK, GiveDraft(replace(DRAFT, conclusion=(), claims=())))
    in_routing, in_tool, late, lost, half = (
        Door(),
        _tool_door(),
        _tool_door(),
        _tool_door(),
        _second_call_waits(),
    )
    cancelled_half, system = _second_call_waits(), _router(IntentType.SYSTEM_CHAT)
    return {
        "system": (ask_once, system),
        "knowledge": (ask_once, _router(IntentType.KNOWLEDGE_QUERY)),
        "success": (ask_once, concluding()),
        "fallback": (ask_once, {"policy": thin, "tools": (ScriptedTool(make_findings),)}),
        "a tool fails": (ask_once, {"policy": thin_again, "tools": (ScriptedTool(_raise_broken),)}),
        "failed": (ask_once, {"policy": ScriptedPolicy(LOOK, LlmFailure("no", kind=FailureKind.REJECTED))}),
        "answer failed": (_answer_fails, system),
        "timed out in a tool": (_at(lambda kept: kept.clock.advance(60.0), late[0]), late[1]),
        "timed out in a path": (_in_path(lambda kept: kept.clock.advance(60.0)), system),
        "budget": (ask_once, {**concluding(), "budget": limits(llm_calls=2)}),
        "budget of bytes": (ask_once, {**concluding(), "budget": limits(run_bytes=10)}),
        "cancelled in routing": (_at(_cancel(USER), in_routing), {"router": in_routing}),
        "cancelled in a tool": (_at(_cancel(USER), in_tool[0]), in_tool[1]),
        "cancelled in the second tool": (_at(_cancel(USER), cancelled_half[0]), cancelled_half[1]),
        "cancelled in a path": (_in_path(_cancel(USER)), system),
        "client gone in a path": (_in_path(_cancel(CancellationReason.CLIENT_DISCONNECTED)), system),
        "service stopped in a path": (_in_path(_cancel(CancellationReason.INTERNAL_FAILURE)), system),
        "expired in the queue": (_not_begun(is_served=True), {}),
        "without a process for its source": (_not_begun(is_served=False), {}),
        "cancelled in the queue": (_queue(USER), {}),
        "router unavailable": (
            ask_once,
            {"router": ScriptedRouter(LlmFailure("no", kind=FailureKind.REJECTED))},
        ),
        "source unavailable": (_source_gone, {}),
        "given up before a word": (_abandon_before_any_event, {}),
        "given up in a path": (_abandon_at(None), system),
        "given up in a tool": (_abandon_at(lost[0]), lost[1]),
        "given up with a record": (_abandon_at(half[0]), half[1]),
    }


NAMES = tuple(ends())


def play_ending(folder: Path, name: str) -> KeptEnd:
    """What is kept of the run that ended so."""
    act, scripted = ends()[name]

    async def run_act() -> KeptEnd:
        async with open_chat(folder, **scripted) as kept:  # type: ignore[arg-type]  # handed through
            row = await asyncio.wait_for(act(kept), 60)
            records = await kept.stores.archive.records(row.run_id)
            return KeptEnd(row, tuple(records), tuple(await kept.events(row.run_id)))

    return asyncio.run(run_act())
