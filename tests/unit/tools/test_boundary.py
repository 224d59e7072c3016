"""The tool boundary: order of refusal, one record a call, nothing late, nothing lost."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.diagnosis.agent import DiagnosisAgent, DiagnosisTask
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyView, WantedCall
from diagnosis_harness.harness.budget import RunBudgetLimits
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import EmptyDraft, FailureKind, StoreFailure, ToolFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.evidence import change_item
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
from diagnosis_harness.testing.scripted_tool import ENTITY_ARG, ScriptedTool, no_findings, some_findings
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import BoundarySettings, ToolBoundary, ToolBoundaryResult
from diagnosis_harness.tools.evidence import EvidenceStatus, InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord
from diagnosis_harness.tools.preflight import RefusalCode
from diagnosis_harness.tools.spec import ProjectionBounds, ToolFindings, ToolRequest, ToolSpec
from diagnosis_harness.tools.stored import read_stored
from diagnosis_harness.trace.event import TraceName
from diagnosis_harness.trace.sink import MemorySink

LIMITS = RunBudgetLimits(
    llm_calls=50,
    tool_calls=20,
    tool_calls_per_tool=20,
    input_tokens=10**6,
    output_tokens=10**6,
    total_tokens=10**6,
    run_bytes=10**6,
)


@dataclass
class House:
    """One run with one boundary, all parts at hand."""

    tool: ScriptedTool = field(default_factory=ScriptedTool)
    limits: RunBudgetLimits = LIMITS
    store: MemoryEvidenceStore = field(default_factory=MemoryEvidenceStore)
    grants: dict[str, frozenset[str]] = field(default_factory=lambda: {"local": frozenset({"*"})})
    clock: ManualClock = field(default_factory=ManualClock)
    sink: MemorySink = field(default_factory=MemorySink)
    parallel: int = 4

    def __post_init__(self) -> None:
        self.core = DiagnosisHarnessCore(clock=self.clock, ids=CountingIds(), sink=self.sink)
        self.ctx = self.core.start_run(session_id="s1", timeout_s=60, limits=self.limits)
        self.boundary = ToolBoundary(
            self.core,
            tools=[self.tool],
            store=self.store,
            access=ScopeAccess(self.grants),
            keys=ToolCallKeyFactory("evidence"),
            settings=BoundarySettings(parallel=self.parallel),
        )

    def ask(self, *requests: ToolRequest) -> tuple[ToolBoundaryResult, ...]:
        """One batch, in an event loop of its own."""
        return asyncio.run(self.boundary.invoke(self.ctx, requests))

    def records_in_store(self) -> tuple[EvidenceRecord, ...]:
        """What the store holds of the run."""
        return asyncio.run(self.store.of_run(self.ctx))


def request(
    call_id: str = "t1",
    *,
    tool: str = "look",
    arguments: dict[str, JsonValue] | None = None,
    caller: str = "local",
) -> ToolRequest:
    """A wish."""
    return ToolRequest(call_id, tool, arguments or {}, caller)


def test_a_call_leaves_one_ready_record_that_the_store_holds() -> None:
    """Key, scope, digest, items; the same value comes back from the store."""
    house = House()
    (result,) = house.ask(request(arguments={"entity": "cart"}))
    record = result.record
    assert record is not None
    assert (record.invocation, record.evidence) == (InvocationStatus.READY, EvidenceStatus.EVIDENCE_FOUND)
    assert (record.key, record.scope) == ("evidence:run-1:t1", '{"entity":"cart"}')
    assert house.records_in_store() == (record,)
    assert house.ctx.budget.usage().run_bytes == record.size_bytes


def test_the_run_goes_on_with_what_the_stored_bytes_say() -> None:
    """A store of bytes returns the same record: finer times than it can represent do not occur."""
    fine = TimeWindow(1_700_000_000.000_123, 1_700_000_060.999_876)

    def make_findings() -> ToolFindings:
        return ToolFindings((replace(change_item(), window=fine, onset_s=fine.start_s),), fine, 1)

    (result,) = House(tool=ScriptedTool(make_findings)).ask(request())

    assert result.record is not None
    assert result.record.projection is not None
    assert result.record.projection == read_stored(result.record.projection.stored).projection


def test_nothing_found_is_ready_and_no_error() -> None:
    """READY with NO_EVIDENCE."""
    (result,) = House(tool=ScriptedTool(no_findings)).ask(request())
    assert result.record is not None
    assert result.status is EvidenceStatus.NO_EVIDENCE


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        (request(" "), RefusalCode.UNSAFE_TOOL_CALL_ID),
        (request("a:b"), RefusalCode.UNSAFE_TOOL_CALL_ID),
        (request(tool="rm"), RefusalCode.UNKNOWN_TOOL),
        (request(caller="guest"), RefusalCode.NOT_AUTHORISED),
        (request(arguments={"entity": 5}), RefusalCode.INVALID_REQUEST),
        (request(arguments={"nonsense": 5}), RefusalCode.INVALID_REQUEST),
    ],
)
def test_a_refusal_leaves_an_audit_event_and_no_record(wish: ToolRequest, code: RefusalCode) -> None:
    """An ERROR result with its own code; the tool was not run, nothing was charged, nothing is stored."""
    house = House()
    (result,) = house.ask(wish)
    assert result.refusal is not None
    assert (result.refusal.code, result.status, result.record) == (code, EvidenceStatus.ERROR, None)
    assert [event.payload["code"] for event in house.sink.events_named(TraceName.TOOL_REQUEST_REJECTED)] == [
        code
    ]
    assert (house.tool.runs, house.records_in_store(), house.ctx.budget.usage().tool_calls) == ([], (), 0)


def test_a_tool_that_is_not_read_only_is_never_run() -> None:
    """Whatever it was built for, the boundary reads the declaration."""
    house = House(tool=ScriptedTool(spec=ToolSpec("look", "Restarts.", read_only=False)))
    (result,) = house.ask(request())
    assert result.refusal is not None
    assert (result.refusal.code, house.tool.runs) == (RefusalCode.NOT_READ_ONLY, [])


def test_a_tool_call_id_is_used_once_in_a_run() -> None:
    """Twice in one batch, and again in the next."""
    house = House()
    first, second = house.ask(request("t1"), request("t1", arguments={"entity": "cart"}))
    (third,) = house.ask(request("t1"))
    assert first.record is not None
    assert [r.refusal.code for r in (second, third) if r.refusal] == [RefusalCode.TOOL_CALL_ID_REUSED] * 2
    assert len(house.tool.runs) == 1


def test_the_caller_needs_every_scope_of_the_tool() -> None:
    """One of two scopes is not enough."""
    spec = ToolSpec("look", "Looks.", scope_names=("metrics:read", "logs:read"))
    grants = {"half": frozenset({"metrics:read"}), "whole": frozenset({"metrics:read", "logs:read"})}
    house = House(tool=ScriptedTool(spec=spec), grants=grants)
    half, whole = house.ask(request("t1", caller="half"), request("t2", caller="whole"))
    assert half.refusal is not None
    assert (half.refusal.code, whole.record is not None) == (RefusalCode.NOT_AUTHORISED, True)


def test_eight_hundred_calls_under_a_limit_of_twenty_run_twenty_in_order() -> None:
    """Twenty results are kept, the rest are refused by the budget, and the run ends BUDGET_EXHAUSTED."""
    house = House(parallel=1)
    wishes = [request(f"t{n}", arguments={"entity": f"e{n}"}) for n in range(800)]
    results = house.ask(*wishes)
    assert [result.request for result in results] == wishes
    assert [run["entity"] for run in house.tool.runs] == [f"e{n}" for n in range(20)]
    assert all(result.status is EvidenceStatus.EVIDENCE_FOUND for result in results[:20])
    assert {result.refusal.code for result in results[20:] if result.refusal} == {
        RefusalCode.BUDGET_EXHAUSTED
    }
    assert len(house.records_in_store()) == 20
    assert len(house.sink.events_named(TraceName.TOOL_REQUEST_REJECTED)) == 780
    assert house.ctx.lifecycle.state is RunState.BUDGET_EXHAUSTED


@pytest.mark.parametrize(("of_the_tool", "of_all", "most"), [(1, 4, 1), (2, 4, 2), (4, 3, 3)])
def test_a_tool_is_at_work_no_more_often_at_a_time_than_it_and_the_batch_allow(
    of_the_tool: int, of_all: int, most: int
) -> None:
    """Six calls in one batch; the smaller of the two bounds holds, and it is reached."""
    lock, at_work, seen = threading.Lock(), [0], [0]
    gate = threading.Barrier(most)

    def count_calls() -> ToolFindings:
        with lock:
            at_work[0] += 1
            seen[0] = max(seen[0], at_work[0])
        gate.wait(10)  # nobody goes on before as many are inside as may be
        with lock:
            at_work[0] -= 1
        return some_findings()

    spec = ToolSpec("look", "Looks.", parameters=(ENTITY_ARG,), parallel=of_the_tool)
    house = House(tool=ScriptedTool(count_calls, spec), parallel=of_all)
    results = house.ask(*(request(f"t{n}", arguments={"entity": f"e{n}"}) for n in range(6)))
    assert all(result.status is EvidenceStatus.EVIDENCE_FOUND for result in results)
    assert seen[0] == most


def test_a_tool_that_always_fails_runs_as_often_as_its_limit_allows() -> None:
    """Failures are charged like any call: three under a limit of three, and no fourth."""

    def fail() -> ToolFindings:
        raise ToolFailure("down", kind=FailureKind.UNAVAILABLE)

    house = House(tool=ScriptedTool(fail), limits=replace(LIMITS, tool_calls_per_tool=3))
    results = [house.ask(request(f"t{n}"))[0] for n in range(5)]
    codes = [result.record.error_code for result in results if result.record]
    assert codes == [ErrorCode.EXECUTION_FAILED] * 3
    assert (len(house.tool.runs), house.ctx.lifecycle.state) == (3, RunState.BUDGET_EXHAUSTED)


def boom() -> ToolFindings:
    """A tool with a bug."""
    raise KeyError("secret detail")


def find_doubled() -> ToolFindings:
    """Two items of one id."""
    return replace(some_findings(), items=(change_item(), change_item()))


@pytest.mark.parametrize(
    ("answer", "bounds", "code"),
    [
        (boom, ProjectionBounds(), ErrorCode.EXECUTION_FAILED),
        (find_doubled, ProjectionBounds(), ErrorCode.PROJECTION_FAILED),
        (some_findings, ProjectionBounds(size_bytes=60), ErrorCode.TOO_LARGE),
    ],
)
def test_each_failure_ends_the_record_with_its_own_code(
    answer: Callable[[], ToolFindings], bounds: ProjectionBounds, code: ErrorCode
) -> None:
    """Execution, projection and size; the run goes on, and the tool's own error text is not shown."""
    house = House(tool=ScriptedTool(answer, ToolSpec("look", "Looks.", bounds=bounds)))
    (result,) = house.ask(request())
    assert result.record is not None
    assert (result.record.error_code, result.record.items) == (code, ())
    assert house.records_in_store() == (result.record,)
    assert house.ctx.lifecycle.state is RunState.RUNNING
    assert "secret" not in str(house.sink.events())


