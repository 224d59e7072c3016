"""The query that would contradict a named cause, and what came of it. Pure; an agent's word does not count.

A ranking weighs all telemetry at once, and lists of findings are cut. So whoever would be named in the
cause's place, the strongest other candidate, and whoever is affected are looked at by themselves, after the
ranking and for the time of the question. Either of them that was worse before the cause contradicts it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from types import MappingProxyType

from diagnosis_harness.diagnosis.draft import Disproof, DisproofResult
from diagnosis_harness.diagnosis.inquiry import Inventory, Telemetry
from diagnosis_harness.guards.answering import CLEAR_Z
from diagnosis_harness.guards.harm import is_harm
from diagnosis_harness.guards.incident_time import ORDER_SLACK_S
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
"""Tools that compare named entities with before, and what each looks at; first those with times.

Findings without times can hardly contradict, so an agent does not choose which of them is asked.
"""


def challengers_of(ranked: EvidenceItem, ranking: Sequence[EvidenceItem]) -> tuple[str, ...]:
    """Whom to look at to disprove a candidate: the strongest other one, and whoever is affected.

    The candidate itself where it is affected and nothing else is ranked: it may have been so before.
    """
    others = (item.entity for item in ranking if item.entity != ranked.entity and (item.score or 0.0) > 0)
    names = (next(others, None), ranked.peer)
    named = tuple(dict.fromkeys(name for name in names if name not in (None, ranked.entity)))
    return tuple(name for name in named if name) or ((ranked.entity,) if ranked.entity else ())


def is_challenge(record: EvidenceRecord, entities: Sequence[str], given: Mapping[str, JsonValue]) -> bool:
    """Whether a record looked at these entities alone, held something of them, and cut nothing off.

    Args:
        given: the arguments that it must have besides, with their values.
    """
    found, arguments = record.projection, record.arguments
    named = arguments.get("entities")
    if record.tool_name not in DISPROVING_TOOLS or not isinstance(named, list) or found is None:
        return False
    rest = {name: value for name, value in arguments.items() if name not in ("entities", "calm")}
    return {*map(str, named)} == {*entities} and rest == given and found.looked_at > 0 and not found.omitted


def disproof_of(
    ranked: EvidenceItem,
    records: Sequence[EvidenceRecord],
    observed: Sequence[EvidenceItem],
    inventory: Inventory,
) -> Disproof:
    """What came of trying to disprove a cause, by the records of the run.

    Args:
        ranked: the ranking's item that the cause is judged by.
        observed: what was observed of the cause at the time of the question.
        inventory: says which telemetry holds something of whom, and so which tools must have been asked.
    """
    place = next((place for place, record in enumerate(records) if ranked in record.items), None)
    if place is None:
        return Disproof(DisproofResult.NOT_TESTED)
    source = records[place]
    entities = challengers_of(ranked, [i for i in source.items if i.kind is ItemKind.CAUSE_SCORE])
    given = {name: value for name, value in source.arguments.items() if name in ("onset", "until")}
    looks = [record for record in records[place + 1 :] if is_challenge(record, entities, given)]
    asked = {look.tool_name for look in looks}
    if not looks or not asked.issuperset(_tools_due(entities, inventory)):
        return Disproof(DisproofResult.NOT_TESTED, entities=entities)
    against = next((look for look in looks if _contradicts(look, ranked, entities, observed)), None)
    result = DisproofResult.HELD if against is None else DisproofResult.DISPROVED
    return Disproof(result, (against or looks[0]).tool_call_id, entities)


def _tools_due(entities: Sequence[str], inventory: Inventory) -> frozenset[str]:
    """Of each entity the first tool whose telemetry holds something of it or of an instance of it."""
    due = set()
    for name in entities:
        names = inventory.parts_of(name) | {name}
        held = {kind for each in inventory.entities if each.name in names for kind in each.telemetry}
        due.add(next((tool for tool, kind in DISPROVING_TOOLS.items() if kind in held), None))
    return frozenset(tool for tool in due if tool is not None)


def _contradicts(
    look: EvidenceRecord, ranked: EvidenceItem, entities: Sequence[str], observed: Sequence[EvidenceItem]
) -> bool:
    """Whether a look shows another entity worse before the cause, or of the same kind and by more."""
    own = [item for item in observed if ranked.entity in (item.entity, item.attributes.get("owner"))]
    own = [item for item in own if is_harm(item)]
    dated = [item.onset_s for item in own if item.onset_s is not None]
    # Spans began somewhere in the window: a signal that followed them does not say when the cause began.
    undated = len(dated) < len(own) and not is_decided_by_signal(ranked)
    began_s = ranked.onset_s if undated else min(dated, default=ranked.onset_s)
    most: dict[ItemKind, float] = {}
    for item in own:
        most[item.kind] = max(most.get(item.kind, 0.0), item.score or 0.0)
    for item in look.items:
        if {item.entity, item.attributes.get("owner")}.isdisjoint(entities) or not _is_clear_harm(item):
            continue
        if explains(ranked, item):  # where the affected is looked at and is the cause: its own explanation
            continue
        if item.onset_s is None:  # spans and lines without a time: more of the same than the cause shows
            is_effect = ranked.peer in (item.entity, item.attributes.get("owner"))
            if not dated and not is_effect and (item.score or 0.0) > most.get(item.kind, inf):
                return True
        elif began_s is not None and item.onset_s < began_s - ORDER_SLACK_S:
            return True
    return False


def _is_clear_harm(item: EvidenceItem) -> bool:
    if item.kind is ItemKind.SIGNAL_CHANGE and item.number("z") < CLEAR_Z:
        return False
    return is_harm(item) or (began_earlier(item) and bool(item.attributes.get("bad")))
