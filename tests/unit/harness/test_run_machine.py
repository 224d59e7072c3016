"""Random histories of a run against a naive twin: whatever happens, a run has one termination (IV-01)."""

from __future__ import annotations

from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    MultipleResults,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
)

from diagnosis_harness.harness.budget import RunBudgetLimits, TokenUsage
from diagnosis_harness.harness.cancellation import CancellationReason, state_for
from diagnosis_harness.harness.lease import LeasePhase, LlmLease, ToolLease
from diagnosis_harness.harness.lifecycle import RunState, RunTermination
from diagnosis_harness.kernel.errors import RunAborted
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.trace.event import TraceName

LIMITS = RunBudgetLimits(
    llm_calls=6,
    tool_calls=6,
    tool_calls_per_tool=4,
    input_tokens=60,
    output_tokens=40,
    total_tokens=80,
    run_bytes=50,
)
SOME = st.integers(0, 15)
TOOLS = st.sampled_from(["metrics", "logs"])

End = tuple[RunState, CancellationReason | None, float]


class RunMachine(RuleBasedStateMachine):
    """One run, everything that can be done to it, and what a naive reading of the rules says must follow."""

    llm_leases: Bundle[LlmLease] = Bundle("llm_leases")
    tool_leases: Bundle[ToolLease] = Bundle("tool_leases")
    counters: ClassVar = ("input_tokens", "output_tokens", "total_tokens")

    def __init__(self) -> None:
        super().__init__()
        self.rig = Rig()
        self.ctx = self.rig.run(timeout_s=100, limits=LIMITS)
        self.end: End | None = None
        self.termination: RunTermination | None = None
        self.used = dict.fromkeys(("llm_calls", "run_bytes", *self.counters), 0)
        self.reserved = dict.fromkeys(self.counters, 0)
        self.tools = {"metrics": 0, "logs": 0}
        self.begun_at_end: int | None = None
        self.notified = self.registered = 0

    # ---------------------------------------------------------------- the naive twin

    def ends(self, reason: CancellationReason | None) -> bool:
        """The twin ends for a reason (None: success), unless it has ended."""
        if self.end is not None:
            return False
        state = RunState.SUCCESS if reason is None else state_for(reason)
        self.end = (state, reason, self.rig.clock.now_s())
        self.begun_at_end = self.ctx.budget.open_calls().begun
        return True

    def can_start(self, fits: bool) -> bool:
        """Whether the twin grants a start; a limit that says no ends it."""
        if self.end is None and not fits:
            self.ends(CancellationReason.BUDGET_EXHAUSTED)
            return False
        return self.end is None

    # ---------------------------------------------------------------- what can be done

    @rule(seconds=st.sampled_from([0.0, 1.0, 20.0, 100.0]))
    def time_passes(self, seconds: float) -> None:
        """The clock ends the run at the deadline exactly, also in the middle of a longer step."""
        deadline = self.ctx.deadline
        comes = self.end is None and self.rig.clock.now_s() + seconds >= deadline
        begun = self.ctx.budget.open_calls().begun
        self.rig.clock.advance(seconds)
        if comes:
            self.end = (RunState.TIMED_OUT, CancellationReason.DEADLINE_EXCEEDED, deadline)
            self.begun_at_end = begun

    @rule(reason=st.sampled_from(CancellationReason))
    def cancel(self, reason: CancellationReason) -> None:
        """For any reason."""
        assert self.rig.core.cancel(self.ctx, reason).changed is self.ends(reason)

    @rule()
    def succeed(self) -> None:
        """The application has its result."""
        assert self.rig.core.complete_success(self.ctx) is self.ends(None)

    @rule()
    def fail(self) -> None:
        """An exception handler reports."""
        changed = self.rig.core.complete_failure(self.ctx, "broke")
        assert changed is self.ends(CancellationReason.INTERNAL_FAILURE)

    @rule()
    def register(self) -> None:
        """Register a resource that wants the cancellation."""
        self.registered += 1
        self.ctx.cancellation.register(self._tell)

    def _tell(self) -> None:
        self.notified += 1
        assert self.ctx.lifecycle.state.is_terminal

    @rule()
    def check(self) -> None:
        """Some boundary asks."""
        assert self._is_refused(lambda: self.rig.core.check_active(self.ctx)) is (self.end is not None)

    @rule(target=llm_leases, input_tokens=SOME, output_tokens=SOME)
    def start_llm(self, input_tokens: int, output_tokens: int) -> MultipleResults[LlmLease]:
        """One attempt, with its reservation."""
        asked = dict(
            zip(self.counters, (input_tokens, output_tokens, input_tokens + output_tokens), strict=True)
        )
        fits = self.used["llm_calls"] < LIMITS.llm_calls and all(
            self.used[name] + self.reserved[name] + asked[name] <= getattr(LIMITS, name)
            for name in self.counters
        )
        started = self.can_start(fits)
        lease: list[LlmLease] = []
        refused = self._is_refused(
            lambda: lease.append(
                self.rig.core.start_llm_call(
                    self.ctx, reserve_input_tokens=input_tokens, reserve_output_tokens=output_tokens
                )
            )
        )
        assert refused is not started
        if not started:
            return multiple()
        self.used["llm_calls"] += 1
        for name in self.counters:
            self.reserved[name] += asked[name]
        return multiple(lease[0])

    @rule(lease=consumes(llm_leases), usage=st.none() | st.tuples(SOME, SOME))
    def settle_llm(self, lease: LlmLease, usage: tuple[int, int] | None) -> None:
        """It is over; usage above a limit ends the run."""
        reserved = lease.reserved
        reported = None if usage is None else TokenUsage(*usage)
        charged = reported or (reserved if reserved.total_tokens else TokenUsage(1, 0))
        for name in self.counters:
            self.reserved[name] -= getattr(reserved, name)
            self.used[name] += getattr(charged, name)
        if any(self.used[name] > getattr(LIMITS, name) for name in self.counters):
            self.ends(CancellationReason.BUDGET_EXHAUSTED)
        self.rig.core.settle_llm_call(self.ctx, lease, reported)

    @rule(target=tool_leases, name=TOOLS)
    def start_tool(self, name: str) -> MultipleResults[ToolLease]:
        """One tool call is reserved."""
        fits = sum(self.tools.values()) < LIMITS.tool_calls and self.tools[name] < LIMITS.tool_calls_per_tool
        started = self.can_start(fits)
        lease: list[ToolLease] = []
        refused = self._is_refused(
            lambda: lease.append(self.rig.core.start_tool_call(self.ctx, name, "call"))
        )
        assert refused is not started
        if not started:
            return multiple()
        self.tools[name] += 1
        return multiple(lease[0])

    @rule(lease=tool_leases)
    def begin_tool(self, lease: ToolLease) -> None:
        """It begins, unless the run has ended."""
        if lease.phase is LeasePhase.RESERVED:
            refused = self._is_refused(lambda: self.rig.core.begin_tool_call(self.ctx, lease))
            assert refused is (self.end is not None)

    @rule(lease=tool_leases)
    def return_tool(self, lease: ToolLease) -> None:
        """It goes back, if it has not begun."""
        goes_back = lease.phase is LeasePhase.RESERVED
        assert self.rig.core.return_tool_call(self.ctx, lease) is goes_back
        self.tools[lease.tool_name] -= goes_back

    @rule(lease=tool_leases)
    def settle_tool(self, lease: ToolLease) -> None:
        """It is over."""
        if lease.phase is not LeasePhase.RESERVED:
            self.rig.core.settle_tool_call(self.ctx, lease)

    @rule(size_bytes=st.integers(1, 20))
    def reserve_bytes(self, size_bytes: int) -> None:
        """Evidence wants to be kept."""
        granted = self.can_start(self.used["run_bytes"] + size_bytes <= LIMITS.run_bytes)
        assert self._is_refused(lambda: self.rig.core.reserve_bytes(self.ctx, size_bytes)) is not granted
        self.used["run_bytes"] += size_bytes if granted else 0

    @staticmethod
    def _is_refused(act: object) -> bool:
        assert callable(act)
        try:
            act()
        except RunAborted:
            return True
        return False

    # ---------------------------------------------------------------- what always holds

    @invariant()
    def the_run_has_the_one_termination_of_its_first_cause(self) -> None:
        """State, reason and time of the twin's first cause; the same object for ever; reported once."""
        termination = self.ctx.lifecycle.termination
        if self.termination is not None:
            assert termination is self.termination
        self.termination = termination
        ended = None if termination is None else (termination.state, termination.reason, termination.at_s)
        assert ended == self.end
        assert len(self.rig.sink.events_named(TraceName.RUN_ENDED)) == (self.end is not None)

    @invariant()
    def usage_is_what_the_twin_counted(self) -> None:
        """Every counter, and total and per-tool agree."""
        usage = self.ctx.budget.usage()
        assert {name: getattr(usage, name) for name in self.used} == self.used
        assert dict(usage.tool_calls_by_tool) == {name: n for name, n in self.tools.items() if n}
        assert usage.tool_calls == sum(self.tools.values())

    @invariant()
    def every_resource_is_told_once_of_a_cancellation(self) -> None:
        """Also the late ones; and none before."""
        assert self.notified == (self.registered if self.ctx.cancellation.is_cancelled else 0)

    @invariant()
    def nothing_begins_after_the_end(self) -> None:
        """The count of begun calls does not change."""
        if self.begun_at_end is not None:
            assert self.ctx.budget.open_calls().begun == self.begun_at_end


TestRunMachine = RunMachine.TestCase