def test_bytes_beyond_the_run_limit_end_record_and_run() -> None:
    """The record is ERROR, written after the end; the run is BUDGET_EXHAUSTED."""
    house = House(limits=replace(LIMITS, run_bytes=100))
    (result,) = house.ask(request())
    assert result.record is not None
    assert result.record.error_code is ErrorCode.BUDGET_EXHAUSTED
    assert house.records_in_store() == (result.record,)
    assert house.ctx.lifecycle.state is RunState.BUDGET_EXHAUSTED
    assert house.ctx.budget.usage().run_bytes == 0


class BrokenStore(MemoryEvidenceStore):
    """A store that fails, forgets or alters where it is configured to."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    async def begin(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Fail when configured to."""
        if self.fault == "begin":
            raise StoreFailure("away")
        return await super().begin(ctx, record)

    async def finish(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Fail once when configured to, or for as long as it is away."""
        if self.fault in ("finish", "away"):
            self.fault = "" if self.fault == "finish" else self.fault
            raise StoreFailure("away")
        return await super().finish(ctx, record)

    async def get(self, ctx: RunContext, key: str) -> EvidenceRecord | None:
        """Alter a byte when configured to."""
        record = await super().get(ctx, key)
        if self.fault != "get" or record is None or record.projection is None:
            return record
        stored = record.projection.stored.replace(b"3.204", b"3.205")
        return replace(record, projection=replace(record.projection, stored=stored))


def test_a_store_that_cannot_begin_refuses_the_call_and_returns_the_charge() -> None:
    """No record, no run of the tool, no charge."""
    house = House(store=BrokenStore("begin"))
    (result,) = house.ask(request())
    assert result.refusal is not None
    assert result.refusal.code is RefusalCode.STORE_UNAVAILABLE
    assert (house.tool.runs, house.ctx.budget.usage().tool_calls) == ([], 0)


@pytest.mark.parametrize("fault", ["finish", "get"])
def test_what_the_store_does_not_keep_unaltered_is_not_evidence(fault: str) -> None:
    """A typed ERROR, never evidence, and no PROJECTING record is left behind."""
    house = House(store=BrokenStore(fault))
    (result,) = house.ask(request())
    assert result.record is not None
    assert (result.record.error_code, result.status) == (ErrorCode.STORE_FAILED, EvidenceStatus.ERROR)
    assert all(record.invocation is not InvocationStatus.PROJECTING for record in house.records_in_store())


def test_a_record_that_a_store_could_not_end_is_ended_when_it_is_back() -> None:
    """The loop settles with the store when no more calls come; one that is away still changes nothing."""
    store = BrokenStore("away")
    house = House(store=store)

    def back(view: PolicyView) -> GiveDraft:
        del view
        store.fault = ""
        return GiveDraft(None)

    policy = ScriptedPolicy(AskTools((WantedCall("t1", "look", {}),)), back)
    agent = DiagnosisAgent(house.core, policy=policy, boundary=house.boundary)

    async def story() -> None:
        with pytest.raises(EmptyDraft):
            await agent.diagnose(house.ctx, DiagnosisTask("why?"))

    asyncio.run(story())
    assert [record.error_code for record in house.records_in_store()] == [ErrorCode.STORE_FAILED]


def test_a_tool_that_ignores_its_time_limit_lands_no_evidence() -> None:
    """The wait ends at the limit, the run goes on, and what the thread returns later is refused."""
    entered, release = threading.Event(), threading.Event()

    def stubborn() -> ToolFindings:
        entered.set()
        release.wait(10)
        return some_findings()

    house = House(tool=ScriptedTool(stubborn, ToolSpec("look", "Looks.", limit_s=5)))

    async def scene() -> ToolBoundaryResult:
        asking = asyncio.ensure_future(house.boundary.invoke(house.ctx, [request()]))
        await asyncio.to_thread(entered.wait, 10)
        house.clock.advance(6)
        (result,) = await asking
        release.set()
        return result

    result = asyncio.run(scene())
    assert result.record is not None
    assert (result.record.error_code, result.record.items) == (ErrorCode.TIMED_OUT, ())
    assert house.records_in_store() == (result.record,)
    assert len(house.sink.events_named(TraceName.TOOL_ABANDONED)) == 1
    assert house.ctx.lifecycle.state is RunState.RUNNING


def test_cancel_during_a_batch_ends_what_runs_and_starts_nothing_more() -> None:
    """The call at work ends RUN_ENDED, the next one is refused, the tool ran once."""
    entered, release = threading.Event(), threading.Event()

    def slow() -> ToolFindings:
        entered.set()
        release.wait(10)
        return some_findings()

    house = House(tool=ScriptedTool(slow), parallel=1)

    async def scene() -> tuple[ToolBoundaryResult, ...]:
        asking = asyncio.ensure_future(house.boundary.invoke(house.ctx, [request("t1"), request("t2")]))
        await asyncio.to_thread(entered.wait, 10)
        house.core.cancel(house.ctx, CancellationReason.USER_REQUESTED)
        results = await asking
        release.set()
        return results

    first, second = asyncio.run(scene())
    assert first.record is not None
    assert first.record.error_code is ErrorCode.RUN_ENDED
    assert second.refusal is not None
    assert (second.refusal.code, len(house.tool.runs)) == (RefusalCode.RUN_NOT_ACTIVE, 1)
    assert house.ctx.lifecycle.state is RunState.CANCELLED
