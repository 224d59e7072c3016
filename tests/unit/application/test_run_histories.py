"""Random histories of whole runs: whoever is asked answers anything, and everything breaks at every boundary.

The machine plays whoever the run stands before: the policy, a tool's backend, the repairer, the judge. Around
them it cancels, lets the deadline come, and breaks the store. Each class below holds some of the invariants
of the lifecycle document, §16, after every single step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest
from hypothesis import Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.support.faults import AROUND, Faults, store_fails
from tests.support.scene import Scene
from tests.support.stage import Stage
from tests.support.statements import (
    FOUND,
    LIES,
    MENDS,
    WAYS_TO_ASSESS,
    assess,
    make_claims,
    must_not_leave,
)

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.application.diagnose import DiagnosisEnd
from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, FaultKind, Predicate
from diagnosis_harness.diagnosis.collection import CollectionThresholds, DiagnosisStopReason
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView, WantedCall
from diagnosis_harness.guards.verdict import Judgement, SemanticReason, SemanticVerdict
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.errors import FailureKind, LlmFailure, MalformedAnswer, ToolFailure
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.testing.evidence import WINDOW
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import limits
from diagnosis_harness.tools.evidence import EvidenceStatus, InvocationStatus
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.spec import ToolFindings
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName

NOTHING = ToolFindings((), WINDOW, 2)
pytestmark = pytest.mark.proof

UNAVAILABLE = LlmFailure("away", kind=FailureKind.UNAVAILABLE)
SATURATED = {DiagnosisStopReason.INFORMATION_SATURATED, DiagnosisStopReason.PROGRESS_PROTOCOL_VIOLATED}
CHAIN = {
    TraceName.EVIDENCE_REPAIR,
    TraceName.EVIDENCE_GUARD_RECHECK,
    TraceName.SEMANTIC_GUARD_ATTEMPT,
    TraceName.SEMANTIC_GUARD_DECISION,
}


class AnyCall(Faults):
    """Faults of the next operation of the store, whichever call it is for, and after events by their name."""

    def at(self, place: str) -> str | None:
        """Only the kind of an operation counts."""
        return super().at(place if place.startswith("event") else place.partition(" ")[0])


YES = Judgement(SemanticVerdict.SUPPORTED)
NO = Judgement(SemanticVerdict.UNSUPPORTED, (SemanticReason.WEAK,))
CALLS = st.tuples(st.integers(2, 12), st.integers(1, 6))
"""Limits of llm calls and of tool calls."""
THRESHOLDS = st.builds(CollectionThresholds, st.integers(1, 4), st.integers(1, 3))
TOOLS = ["list_changes", "list_changes", "restart"]
WANTED = st.lists(
    st.tuples(st.sampled_from(TOOLS), st.sampled_from(["payment", "cart"]), st.booleans()),
    min_size=1,
    max_size=3,
)
LYING = st.frozensets(st.sampled_from(LIES), max_size=3)
ASSESSING = st.sampled_from(["gained", *WAYS_TO_ASSESS])
# ------------------------------------------------------------------ the machine


class RunHistories(RuleBasedStateMachine):
    """One run after another over one store; the machine answers for everybody."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.store, self.ids, self.workers = MemoryEvidenceStore(), CountingIds(), WorkerPool(threads_max=2)
        self.asked_ids = 0
        self.stages: list[Stage] = []

    @initialize(calls=CALLS, run_bytes=st.sampled_from([500, 1_500, 10_000]), thresholds=THRESHOLDS)
    def begin(self, calls: tuple[int, int], run_bytes: int, thresholds: CollectionThresholds) -> None:
        """A run with limits of its own."""
        self.stage = Stage(self.loop)
        self.stages.append(self.stage)
        self.scene = Scene(
            policy=self.stage,
            store=self.store,
            tools=[self.stage],
            judge=self.stage,
            repairer=self.stage,
            limits=limits(llm_calls=calls[0], tool_calls=calls[1], run_bytes=run_bytes),
            thresholds=thresholds,
            faults=AnyCall(),
            ids=self.ids,
            workers=self.workers,
        )
        self.task = self.loop.create_task(self.scene.play())
        self.task.add_done_callback(lambda _: self.stage.moved.set())
        self.goes_on()

    def goes_on(self) -> None:
        """Until somebody is asked, or the run is over."""
        while not self.task.done() and not self.stage.asked:
            self.loop.run_until_complete(self._move())

    async def _move(self) -> None:
        await self.stage.moved.wait()
        self.stage.moved.clear()

    def answers(self, answer: object) -> None:
        """Whoever is asked answers, and the run goes on."""
        self.stage.answers(answer)
        self.goes_on()

    def stands_before(self, who: str) -> bool:
        """Whether that one is asked now."""
        return self.stage.asked == who

    @property
    def seen(self) -> PolicyView:
        """What the policy sees."""
        assert self.stage.view is not None
        return self.stage.view

    # ---------------------------------------------------------------- who answers what

    @precondition(lambda self: self.stands_before("policy"))
    @rule(calls=WANTED, how=ASSESSING)
    def policy_asks(self, calls: list[tuple[str, str, bool]], how: str) -> None:
        """New calls, repeats, unknown tools, ids that were used before."""
        wanted = []
        for tool, entity, is_new in calls:
            self.asked_ids += is_new
            wanted.append(WantedCall(f"t{self.asked_ids}", tool, {"entity": entity}))
        self.answers(AskTools(tuple(wanted), assess(self.seen, how)))

    @precondition(lambda self: self.stands_before("policy") and len(self.seen.records) < 3)
    @rule(entity=st.sampled_from(["payment", "cart", "mail"]))
    def policy_looks(self, entity: str) -> None:
        """One new call, and everything soundly assessed."""
        self.asked_ids += 1
        call = WantedCall(f"t{self.asked_ids}", "list_changes", {"entity": entity})
        self.answers(AskTools((call,), assess(self.seen, "gained")))

    @precondition(lambda self: self.stands_before("policy") and bool(self.seen.records))
    @rule(concludes=st.sampled_from([True, True, False]))
    def policy_tells_the_truth(self, concludes: bool) -> None:
        """All that it knows, and nothing else."""
        self.policy_gives(concludes=concludes, lies=frozenset({"absence"}), misses=False, how="gained")

    @precondition(lambda self: self.stands_before("policy") and bool(self.seen.records))
    @rule(concludes=st.sampled_from([True, True, False]), lies=LYING, misses=st.booleans(), how=ASSESSING)
    def policy_gives(self, concludes: bool, lies: frozenset[str], misses: bool, how: str) -> None:
        """A draft, true and false."""
        claims = make_claims(self.seen, lies)
        cause = Cause("payment", FaultKind.CPU, ("cause", "change"))
        draft = DiagnosisDraft(
            conclusion=(cause,) if concludes else (),
            claims=claims,
            missing_info=(MissingInfo.TIME,) if misses else (),
        )
        self.answers(GiveDraft(draft, assess(self.seen, how)))

    @precondition(lambda self: self.stands_before("policy") and bool(self.seen.records))
    @rule(how=st.sampled_from([GiveDraft(None), AskTools(()), MalformedAnswer("prose"), UNAVAILABLE]))
    def policy_breaks(self, how: PolicyAnswer | Exception) -> None:
        """No draft, nothing, prose, or a language model that is away."""
        self.answers(how)

    @precondition(lambda self: self.stands_before("tool"))
    @rule(found=st.sampled_from([FOUND, FOUND, FOUND, NOTHING, ToolFailure("away"), KeyError("a bug")]))
    def tool_answers(self, found: ToolFindings | Exception) -> None:
        """Something, nothing, a failure, a crash."""
        self.answers(found)

    @precondition(lambda self: self.stands_before("tool"))
    @rule()
    def tool_finds(self) -> None:
        """What it looks for."""
        self.answers(FOUND)

    @precondition(lambda self: self.stands_before("tool"))
    @rule()
    def tool_outlives_its_limit(self) -> None:
        """The wait ends, the thread goes on."""
        self.happens(lambda: self.scene.clock.advance(30.0))

    @precondition(lambda self: any(stage.stuck for stage in self.stages))
    @rule()
    def late_result(self) -> None:
        """A tool that was abandoned returns evidence."""
        for stage in self.stages:
            while stage.stuck:
                stage.stuck.pop().put(FOUND)

    @precondition(lambda self: self.stands_before("repair"))
    @rule(how=st.sampled_from([*MENDS, "fails"]))
    def repairer_answers(self, how: str) -> None:
        """Leaves it, drops what is false, writes something new, or is away."""
        self.answers(MENDS.get(how, UNAVAILABLE))

    @precondition(lambda self: self.stands_before("judge"))
    @rule(verdict=st.sampled_from([YES, YES, NO, UNAVAILABLE, MalformedAnswer("prose")]))
    def judge_answers(self, verdict: Judgement | Exception) -> None:
        """Yes, no, away, or prose."""
        self.answers(verdict)

    # ---------------------------------------------------------------- what happens around it

    def happens(self, event: Callable[[], object]) -> None:
        """Something that may end the wait for whoever is asked; a tool's thread stays where it is."""
        before = self.stage.slot
        event()
        self.stage.moved.clear()
        for _ in range(3):  # whoever was asked hears of it in these turns of the loop
            self.loop.run_until_complete(asyncio.sleep(0))  # noqa: TID251 - turns of the loop, no time
        if self.stage.slot is before and (
            self.scene.ctx.lifecycle.state is not RunState.RUNNING or self.stands_before("tool")
        ):
            self.stage.leaves()
        self.goes_on()

    @precondition(lambda self: not self.task.done() and not self.scene.faults.actions)
    @rule(what=st.sampled_from(AROUND))
    def something_breaks(self, what: tuple[str, str]) -> None:
        """The run ends here and now, or right after an event, or the store breaks at its next operation."""
        how, place = what
        ending = {"cancel": self.scene.cancel, "deadline": self.scene.deadline}
        if how in ending and place == "now":
            self.happens(ending[how])
        else:
            self.scene.faults.actions = {
                place: ending.get(how) or (store_fails if how == "fails" else lambda: how)
            }

    @precondition(lambda self: self.task.done())
    @rule(calls=CALLS, thresholds=THRESHOLDS)
    def another_run(self, calls: tuple[int, int], thresholds: CollectionThresholds) -> None:
        """The next run over the same store."""
        self.begin(calls, 10_000, thresholds)

    def teardown(self) -> None:
        """End what still runs, and look once more."""
        if hasattr(self, "task"):
            if not self.task.done():
                self.happens(self.scene.cancel)
                self.holds()
            self.late_result()
        self.workers.close()
        self.loop.close()

    # ---------------------------------------------------------------- what must hold

    @property
    def end(self) -> DiagnosisEnd | None:
        """How the run ended, once it has; a run never raises."""
        return self.task.result() if self.task.done() else None

    @property
    def events(self) -> tuple[TraceEvent, ...]:
        """The trace of the run."""
        return self.scene.events()

    def at(self, name: TraceName, status: TraceEventStatus | None = None) -> list[int]:
        """Where events of this name stand."""
        return [e.seq for e in self.events if e.name is name and status in (None, e.status)]

    @invariant()
    def holds(self) -> None:
        """Overridden: what the class is about."""


