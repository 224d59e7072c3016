"""A call that had begun and failed: the record ends ERROR with a code of its own, and nothing stays open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from tests.support.faults import ALTERED, HUNG, LOST, store_fails
from tests.support.scene import Scene

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, WantedCall
from diagnosis_harness.harness.budget import RunBudgetLimits
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import MemoryLimit, ToolFailure
from diagnosis_harness.testing.evidence import change_item
from diagnosis_harness.testing.runs import AMPLE, limits
from diagnosis_harness.testing.scripted_policy import ScriptedPolicy
from diagnosis_harness.testing.scripted_tool import ScriptedTool, some_findings
from diagnosis_harness.tools.evidence import EvidenceStatus, InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord
from diagnosis_harness.tools.spec import ProjectionBounds, ToolFindings, ToolSpec


class KeptStore(MemoryEvidenceStore):
    """A memory store that a test may look into."""

    def records_in_store(self) -> dict[str, EvidenceRecord]:
        """Records by tool call id."""
        return {record.tool_call_id: record for record in self._records.values()}


def scene(
    answer: Callable[[], ToolFindings] = some_findings,
    *,
    bounds: ProjectionBounds | None = None,
    given: RunBudgetLimits = AMPLE,
) -> tuple[Scene, KeptStore]:
    """One call of one tool, then a draft that says nothing."""
    store = KeptStore()
    draft = DiagnosisDraft(conclusion=(), claims=(), missing_info=(MissingInfo.TIME,))
    spec = ToolSpec("look", "Looks.", bounds=bounds or ProjectionBounds())
    ask = AskTools((WantedCall("t1", "look", {}),))
    run = Scene(
        policy=ScriptedPolicy(ask, GiveDraft(draft)),
        store=store,
        tools=[ScriptedTool(answer, spec)],
        limits=given,
    )
    return run, store


def fails() -> ToolFindings:
    """The backend cannot."""
    raise ToolFailure("away")


def too_large_to_read() -> ToolFindings:
    """Telemetry that does not fit into memory."""
    raise MemoryLimit("the spans do not fit; raise folder.memory_limit_mb")


def crashes() -> ToolFindings:
    """A bug."""
    raise KeyError("a bug")


def twice() -> ToolFindings:
    """Two items of one id."""
    return replace(some_findings(), items=(change_item(), change_item()))


def not_json() -> ToolFindings:
    """A value that JSON cannot represent."""
    wrong: Any = {"value": Decimal(1)}
    return replace(some_findings(), items=(replace(change_item(), attributes=wrong),))


def not_finite() -> ToolFindings:
    """A number that is none."""
    return replace(some_findings(), items=(replace(change_item(), value=float("nan")),))


@pytest.mark.parametrize(
    ("answer", "bounds", "code"),
    [
        (fails, None, ErrorCode.EXECUTION_FAILED),
        (crashes, None, ErrorCode.EXECUTION_FAILED),
        (too_large_to_read, None, ErrorCode.MEMORY_LIMIT),
        (twice, None, ErrorCode.PROJECTION_FAILED),
        (not_json, None, ErrorCode.PROJECTION_FAILED),
        (not_finite, None, ErrorCode.PROJECTION_FAILED),
        (some_findings, ProjectionBounds(size_bytes=50), ErrorCode.TOO_LARGE),
    ],
    ids=["execution", "crash", "memory", "two of one id", "no JSON", "not finite", "size"],
)
def test_a_failure_has_its_own_code_and_the_run_goes_on(
    answer: Callable[[], ToolFindings], bounds: ProjectionBounds | None, code: ErrorCode
) -> None:
    """Execution, projection, size: an ERROR record that the store holds, and no evidence."""
    run, store = scene(answer, bounds=bounds)
    (record,) = run.run().snapshot.records
    assert (record.invocation, record.evidence) == (InvocationStatus.ERROR, EvidenceStatus.ERROR)
    assert (record.error_code, record.items, store.records_in_store()) == (code, (), {"t1": record})
    assert run.ctx.lifecycle.state is RunState.SUCCESS


@pytest.mark.parametrize("hangs", [False, True], ids=["the store works", "the store fails once"])
def test_a_budget_failure_ends_the_record_and_the_run(hangs: bool) -> None:
    """ERROR is written after the run's end, a second time where the store failed at first."""
    run, store = scene(given=limits(run_bytes=100))
    run.faults.actions = {"finish t1": store_fails} if hangs else {}
    (record,) = run.run().snapshot.records
    assert (record.error_code, store.records_in_store()) == (ErrorCode.BUDGET_EXHAUSTED, {"t1": record})
    assert run.ctx.lifecycle.state is RunState.BUDGET_EXHAUSTED


@pytest.mark.parametrize(
    ("place", "how"),
    [
        ("finish t1", "fails"),
        ("finish t1", LOST),
        ("finish t1", HUNG),
        ("get t1", "fails"),
        ("get t1", HUNG),
        ("get t1", ALTERED),
    ],
)
def test_what_the_store_does_not_give_back_unaltered_is_not_evidence(place: str, how: str) -> None:
    """It fails, is slow, loses or alters: STORE_FAILED, never evidence, and nothing is left PROJECTING."""
    run, store = scene()
    run.faults.actions = {place: store_fails if how == "fails" else lambda: how}
    (record,) = run.run().snapshot.records
    assert (record.error_code, record.items) == (ErrorCode.STORE_FAILED, ())
    assert store.records_in_store()["t1"].invocation is not InvocationStatus.PROJECTING


@pytest.mark.parametrize("how", ["cancel", "deadline", "slow"])
def test_a_record_that_may_have_begun_does_not_stay_open(how: str) -> None:
    """The store had taken it when the run, or its own time, was over: refused, and the record ends."""
    run, store = scene()
    run.faults.actions = {"begin t1": (lambda: HUNG) if how == "slow" else getattr(run, how)}
    end = run.run()
    assert end.snapshot.records == ()
    assert store.records_in_store()["t1"].error_code is ErrorCode.ABANDONED
    assert run.ctx.budget.usage().tool_calls == 0
