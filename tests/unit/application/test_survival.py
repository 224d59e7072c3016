"""A whole diagnosis whose players and sinks misbehave: it ends once, and its trace is complete."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, NoReturn

import pytest
from tests.support.scene import Scene

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.application.diagnose import DiagnosisEnd
from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.guards.semantic_guard import SemanticCase
from diagnosis_harness.guards.verdict import Judgement
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.termination import RunState, RunTermination, state_for
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.testing.evidence import WINDOW, cause_claim, cause_item, change_claim, change_item
from diagnosis_harness.testing.scripted_policy import ScriptedJudge, ScriptedPolicy
from diagnosis_harness.testing.scripted_tool import ScriptedTool
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode
from diagnosis_harness.tools.spec import ToolFindings
from diagnosis_harness.trace.event import TraceEvent, TraceName
from diagnosis_harness.trace.sink import FanOutSink, MemorySink

Out, S, C = ReleaseOutcome, RunState, CancellationReason
RAISED = [asyncio.CancelledError, SystemExit, KeyboardInterrupt, GeneratorExit, MemoryError]


def make_findings() -> ToolFindings:
    """A ranking and the change that supports it."""
    return ToolFindings(
        items=(cause_item(), change_item("i1", "payment"), change_item("i2", "checkout")),
        window=WINDOW,
        looked_at=2,
    )


FACT = change_claim(change_item("i1", "payment"), tool_call_id="t1", claim_id="f-t1")
ASK = AskTools((WantedCall("t1", "look", {}),))
GIVE = GiveDraft(
    DiagnosisDraft(
        conclusion=(Cause("payment", FaultKind.CPU, ("k0", "k1")),),
        claims=(
            cause_claim(cause_item(), tool_call_id="t1"),
            change_claim(change_item("i1", "payment"), tool_call_id="t1"),
        ),
    ),
    (Assessment("t1", InformationGain.GAINED, (FACT,)),),
)


def scene(answer: Callable[[], ToolFindings] = make_findings, **parts: Any) -> Scene:
    """One call of one tool, then a draft that is supported."""
    given = {"policy": ScriptedPolicy(ASK, GIVE), "store": MemoryEvidenceStore(), **parts}
    return Scene(tools=[ScriptedTool(answer)], **given)


def raising(error: type[BaseException]) -> Callable[[], NoReturn]:
    """A function that raises it."""

    def raise_broken() -> NoReturn:
        raise error

    return raise_broken


def is_told_to_the_end(run: Scene, sink: MemorySink | None = None) -> None:
    """One termination, one RUN_FINISHED, last."""
    names = [event.name for event in (sink or run.sink).events()]
    assert (names.count(TraceName.RUN_ENDED), names.count(TraceName.RUN_FINISHED)) == (1, 1)
    assert names[-1] is TraceName.RUN_FINISHED


# ------------------------------------------------------------------ tools and sinks


@pytest.mark.parametrize("error", RAISED)
def test_whatever_a_tool_raises_the_diagnosis_ends_as_one_without_that_record(
    error: type[BaseException],
) -> None:
    """The record is an ERROR, the analyst sees it, and the run is not FAILED by it."""
    run = scene(raising(error))

    end = run.run()

    (record,) = end.snapshot.records
    assert (record.invocation, record.error_code) == (InvocationStatus.ERROR, ErrorCode.EXECUTION_FAILED)
    assert run.ctx.lifecycle.state is S.SUCCESS
    assert run.ctx.budget.open_calls().waiting == run.ctx.budget.open_calls().in_flight == ()
    is_told_to_the_end(run)


class BadSink:
    """Raises on every event."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def emit(self, event: TraceEvent) -> None:
        """Raise."""
        raise self.error