@seed(1)
class RecordHistories(RunHistories):
    """IV-03, IV-04, IV-05."""

    def records_in_store(self) -> tuple[EvidenceRecord, ...]:
        """What the store holds of the run."""
        return self.loop.run_until_complete(self.store.of_run(self.scene.ctx))

    @invariant()
    def holds(self) -> None:
        """Records are legal and what is said cites them."""
        kept = {record.tool_call_id: record for record in self.records_in_store()}
        for record in kept.values():
            if record.invocation is InvocationStatus.READY:
                found = EvidenceStatus.EVIDENCE_FOUND if record.items else EvidenceStatus.NO_EVIDENCE
                assert record.evidence is found
        end = self.end
        if end is None:
            return
        assert all(record.invocation is not InvocationStatus.PROJECTING for record in kept.values())
        for record in end.snapshot.records:
            assert record.run_id == self.scene.ctx.run_id
            assert record.invocation is InvocationStatus.ERROR or kept[record.tool_call_id] == record
        for claim in end.content.claims:
            assert not must_not_leave(claim)
            for ref in claim.refs:
                self.may_be_cited(claim, ref, kept)

    def may_be_cited(self, claim: Claim, ref: EvidenceRef, kept: Mapping[str, EvidenceRecord]) -> None:
        """Only READY, only of this run; nothing found supports nothing but an absence, in its own scope."""
        record = kept[ref.tool_call_id]
        assert (record.run_id, record.invocation) == (self.scene.ctx.run_id, InvocationStatus.READY)
        if record.evidence is EvidenceStatus.NO_EVIDENCE:
            assert claim.predicate is Predicate.ABSENT
            assert f'"entity":"{claim.entity}"' in record.scope
        else:
            assert claim.predicate is not Predicate.ABSENT


