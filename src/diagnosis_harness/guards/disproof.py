"""Defines the query that could contradict a named cause, and evaluates its result. Pure.

A ranking weighs all telemetry at once, and lists of findings are cut. So the strongest other candidate and
the affected entity are each examined alone, with the times of the ranking. If either got worse before the
cause did, it contradicts the cause. The examination may come before or after the ranking: code, not the
agent, chooses which entity is examined and how, so results cannot be cherry-picked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from types import MappingProxyType

from diagnosis_harness.diagnosis.draft import Challenge, Disproof, DisproofResult
from diagnosis_harness.diagnosis.inquiry import Inventory, Telemetry
from diagnosis_harness.guards.answering import CLEAR_Z
from diagnosis_harness.guards.harm import SYMPTOM_KINDS, is_harm
from diagnosis_harness.guards.incident_time import EARLY_S, ORDER_SLACK_S
from diagnosis_harness.guards.levels import explains
from diagnosis_harness.guards.rankings import is_decided_by_signal
from diagnosis_harness.guards.support import began_earlier
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

DISPROVING_TOOLS: Mapping[str, Telemetry] = MappingProxyType(
    {
        "find_changed_signals": Telemetry.METRICS,
        "compare_spans": Telemetry.SPANS,
        "compare_logs": Telemetry.LOGS,
    }
)
"""Tools that compare named entities with the time before, and the telemetry each reads; tools with times
first.

Findings without times rarely contradict a cause, so the agent may not choose which tool is used."""


def challengers_of(ranked: EvidenceItem, ranking: Sequence[EvidenceItem]) -> tuple[str, ...]:
    """The entities to examine to disprove a candidate: the strongest other candidate and the affected entity.

    If the candidate is the affected entity and nothing else is ranked, it examines itself, since it may
    have been unhealthy earlier.
    """
    others = (item.entity for item in ranking if item.entity != ranked.entity and (item.score or 0.0) > 0)
    names = (next(others, None), ranked.peer)
    named = tuple(dict.fromkeys(name for name in names if name not in (None, ranked.entity)))
    return tuple(name for name in named if name) or ((ranked.entity,) if ranked.entity else ())


def is_challenge(record: EvidenceRecord, entity: str, given: Mapping[str, JsonValue]) -> bool:
    """Whether a record examined only this entity, found data for it, and omitted nothing.

    Args:
        given: the times that its call must have been given, and no others.
    """
    found, arguments = record.projection, record.arguments
    if record.tool_name not in DISPROVING_TOOLS or arguments.get("entities") != [entity] or found is None:
        return False
    rest = {name: value for name, value in arguments.items() if name not in ("entities", "calm", "limit")}
    return rest == given and found.looked_at > 0 and not found.omitted


def disproof_of(
    ranked: EvidenceItem,
    records: Sequence[EvidenceRecord],
    observed: Sequence[EvidenceItem],
    inventory: Inventory,
) -> Disproof:
    """The result of trying to disprove a cause with the records of the run.

    Args:
        ranked: the ranking item that the cause is judged by.
        observed: what was observed of the cause at the time of the question.
        inventory: which telemetry exists for which entity, and therefore which tool had to be called.
    """
    source = next((record for record in records if ranked in record.items), None)
    if source is None:
        return Disproof(DisproofResult.NOT_TESTED)
    given = {name: value for name, value in source.arguments.items() if name in ("onset", "until")}
    names = challengers_of(ranked, [i for i in source.items if i.kind is ItemKind.CAUSE_SCORE])
    asked = [(name, _tool_due(name, inventory)) for name in names]
    looks = {
        name: [each for each in records if each.tool_name == tool and is_challenge(each, name, given)]
        for name, tool in asked
    }
    challenges = tuple(_challenge(name, looks[name]) for name in names)
    if any(_contradicts(look, ranked, name, observed) for name in names for look in looks[name]):
        return Disproof(DisproofResult.DISPROVED, challenges)
    is_tested = bool(challenges) and all(each.tool_call_id is not None for each in challenges)
    return Disproof(DisproofResult.HELD if is_tested else DisproofResult.NOT_TESTED, challenges)


def _challenge(entity: str, looks: Sequence[EvidenceRecord]) -> Challenge:
    first = next(iter(looks), None)
    if first is None or first.projection is None:
        return Challenge(entity)
    return Challenge(entity, first.tool_call_id, first.projection.looked_at)


def _tool_due(entity: str, inventory: Inventory) -> str | None:
    """The first tool whose telemetry covers an entity or one of its instances."""
    names = inventory.parts_of(entity) | {entity}
    kinds = {kind for each in inventory.entities if each.name in names for kind in each.telemetry}
    return next((tool for tool, kind in DISPROVING_TOOLS.items() if kind in kinds), None)


def _contradicts(
    look: EvidenceRecord, ranked: EvidenceItem, entity: str, observed: Sequence[EvidenceItem]
) -> bool:
    """Whether a record shows an entity worse before the cause, or with more of the same fault."""
    own = [item for item in observed if ranked.entity in (item.entity, item.attributes.get("owner"))]
    own = [item for item in own if is_harm(item)]
    dated = [item.onset_s for item in own if item.onset_s is not None]
    # Spans began anywhere in the window: a signal that followed them does not date the start of the cause.
    undated = len(dated) < len(own) and not is_decided_by_signal(ranked)
    began_s = ranked.onset_s if undated else min(dated, default=ranked.onset_s)
    most: dict[ItemKind, float] = {}
    for item in own:
        most[item.kind] = max(most.get(item.kind, 0.0), item.score or 0.0)
    for item in look.items:
        if entity not in (item.entity, item.attributes.get("owner")) or not _is_clear_harm(item, ranked):
            continue
        if explains(ranked, item):  # the affected entity is the cause: this is its own explanation
            continue
        if item.onset_s is None:  # spans and lines without a time: more of the same than the cause shows
            if not dated and entity != ranked.peer and (item.score or 0.0) > most.get(item.kind, inf):
                return True
        elif began_s is not None and item.onset_s < began_s - ORDER_SLACK_S:
            return True
    return False


def _is_clear_harm(item: EvidenceItem, ranked: EvidenceItem) -> bool:
    """Whether it clearly got worse, around the onset or, where relevant, at a step long before.

    A step long before the onset does not show in a score, so only a clear one counts. For the affected
    entity any of its symptoms matter. For another candidate only what began within the period in which an
    incident is judged matters: an older problem of its own explains nothing that began now.
    """
    if began_earlier(item):
        if ranked.peer in (item.entity, item.attributes.get("owner")):
            return bool(item.attributes.get("bad")) and item.attributes.get("kind") in SYMPTOM_KINDS
        is_recent = (item.onset_s or 0.0) >= (ranked.onset_s or inf) - EARLY_S
        return bool(item.attributes.get("bad")) and is_recent
    if item.kind is ItemKind.SIGNAL_CHANGE and item.number("z") < CLEAR_Z and not _has_earlier_step(item):
        return False
    return is_harm(item)


def _has_earlier_step(item: EvidenceItem) -> bool:
    """Whether a signal has a clear step before its window; the minutes since then blur its score."""
    window, onset_s = item.window, item.onset_s
    return window is not None and onset_s is not None and onset_s < window.start_s - ORDER_SLACK_S
