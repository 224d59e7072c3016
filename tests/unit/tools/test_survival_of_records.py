"""Whatever a tool raises and whatever cancels: a record that has begun ends, and every lease is returned."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.kernel.clock import SystemClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.testing.runs import AMPLE
from diagnosis_harness.testing.scripted_tool import ScriptedTool, some_findings
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import BoundarySettings, ToolBoundary, ToolBoundaryResult
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord
from diagnosis_harness.tools.preflight import RefusalCode
from diagnosis_harness.tools.spec import ToolFindings, ToolRequest
from diagnosis_harness.tools.store import EvidenceStore
from diagnosis_harness.trace.event import TraceEventStatus, TraceName
from diagnosis_harness.trace.sink import MemorySink

PATIENCE_S = 20.0
RAISED = [asyncio.CancelledError, SystemExit, KeyboardInterrupt, GeneratorExit, MemoryError, RecursionError]


class Bench:
    """A boundary over one tool and one store, in a run of its own."""

    def __init__(
        self,
        answer: Callable[[], ToolFindings] = some_findings,
        *,
        store: EvidenceStore | None = None,
        settings: BoundarySettings | None = None,
    ) -> None:
        self.sink, self.store = MemorySink(), store or MemoryEvidenceStore()
        self.core = DiagnosisHarnessCore(clock=SystemClock(), ids=CountingIds(), sink=self.sink)
        self.ctx = self.core.start_run(session_id="s", limits=AMPLE, timeout_s=3600)
        self.boundary = ToolBoundary(
            self.core,
            tools=[ScriptedTool(answer)],
            store=self.store,
            access=ScopeAccess({"local": frozenset({"*"})}),
            keys=ToolCallKeyFactory("evidence"),
            settings=settings,
        )

    async def invoke(self, *call_ids: str) -> tuple[ToolBoundaryResult, ...]:
        """Ask the tool once for each id."""
        requests = [ToolRequest(call_id, "look", {"entity": call_id}, caller="local") for call_id in call_ids]
        return await self.boundary.invoke(self.ctx, requests)

    async def records_in_store(self) -> dict[str, EvidenceRecord]:
        """What the store holds, by tool call id."""
        return {record.tool_call_id: record for record in await self.store.of_run(self.ctx)}


@pytest.mark.parametrize("error", RAISED)
def test_whatever_a_tool_raises_its_record_ends_and_the_run_goes_on(error: type[BaseException]) -> None:
    """CancelledError and SystemExit of a tool's thread are the tool's own: EXECUTION_FAILED, like any bug."""

    def raise_broken() -> NoReturn:
        raise error

    bench = Bench(raise_broken)

    async def main() -> None:
        (result,) = await bench.invoke("t1")
        assert result.record is not None
        assert result.record.error_code is ErrorCode.EXECUTION_FAILED
        assert await bench.records_in_store() == {"t1": result.record}

    asyncio.run(main())
    bench.core.check_active(bench.ctx)
    assert bench.ctx.budget.open_calls().waiting == bench.ctx.budget.open_calls().in_flight == ()
    assert bench.ctx.budget.usage().tool_calls == 1
    bench.core.close()


class Shape(ToolFindings):
    """Findings whose items cannot be looked at."""

    def __getattribute__(self, name: str) -> Any:
        if name == "looked_at":
            raise OverflowError("a number that is none")
        return super().__getattribute__(name)


@pytest.mark.parametrize("answer", [lambda: None, lambda: "text", lambda: Shape(items=(), looked_at=0)])
def test_findings_of_no_known_form_end_their_record(answer: Callable[[], Any]) -> None:
    """A tool that answers with something else has failed; the run has not."""
    bench = Bench(answer)

    async def main() -> None:
        (result,) = await bench.invoke("t1")
        assert result.record is not None
        assert result.record.invocation is InvocationStatus.ERROR
        assert await bench.records_in_store() == {"t1": result.record}

    asyncio.run(main())
    bench.core.close()


class BuggyStore(MemoryEvidenceStore):
    """A store that raises what no store may raise, at one of its methods, once or always."""

    def __init__(self, place: str, error: type[BaseException]) -> None:
        super().__init__()
        self.place, self.error, self.faults = place, error, 1

    def _fault(self, place: str) -> None:
        if place == self.place and self.faults > 0:
            self.faults -= 1
            raise self.error("a bug")

    async def begin(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Keeps it, and then fails."""
        begun = await super().begin(ctx, record)
        self._fault("begin")
        return begun

    async def finish(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Fails."""
        self._fault("finish")
        return await super().finish(ctx, record)

    async def get(self, ctx: RunContext, key: str) -> EvidenceRecord | None:
        """Fails."""
        self._fault("get")
        return await super().get(ctx, key)


@pytest.mark.parametrize("error", [KeyError, RuntimeError, asyncio.CancelledError, GeneratorExit])
@pytest.mark.parametrize("place", ["begin", "finish", "get"])
def test_whatever_a_store_raises_the_record_ends(place: str, error: type[BaseException]) -> None:
    """The store's bug is no answer and no evidence, and leaves nothing PROJECTING."""
    bench = Bench(store=BuggyStore(place, error))

    async def main() -> None:
        (result,) = await bench.invoke("t1")
        if place == "begin":
            assert result.refusal is not None
            assert result.refusal.code is RefusalCode.STORE_UNAVAILABLE
        else:
            assert result.record is not None
            assert result.record.error_code is ErrorCode.STORE_FAILED
        (record,) = (await bench.records_in_store()).values()
        assert record.invocation is not InvocationStatus.PROJECTING

    asyncio.run(main())
    assert bench.ctx.budget.open_calls().waiting == ()
    bench.core.close()


# ------------------------------------------------------------------ the host cancels


class Stuck:
    """A tool that is inside until the test lets it go."""

    def __init__(self) -> None:
        self.inside = threading.Semaphore(0)
        self.go_on = threading.Event()

    def __call__(self) -> ToolFindings:
        """Stay."""
        self.inside.release()
        assert self.go_on.wait(PATIENCE_S)
        return some_findings()


@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_host_that_cancels_finds_every_record_ended_and_every_lease_back(times: int) -> None:
    """One call is in its thread, two wait for a place: all three end, and the host's own cancel is raised."""
    stuck = Stuck()
    bench = Bench(stuck, settings=BoundarySettings(parallel=1))

    async def main() -> None:
        task = asyncio.ensure_future(bench.invoke("t1", "t2", "t3"))
        await asyncio.to_thread(stuck.inside.acquire, timeout=PATIENCE_S)
        for _ in range(times):  # an impatient host
            task.cancel()
            await asyncio.sleep(0)  # noqa: TID251 - one turn of the loop
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        assert {key: record.error_code for key, record in (await bench.records_in_store()).items()} == {
            "t1": ErrorCode.ABANDONED
        }

    asyncio.run(main())
    assert bench.ctx.budget.open_calls().waiting == ()
    assert bench.ctx.budget.usage().tool_calls == 1  # what has begun stays charged
    events = [event.status for event in bench.sink.events_named(TraceName.TOOL_INVOCATION)]
    assert events == [TraceEventStatus.STARTED, TraceEventStatus.FAILED]
    stuck.go_on.set()
    bench.core.close()


class SlowStore(MemoryEvidenceStore):
    """A store that is asked at one place and answers when the test says so."""

    def __init__(self, place: str) -> None:
        super().__init__()
        self.place = place
        self.asked, self.answer = asyncio.Event(), asyncio.Event()

    async def _slow(self, place: str) -> None:
        if place == self.place and not self.asked.is_set():
            self.asked.set()
            await self.answer.wait()

    async def finish(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """In time."""
        await self._slow("before finish")
        taken = await super().finish(ctx, record)
        await self._slow("after finish")
        return taken


@pytest.mark.parametrize("place", ["before finish", "after finish"])
def test_a_cancel_does_not_cut_bookkeeping_short(place: str) -> None:
    """A record that is being kept is kept as it is; the host's cancel is raised after it."""

    async def main() -> None:
        store = SlowStore(place)
        bench = Bench(store=store)
        task = asyncio.ensure_future(bench.invoke("t1"))
        await store.asked.wait()
        task.cancel()
        for _ in range(10):
            await asyncio.sleep(0)  # noqa: TID251 - one turn of the loop
        assert not task.done()
        store.answer.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        (record,) = (await bench.records_in_store()).values()
        assert record.invocation is InvocationStatus.READY
        final = bench.sink.events_named(TraceName.TOOL_INVOCATION)[-1]
        assert (final.status, final.payload["error_code"]) == (TraceEventStatus.SUCCEEDED, None)
        bench.core.close()

    asyncio.run(main())


def test_bookkeeping_of_a_store_that_hangs_is_bounded() -> None:
    """A host that cancels gets its cancel after the time that ending a record may take, and not later."""

    async def main() -> None:
        store = SlowStore("before finish")
        bench = Bench(store=store, settings=BoundarySettings(finalise_timeout_s=0.05))
        task = asyncio.ensure_future(bench.invoke("t1"))
        await store.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(asyncio.shield(task), PATIENCE_S)
        (record,) = (await bench.records_in_store()).values()
        assert record.error_code is ErrorCode.ABANDONED
        bench.core.close()

    asyncio.run(main())
