"""The embedded analyst: diagnoses from records alone, without a network and without a language model.

It looks broadly, has the causes ranked, looks closely at the strongest, and drafts. Each step follows from
the records so far, so the same records always lead to the same next step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.policy import AskTools, GiveDraft, PolicyAnswer, PolicyView, WantedCall
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.players.embedded.claims import plain_claim
from diagnosis_harness.players.embedded.drafting import draft_from
from diagnosis_harness.players.embedded.reading import Reading
from diagnosis_harness.tools.invocation import EvidenceRecord

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

FACTS_PER_RESULT = 5
"""How many of a result's findings, strongest first, are kept as facts."""


class EmbeddedAnalyst:
    """Plays `DiagnosisPolicy`; never waits, never fails, spends no tokens."""

    async def decide(self, ctx: RunContext, view: PolicyView) -> tuple[PolicyAnswer, TokenUsage]:
        """The next look, or the draft."""
        del ctx  # what to do follows from the view alone
        return next_answer(view), TokenUsage(0, 0)


def next_answer(view: PolicyView) -> PolicyAnswer:
    """What to do next: pure."""
    reading = Reading(view.records)
    assessments = tuple(_assessed(record) for record in view.records if record.tool_call_id in view.due)
    if not view.stop_required:
        calls = _wanted(view, reading)
        if calls:
            return AskTools(calls, assessments)
    return GiveDraft(draft_from(reading), assessments)


def _wanted(view: PolicyView, reading: Reading) -> tuple[WantedCall, ...]:
    """The calls of the next stage that has any: what there is, broad look, ranking, close look."""
    asked = {record.tool_name for record in view.records} | {refused.tool_name for refused in view.refused}
    onset = {} if view.onset_s is None else {"onset": view.onset_s}
    broad: list[tuple[str, Mapping[str, JsonValue]]] = [
        ("estimate_onset", onset),
        ("find_changed_signals", onset),
        ("compare_spans", onset),
        ("list_changes", {}),
    ]
    stages: list[list[tuple[str, Mapping[str, JsonValue]]]] = [
        [("describe_sources", {})],
        [(name, arguments) for name, arguments in broad if reading.worth_asking(name)],
        [("rank_causes", onset)],
        _close_look(reading, onset),
    ]
    offered = {spec.name for spec in view.tools}
    taken = len(view.records) + len(view.refused)
    for stage in stages:
        due = [(name, arguments) for name, arguments in stage if name in offered and name not in asked]
        if due:
            return tuple(
                WantedCall(f"t{taken + place}", name, arguments)
                for place, (name, arguments) in enumerate(due, start=1)
            )
    return ()


def _close_look(
    reading: Reading, onset: Mapping[str, JsonValue]
) -> list[tuple[str, Mapping[str, JsonValue]]]:
    """The signal that speaks most for the strongest candidate, around onset, and who calls it."""
    candidates = reading.candidates()
    if not candidates:
        return []
    entity = candidates[0].item.entity or ""
    looks: list[tuple[str, Mapping[str, JsonValue]]] = []
    signal = reading.strongest_signal(entity)
    if signal is not None:
        looks.append(
            ("inspect_signal", {"entity": signal.entity or entity, "signal": signal.signal, **onset})
        )
    looks.append(("walk_topology", {"entity": entity, "direction": "callers"}))
    return looks


def _assessed(record: EvidenceRecord) -> Assessment:
    """A result helped when it says something that a claim can state."""
    facts: list[Claim] = []
    for item in record.items:
        if len(facts) < FACTS_PER_RESULT and (claim := plain_claim(record, item)) is not None:
            facts.append(claim)
    gain = InformationGain.GAINED if facts else InformationGain.NO_GAIN
    return Assessment(record.tool_call_id, gain, tuple(facts))
