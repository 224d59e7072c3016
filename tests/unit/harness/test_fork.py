"""A fork has a copy of the run's memory and none of its threads: the run stays with its parent."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable

import pytest

from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.lease import OpenCall, TokenUsage
from diagnosis_harness.harness.lifecycle import RunState
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.kernel.errors import ContractViolation, RunForked
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase
from diagnosis_harness.trace.sink import MemorySink

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="program: this system has no fork")

CHILD_S = 20
"""A child that hangs is ended by its own alarm, and its exit code says so."""


def in_child(work: Callable[[], None]) -> str:
    """Run `work` in a fork; what it raised, or nothing."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # 3.12 warns of a fork beside threads: that is the case here
        child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(CHILD_S)
        output = b""
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - told to the parent, where it fails the test
            output = f"{type(error).__name__}: {error}".encode()
        os.write(writer, output)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        output = pipe.read()
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0, "the child hung"
    return output.decode()


class Parent:
    """A run of this process, with a resource and a lease."""

    def __init__(self) -> None:
        self.sink = MemorySink()
        self.core = DiagnosisHarnessCore(clock=SystemClock(), ids=CountingIds(), sink=self.sink)
        self.ctx = self.core.start_run(session_id="s", limits=AMPLE, timeout_s=3600)
        self.notified: list[str] = []
        self.ctx.cancellation.register(lambda: self.notified.append("resource"))
        self.lease = self.core.start_tool_call(self.ctx, "look", "t1")
        self.llm = self.core.start_llm_call(self.ctx)


GATES: dict[str, Callable[[DiagnosisHarnessCore, RunContext, Parent], object]] = {
    "check_active": lambda core, ctx, _: core.check_active(ctx),
    "start_llm_call": lambda core, ctx, _: core.start_llm_call(ctx),
    "start_tool_call": lambda core, ctx, _: core.start_tool_call(ctx, "look", "t2"),
    "begin_tool_call": lambda core, ctx, parent: core.begin_tool_call(ctx, parent.lease),
    "admit_tool_calls": lambda core, ctx, _: core.admit_tool_calls(ctx, [("look", "t3")]),
    "reserve_bytes": lambda core, ctx, _: core.reserve_bytes(ctx, 1),
}


def _pass(gate: str, parent: Parent) -> None:
    GATES[gate](parent.core, parent.ctx, parent)


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("is_locked", [False, True], ids=["free", "is_locked"])
def test_every_gate_refuses_in_a_fork(gate: str, is_locked: bool) -> None:
    """With an error that says why; also if another thread held the run's lock, which is never released."""
    parent = Parent()
    inside, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with parent.ctx.lifecycle.lock:
            inside.set()
            go_on.wait(CHILD_S)

    holder = threading.Thread(target=hold)
    if is_locked:
        holder.start()
        assert inside.wait(CHILD_S)
    output = in_child(lambda: _pass(gate, parent))
    go_on.set()
    if is_locked:
        holder.join(CHILD_S)

    assert output.startswith("RunForked: the run belongs to the process that opened it")
    assert parent.ctx.lifecycle.state is RunState.RUNNING
    parent.core.close()


def test_in_a_fork_a_run_has_no_second_end() -> None:
    """A cancel there changes nothing, notifies no resource and writes no event; the parent ends it once."""
    parent = Parent()
    core, ctx = parent.core, parent.ctx

    def child() -> None:
        answer = core.cancel(ctx, CancellationReason.USER_REQUESTED)
        assert not answer.changed, "it had ended"
        assert answer.notified == 0, "no resource of the parent's is told"
        assert not core.complete_success(ctx), "no success"
        core.settle_llm_call(ctx, parent.llm, TokenUsage(1, 1))
        core.return_tool_call(ctx, parent.lease)
        core.emit(ctx, TraceName.STATUS, TracePhase.RUN, TraceEventStatus.SUCCEEDED)
        assert ctx.lifecycle.state is RunState.FAILED, "ended here"
        assert isinstance(ctx.lifecycle.abort_error(), RunForked), "and says why"
        assert parent.notified == [], "nobody is told"
        assert parent.sink.events() == (), "nothing is written"

    assert in_child(child) == ""
    assert parent.core.complete_success(ctx)
    assert [event.name for event in parent.sink.events()] == [TraceName.RUN_ENDED]
    assert ctx.budget.open_calls().waiting == (OpenCall("look", "t1"),)
    core.close()


def test_a_run_that_had_ended_keeps_its_end_in_a_fork() -> None:
    """What the parent knew before the fork is true in the child as well."""
    parent = Parent()
    parent.core.complete_success(parent.ctx)

    def child() -> None:
        assert parent.ctx.lifecycle.state is RunState.SUCCESS, "as before"

    assert in_child(child) == ""
    parent.core.close()


def test_a_fork_makes_a_core_of_its_own() -> None:
    """The old core and clock say so at once, since no thread serves them there; new ones work."""
    parent = Parent()

    def child() -> None:
        with pytest.raises(ContractViolation, match="a core serves the process that made it"):
            parent.core.start_run(session_id="s", limits=AMPLE, timeout_s=1)
        with pytest.raises(ContractViolation, match="a clock serves the process that made it"):
            parent.core.clock.call_at(0.0, lambda: None)
        with pytest.raises(ContractViolation, match="a clock serves the process that made it"):
            parent.core.clock.hand_off(lambda: None)
        parent.core.close()
        ended = threading.Event()
        core = DiagnosisHarnessCore(clock=SystemClock(), ids=CountingIds())
        ctx = core.start_run(session_id="s", limits=AMPLE, timeout_s=0.01)
        ctx.cancellation.register(ended.set)
        assert ended.wait(CHILD_S), "the deadline of a run of its own comes"
        assert ctx.lifecycle.state is RunState.TIMED_OUT

    assert in_child(child) == ""
    parent.core.close()