@seed(2)
class CollectionHistories(RunHistories):
    """IV-06."""

    @invariant()
    def holds(self) -> None:
        """After SATURATED no tool starts, and a later request is a controlled stop."""
        stops = [
            e for e in self.events if e.name is TraceName.COLLECTION_STOP and e.payload["reason"] in SATURATED
        ]
        assert len(stops) <= 1
        if stops:
            begun = self.at(TraceName.TOOL_INVOCATION, TraceEventStatus.STARTED)
            assert all(seq < stops[0].seq for seq in begun)


@seed(3)
class ReleaseHistories(RunHistories):
    """IV-07, IV-08, IV-09."""

    @invariant()
    def holds(self) -> None:
        """Everything published went through release, and no outcome is derived from a state."""
        end = self.end
        if end is None:
            assert not self.at(TraceName.RELEASE_DECISION)
            return
        state = self.scene.ctx.lifecycle.state
        (decided,) = (e for e in self.events if e.name is TraceName.RELEASE_DECISION)
        assert (decided.payload["outcome"], decided.payload["fallback"]) == (end.outcome, end.fallback)
        self.stop_reason_decides_nothing(end)
        self.only_a_conclusion_runs_the_chain(end)
        if end.outcome is ReleaseOutcome.FALLBACK:
            assert state in (RunState.SUCCESS, RunState.BUDGET_EXHAUSTED, RunState.TIMED_OUT)
        assert (end.outcome is ReleaseOutcome.CANCELLED) == (state is RunState.CANCELLED)
        if state is RunState.FAILED or end.outcome is ReleaseOutcome.SUCCESS:
            assert end.outcome.value == state.value
        assert (end.stop_reason is DiagnosisStopReason.BUDGET_LIMIT_REACHED) == (
            state is RunState.BUDGET_EXHAUSTED
        )

    def stop_reason_decides_nothing(self, end: DiagnosisEnd) -> None:
        """With one or without: facts are shown as a fallback, none is a failure, and a lie never leaves."""
        assert not [claim for claim in end.content.claims if must_not_leave(claim)]
        if end.outcome is ReleaseOutcome.FALLBACK and end.fallback == "INSUFFICIENT_EVIDENCE":
            assert end.content.claims

    def only_a_conclusion_runs_the_chain(self, end: DiagnosisEnd) -> None:
        """Repair, recheck and judge only for a draft that concludes; a success has passed both guards."""
        concluded = any(draft.conclusion for draft in self.stage.drafts)
        if not concluded:
            assert not [e for e in self.events if e.name in CHAIN]
        if end.outcome is ReleaseOutcome.SUCCESS:
            passed = [
                *self.at(TraceName.EVIDENCE_GUARD_INITIAL, TraceEventStatus.SUCCEEDED),
                *self.at(TraceName.EVIDENCE_GUARD_RECHECK, TraceEventStatus.SUCCEEDED),
            ]
            assert len(passed) == 1
            judged = self.at(TraceName.SEMANTIC_GUARD_DECISION, TraceEventStatus.SUCCEEDED)
            assert passed < judged
            assert concluded


# Whoever looks for the shortest history that breaks something runs with --proof: shrinking takes minutes.
PHASES = [phase for phase in Phase if phase is not Phase.shrink or settings().max_examples >= 1000]
FAR = settings(max_examples=settings().max_examples * 6 // 10, stateful_step_count=30, phases=PHASES)
TestRecordHistories = RecordHistories.TestCase
TestCollectionHistories = CollectionHistories.TestCase
TestReleaseHistories = ReleaseHistories.TestCase
TestRecordHistories.settings = TestCollectionHistories.settings = TestReleaseHistories.settings = FAR
