"""A policy of your own over a folder of telemetry: it concludes the first cause of the ranking.

Run it with `python examples/own_policy.py FOLDER`; `diagnose demo --keep DIR` makes such a folder. What the
policy concludes is a draft: code checks it against the recorded evidence before anything is released. Besides
its place in the ranking, a cause needs evidence of its own.
"""

from __future__ import annotations

import asyncio
import sys

import diagnosis_harness as dh

NO_TOKENS = dh.TokenUsage(0, 0)
LOOK = dh.AskTools(
    (dh.WantedCall("ranking", "rank_causes", {}), dh.WantedCall("changes", "find_changed_signals", {}))
)


class FirstOfTheRanking:
    """Decides in two steps. A policy with a language model reports the tokens that each step took."""

    async def decide(self, ctx: dh.RunContext, view: dh.PolicyView) -> tuple[dh.PolicyAnswer, dh.TokenUsage]:
        """Look first; then conclude."""
        if not view.records:
            return LOOK, NO_TOKENS
        ranking, changes = view.records
        return conclude(ranking, changes), NO_TOKENS


def conclude(ranking: dh.EvidenceRecord, changes: dh.EvidenceRecord) -> dh.GiveDraft:
    """The first candidate as the cause; an empty draft if none of its signals changed."""
    first = next((item for item in ranking.items if item.kind is dh.ItemKind.CAUSE_SCORE), None)
    moved = next((item for item in changes.items if first is not None and item.entity == first.entity), None)
    if first is None or first.entity is None or moved is None:
        return dh.GiveDraft(dh.DiagnosisDraft(conclusion=(), claims=()))
    caused = dh.Claim(
        claim_id="caused",
        predicate=dh.Predicate.CAUSED,
        entity=first.entity,
        affected=first.peer,
        refs=(dh.EvidenceRef(ranking.tool_call_id, first.item_id),),
    )
    changed = dh.Claim(
        claim_id="changed",
        predicate=dh.Predicate.CHANGED,
        entity=first.entity,
        signal=moved.signal,
        value=moved.value,
        baseline=moved.baseline,
        unit=moved.unit,
        direction=moved.direction,
        refs=(dh.EvidenceRef(changes.tool_call_id, moved.item_id),),
    )
    cause = dh.Cause(first.entity, dh.FaultKind(str(first.attributes["fault_kind"])), ("caused", "changed"))
    return dh.GiveDraft(
        dh.DiagnosisDraft(conclusion=(cause,), claims=(caused, changed)),
        (
            dh.Assessment(ranking.tool_call_id, dh.InformationGain.GAINED, (caused,)),
            dh.Assessment(changes.tool_call_id, dh.InformationGain.GAINED, (changed,)),
        ),
    )


async def main(folder: str) -> None:
    """Ask, and print what was released."""
    async with dh.Harness(sources=folder, policy=FirstOfTheRanking()) as harness:
        answer = await harness.ask("Why did the alert fire?")
    print(answer.outcome, *answer.causes)
    print(answer.text("en"))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
