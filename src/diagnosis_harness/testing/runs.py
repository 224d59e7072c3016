"""A core that a test controls, and its runs, in one line of a test."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from diagnosis_harness.harness.budget import RunBudgetLimits
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.retry_policy import HarnessRetryPolicies
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds
from diagnosis_harness.trace.sink import MemorySink

AMPLE = RunBudgetLimits(
    llm_calls=1_000,
    tool_calls=1_000,
    tool_calls_per_tool=1_000,
    input_tokens=1_000_000,
    output_tokens=1_000_000,
    total_tokens=1_000_000,
    run_bytes=1_000_000,
)
"""Limits that a small test does not reach."""


def limits(**narrower: int) -> RunBudgetLimits:
    """Ample limits, some of them overridden."""
    return replace(AMPLE, **narrower)  # type: ignore[arg-type]  # the only limit that is not a number is not overridden


@dataclass(slots=True)
class Rig:
    """A core whose time, ids and trace belong to the test."""

    clock: ManualClock = field(default_factory=ManualClock)
    sink: MemorySink = field(default_factory=MemorySink)
    core: DiagnosisHarnessCore = field(init=False)

    def __post_init__(self) -> None:
        self.core = DiagnosisHarnessCore(clock=self.clock, ids=CountingIds(), sink=self.sink)

    def run(
        self,
        *,
        timeout_s: float = 60.0,
        limits: RunBudgetLimits = AMPLE,
        retry_policies: HarnessRetryPolicies | None = None,
    ) -> RunContext:
        """A fresh run."""
        return self.core.start_run(
            session_id="session", limits=limits, timeout_s=timeout_s, retry_policies=retry_policies
        )
