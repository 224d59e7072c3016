"""What a run spent, and its limits, as the document lists them."""

from __future__ import annotations

from diagnosis_harness.harness.budget import BudgetUsage, RunBudgetLimits
from diagnosis_harness.report.document import Counter

RUN_COUNTERS = ("llm_calls", "tool_calls", "input_tokens", "output_tokens", "total_tokens", "run_bytes")
"""The counters of every run, as `harness.budget.RunBudgetLimits` names them."""


def counters(usage: BudgetUsage, limits: RunBudgetLimits) -> tuple[Counter, ...]:
    """All counters of a run, then one for each tool that was called, by name."""
    whole = (Counter(name, getattr(usage, name), getattr(limits, name)) for name in RUN_COUNTERS)
    tools = sorted(usage.tool_calls_by_tool.items())
    return (
        *whole,
        *(Counter("tool_calls", used, limits.tool_limit(tool), tool=tool) for tool, used in tools),
    )