@pytest.mark.parametrize("error", RAISED)
def test_whatever_a_sink_raises_the_diagnosis_succeeds(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sink that is always broken loses its own events, and no other sink loses any."""
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    kept = MemorySink()
    run = scene(sink=FanOutSink((BadSink(error), kept)))

    end = run.run()

    (record,) = end.snapshot.records
    assert (end.outcome, run.ctx.lifecycle.state) == (Out.SUCCESS, S.SUCCESS)
    assert record.invocation is InvocationStatus.READY
    is_told_to_the_end(run, kept)


@pytest.mark.parametrize("error", [ValueError, *RAISED])
def test_whatever_the_hooks_of_a_host_raise_the_diagnosis_succeeds(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sink and a callback are broken, and so is every hook that could report it; nothing else is."""

    def fail(*_: object) -> NoReturn:
        raise error

    for place, hook in ((sys, "excepthook"), (sys, "unraisablehook"), (threading, "excepthook")):
        monkeypatch.setattr(place, hook, fail)
    kept = MemorySink()
    run = scene(sink=FanOutSink((BadSink(error), kept)))

    def prepare() -> None:
        run.ctx.cancellation.register(fail)
        asyncio.get_running_loop().set_exception_handler(fail)

    run.faults.actions = {"step 1": prepare}
    before = set(threading.enumerate())

    end = run.run()
    for thread in set(threading.enumerate()) - before:
        thread.join(20)

    assert (end.outcome, run.ctx.lifecycle.state) == (Out.SUCCESS, S.SUCCESS)
    is_told_to_the_end(run, kept)


def test_a_tool_that_returns_after_the_end_writes_nothing_behind_it() -> None:
    """LATE_RESULT_REFUSED belongs to a run that goes on; behind RUN_FINISHED every sink is silent."""
    run = scene()
    run.faults.actions = {"tool t1": run.cancel}
    before = set(threading.enumerate())

    end = run.run()
    for thread in set(threading.enumerate()) - before:
        thread.join(20)

    assert end.outcome is Out.CANCELLED
    assert TraceName.TOOL_ABANDONED in run.names()
    is_told_to_the_end(run)


# ------------------------------------------------------------------ players


@dataclass
class BadPlayer:
    """A policy and a judge that does something of its own before it answers."""

    act: Callable[[RunContext], object]
    at: str
    policy: ScriptedPolicy = field(default_factory=lambda: ScriptedPolicy(ASK, GIVE))
    scripted: ScriptedJudge = field(default_factory=ScriptedJudge)

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """The next answer."""
        if self.at == f"step {len(self.policy.views) + 1}":
            self.act(ctx)
        return await self.policy.decide(ctx, view)

    async def judge(self, ctx: RunContext, case: SemanticCase) -> tuple[Judgement, TokenUsage]:
        """The verdict."""
        if self.at == "judge":
            self.act(ctx)
        return await self.scripted.judge(ctx, case)


PLACES = ["step 1", "step 2", "judge"]


@pytest.mark.parametrize("at", PLACES)
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("host", ["asyncio.run", "a loop of its own"])
def test_an_interrupt_inside_a_player_leaves_when_the_run_is_traced(
    at: str, error: type[BaseException], host: str
) -> None:
    """It is raised to the host, whichever way that runs its loop, and everything is accounted for before."""

    def act(_: RunContext) -> NoReturn:
        raise error

    player = BadPlayer(act, at)
    run = scene(policy=player, judge=player)

    with pytest.raises(error):
        _run_in_host(host, run.play())

    assert run.ctx.lifecycle.state is S.FAILED
    assert all(record.invocation is not InvocationStatus.PROJECTING for record in _parts_in_store(run))
    assert run.ctx.budget.open_calls().waiting == run.ctx.budget.open_calls().in_flight == ()
    is_told_to_the_end(run)
    run.core.close()


def test_a_host_that_throws_its_coroutine_away_finds_the_run_traced_to_its_end() -> None:
    """A loop that is never run again closes what it held: nothing can be awaited, and the run still ends."""
    run = scene()

    async def main() -> None:
        work = run.play()
        work.send(None)  # to its first await point
        assert run.ctx.lifecycle.state is S.RUNNING
        work.close()

    asyncio.run(main())
    run.close()

    assert run.ctx.lifecycle.state is S.FAILED
    is_told_to_the_end(run)


def _parts_in_store(run: Scene) -> tuple[Any, ...]:
    return asyncio.run(run.store.of_run(run.ctx))


def _run_in_host(host: str, work: Coroutine[Any, Any, DiagnosisEnd]) -> DiagnosisEnd:
    if host == "asyncio.run":
        return asyncio.run(work)
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


@pytest.mark.parametrize("at", PLACES)
def test_a_player_that_ends_its_run_success_has_released_nothing(at: str) -> None:
    """Run state and outcome agree: SUCCESS with a fallback, whatever was prepared; no conclusion leaves."""

    def act(ctx: RunContext) -> None:
        ctx.lifecycle.finish(RunTermination(S.SUCCESS, None, run.clock.now_s()))

    player = BadPlayer(act, at)
    run = scene(policy=player, judge=player)

    end = run.run()

    assert (run.ctx.lifecycle.state, end.outcome) == (S.SUCCESS, Out.FALLBACK)
    assert (end.fallback, end.content.causes) == (FallbackType.INSUFFICIENT_EVIDENCE, ())
    assert run.sink.events()[-1].payload["outcome"] == "FALLBACK"
    is_told_to_the_end(run)


@pytest.mark.parametrize("at", PLACES)
@pytest.mark.parametrize("reason", list(CancellationReason))
def test_a_player_that_ends_its_run_for_a_reason_is_reported_as_that_end(
    at: str, reason: CancellationReason
) -> None:
    """The lifecycle keeps the first end, and the outcome agrees with it."""

    def act(ctx: RunContext) -> None:
        ctx.lifecycle.finish(RunTermination(state_for(reason), reason, run.clock.now_s()))

    player = BadPlayer(act, at)
    run = scene(policy=player, judge=player)

    end = run.run()

    assert run.ctx.lifecycle.state is state_for(reason)
    assert (
        end.outcome
        in {
            S.CANCELLED: {Out.CANCELLED},
            S.FAILED: {Out.FAILED},
            S.TIMED_OUT: {Out.FALLBACK, Out.FAILED},
            S.BUDGET_EXHAUSTED: {Out.FALLBACK, Out.FAILED},
        }[run.ctx.lifecycle.state]
    )
    assert end.content.causes == ()
    assert run.sink.events()[-1].payload["outcome"] == end.outcome.value
    is_told_to_the_end(run)
