"""Preflight: a code for every refusal, and the first objection decides."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

import pytest

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.harness.termination import CancellationReason
from diagnosis_harness.kernel.errors import StoreFailure
from diagnosis_harness.testing.runs import Rig, limits
from diagnosis_harness.testing.scripted_tool import ENTITY_ARG, ScriptedTool
from diagnosis_harness.tools.access import ScopeAccess
from diagnosis_harness.tools.boundary import ToolBoundary, ToolBoundaryResult
from diagnosis_harness.tools.evidence import EvidenceStatus
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.preflight import RefusalCode
from diagnosis_harness.tools.spec import ToolRequest, ToolSpec
from diagnosis_harness.trace.event import TraceName

IN_ORDER = (
    RefusalCode.RUN_NOT_ACTIVE,
    RefusalCode.UNSAFE_TOOL_CALL_ID,
    RefusalCode.NOT_AUTHORISED,
    RefusalCode.NOT_READ_ONLY,
    RefusalCode.INVALID_REQUEST,
    RefusalCode.BUDGET_EXHAUSTED,
    RefusalCode.STORE_UNAVAILABLE,
)
"""Run, id, authorisation, read-only, request, budget, store."""


class AwayStore(MemoryEvidenceStore):
    """Cannot begin."""

    async def begin(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """No."""
        raise StoreFailure("away")


@dataclass
class Door:
    """One request with everything wrong from some place in the order on, and nothing before it."""

    first: int
    rig: Rig = field(default_factory=Rig)

    def wrong(self, code: RefusalCode) -> bool:
        """Whether that is wrong with the request."""
        return IN_ORDER.index(code) >= self.first

    def ask(self) -> tuple[RunContext, ScriptedTool, ToolBoundaryResult, MemoryEvidenceStore]:
        """Ask once."""
        store = AwayStore() if self.wrong(RefusalCode.STORE_UNAVAILABLE) else MemoryEvidenceStore()
        ctx = self.rig.run(limits=limits(tool_calls=1))
        spec = ToolSpec("look", "Looks.", (ENTITY_ARG,), scope_names=("metrics:read",))
        tool = ScriptedTool(spec=replace(spec, read_only=not self.wrong(RefusalCode.NOT_READ_ONLY)))
        boundary = ToolBoundary(
            self.rig.core,
            tools=[tool],
            store=store,
            access=ScopeAccess({"local": frozenset({"*"})}),
            keys=ToolCallKeyFactory("evidence"),
        )
        if self.wrong(RefusalCode.BUDGET_EXHAUSTED):
            self.rig.core.start_tool_call(ctx, "look", "t0")
        if self.wrong(RefusalCode.RUN_NOT_ACTIVE):
            self.rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)
        request = ToolRequest(
            "a:b" if self.wrong(RefusalCode.UNSAFE_TOOL_CALL_ID) else "t1",
            "look",
            {"entity": 5 if self.wrong(RefusalCode.INVALID_REQUEST) else "cart"},
            caller="guest" if self.wrong(RefusalCode.NOT_AUTHORISED) else "local",
        )
        (result,) = asyncio.run(boundary.invoke(ctx, [request]))
        return ctx, tool, result, store


@pytest.mark.parametrize("first", range(len(IN_ORDER)), ids=[code.value for code in IN_ORDER])
def test_the_first_objection_decides_and_leaves_no_record(first: int) -> None:
    """An ERROR result, one audit event with the code; the tool was not run and no record exists."""
    door = Door(first)
    ctx, tool, result, store = door.ask()
    assert result.refusal is not None
    assert (result.refusal.code, result.status, result.record) == (
        IN_ORDER[first],
        EvidenceStatus.ERROR,
        None,
    )
    (event,) = door.rig.sink.events_named(TraceName.TOOL_REQUEST_REJECTED)
    assert event.payload["code"] == IN_ORDER[first]
    assert (tool.runs, asyncio.run(store.of_run(ctx))) == ([], ())


def test_a_request_with_nothing_wrong_becomes_a_record() -> None:
    """The door opens."""
    ctx, tool, result, store = Door(len(IN_ORDER)).ask()
    assert result.record is not None
    assert (len(tool.runs), asyncio.run(store.of_run(ctx))) == (1, (result.record,))
