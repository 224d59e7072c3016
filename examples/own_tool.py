"""A tool of your own: its observations are recorded, and only what a record supports is released.

Run it with `python examples/own_tool.py`. The policy here claims two things, one of them invented.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime

import diagnosis_harness as dh

NO_TOKENS = dh.TokenUsage(0, 0)
BEGAN_S = datetime(2024, 1, 1, 14, 5, tzinfo=UTC).timestamp()
LIMITS = dh.RunBudgetLimits(
    llm_calls=5,
    tool_calls=3,
    tool_calls_per_tool=2,
    input_tokens=10_000,
    output_tokens=2_000,
    total_tokens=12_000,
    run_bytes=50_000,
)


class QueueDepth:
    """Read-only and synchronous: the harness calls it on a thread and records what it returns."""

    spec = dh.ToolSpec(name="queue_depth", description="Depth of the work queue.")

    def run(self, ctx: dh.RunContext, arguments: Mapping[str, object]) -> dh.ToolFindings:
        """Ask the queue, here a constant. An observation states its time."""
        depth = dh.EvidenceItem(
            item_id="depth",
            kind=dh.ItemKind.SIGNAL_CHANGE,
            line="worker queue_depth rose from 12 to 4800",
            entity="worker",
            signal="queue_depth",
            value=4800.0,
            baseline=12.0,
            direction=dh.Direction.UP,
            window=dh.TimeWindow(BEGAN_S, BEGAN_S + 600.0),
        )
        return dh.ToolFindings(items=(depth,), looked_at=1)


class AskThenTell:
    """Calls the tool once, then claims what it saw and something that it did not see."""

    async def decide(self, ctx: dh.RunContext, view: dh.PolicyView) -> tuple[dh.PolicyAnswer, dh.TokenUsage]:
        """The tool first, then the draft."""
        if not view.records:
            return dh.AskTools((dh.WantedCall("call-1", "queue_depth", {}),)), NO_TOKENS
        seen, invented = claim("seen", 4800.0), claim("invented", 9999.0)
        gained = dh.Assessment("call-1", dh.InformationGain.GAINED, (seen,))
        return dh.GiveDraft(dh.DiagnosisDraft(conclusion=(), claims=(seen, invented)), (gained,)), NO_TOKENS


def claim(claim_id: str, value: float) -> dh.Claim:
    """The queue's depth rose to this value."""
    return dh.Claim(
        claim_id=claim_id,
        predicate=dh.Predicate.CHANGED,
        entity="worker",
        signal="queue_depth",
        value=value,
        baseline=12.0,
        direction=dh.Direction.UP,
        refs=(dh.EvidenceRef("call-1", "depth"),),
    )


async def main() -> None:
    """One question; the answer in both languages."""
    async with dh.Harness(tools=[QueueDepth()], policy=AskThenTell(), limits=LIMITS, timeout_s=60) as harness:
        answer = await harness.ask("Why is the worker behind?")
    print(answer.outcome)
    print(answer.text("en"))
    print(answer.text("zh"))


if __name__ == "__main__":
    asyncio.run(main())
