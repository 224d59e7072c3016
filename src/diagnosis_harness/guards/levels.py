"""Computes how far a conclusion goes, its level and scope, from the ranking and from what is cited. Pure.

A level stated by an agent is ignored. A draft that cites less than was found is released at a lower level,
and no draft is released above the level that the evidence supports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from types import MappingProxyType

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.draft import CauseLevel, Disproof, DisproofResult
from diagnosis_harness.diagnosis.item_forms import is_observed_trouble
from diagnosis_harness.guards.harm import is_harm
from diagnosis_harness.guards.rankings import fault_kind_of
from diagnosis_harness.tools.evidence import LIMIT_HELD, EvidenceItem, ItemKind

SCOPE_MOST = 2
"""Maximum number of unseen callees in a scoped conclusion, beside its entity; more would not narrow
anything down."""
TRIGGER_REACH_S = 3_600.0
"""How long before the onset a change may lie to be called its trigger; the analyst lists no older changes."""
LATER_S = 30.0
"""How much later than the onset of the cause a trigger may appear: series start to move at the start of a
step,
and half a minute is the usual step. An alert fires later than that, so its own time does not count."""
FITTING_VERDICTS = frozenset({"candidate", "unread", "uncompared"})
"""Verdicts of a change item that fits the incident (`analysis.change_weight`)."""
_RESOURCES = frozenset({"cpu", "memory", "disk", "queue", "pool", "saturation"})
"""Signal kinds of resources, as signal items name them."""


def _stays_at_limit(item: EvidenceItem) -> bool:
    """Whether a series stays at its limit, whatever it counts."""
    return is_observed_trouble(item) and item.attributes.get("state") == LIMIT_HELD


def _is_ended(item: EvidenceItem) -> bool:
    return is_observed_trouble(item) and not _stays_at_limit(item)


def _is_resource(item: EvidenceItem) -> bool:
    """Whether it belongs to something that can be full."""
    of_signal = item.kind is ItemKind.SIGNAL_CHANGE and item.attributes.get("kind") in _RESOURCES
    return of_signal or _stays_at_limit(item)


def _is_own_line(item: EvidenceItem) -> bool:
    """Whether its entity wrote the lines.

    Entities that write about it (`peer`) report only their own failures.
    """
    return item.kind in (ItemKind.LOG_PATTERN, ItemKind.LOG_ORDER) and item.peer is None


def _is_reported_fault(item: EvidenceItem) -> bool:
    """Whether a report is a fault in itself; failed probes and missing replicas may be passed on.

    Failed probes and too few replicas may come from a dependency.
    """
    by_platform = item.kind is ItemKind.PLATFORM_EVENT and item.attributes.get("severity") == "fault"
    return by_platform or is_observed_trouble(item)


PROOFS: Mapping[str, Callable[[EvidenceItem], bool]] = MappingProxyType(
    {
        "resource": _is_resource,
        "on_the_way": lambda item: item.kind is ItemKind.EDGE_GAP,
        "own_failures": lambda item: item.kind is ItemKind.SPAN_ERRORS,
        "own_lines": _is_own_line,
        "own_time": lambda item: item.kind is ItemKind.SELF_TIME,
        "reported": _is_reported_fault,
    }
)
"""What must be cited of a cause to show that it originates there, by origin (`toolbox.origin.OwnOrigin`)."""


def _uses(*kinds: str) -> Callable[[EvidenceItem], bool]:
    return lambda item: _is_resource(item) and item.attributes.get("kind") in kinds


def _is_report_of(kind: FaultKind) -> Callable[[EvidenceItem], bool]:
    """A filter for items in which a platform, or a line written by the entity, reports this kind of fault."""
    return lambda item: (
        (item.kind is ItemKind.PLATFORM_EVENT or _is_own_line(item))
        and item.attributes.get("fault_kind") == kind.value
    )


def _is_of(*kinds: ItemKind) -> Callable[[EvidenceItem], bool]:
    return lambda item: item.kind in kinds


def _any_of(*proofs: Callable[[EvidenceItem], bool]) -> Callable[[EvidenceItem], bool]:
    return lambda item: any(proof(item) for proof in proofs)


def _never(item: EvidenceItem) -> bool:
    del item  # no item reported by a tool shows that it originates in the entity
    return False


SHOWS_KIND: Mapping[FaultKind, Callable[[EvidenceItem], bool]] = MappingProxyType(
    {
        FaultKind.CPU: _uses("cpu"),
        FaultKind.MEMORY: _any_of(_uses("memory"), _is_report_of(FaultKind.MEMORY)),
        FaultKind.LEAK: _is_report_of(FaultKind.LEAK),
        FaultKind.SATURATION: _any_of(
            _uses("disk", "queue", "pool", "saturation", "other"), _is_report_of(FaultKind.SATURATION)
        ),
        FaultKind.LOCK: _is_report_of(FaultKind.LOCK),
        FaultKind.CRASH: _any_of(_is_report_of(FaultKind.CRASH), _is_ended),
        FaultKind.CONFIGURATION: _is_report_of(FaultKind.CONFIGURATION),
        FaultKind.CODE: _is_report_of(FaultKind.CODE),
        FaultKind.NETWORK: _any_of(_is_of(ItemKind.EDGE_GAP), _is_report_of(FaultKind.NETWORK)),
        FaultKind.ERRORS: _any_of(_is_of(ItemKind.SPAN_ERRORS), _is_own_line),
        FaultKind.LATENCY: _any_of(
            _is_of(ItemKind.SELF_TIME, ItemKind.EDGE_GAP), _is_report_of(FaultKind.LATENCY)
        ),
        FaultKind.TRAFFIC: _never,
        FaultKind.DEPENDENCY: _never,
        FaultKind.UNKNOWN: _never,
    }
)
"""What a cited item must be to show a cause's fault kind; the same item must also show its origin."""


def explains(ranked: EvidenceItem, item: EvidenceItem) -> bool:
    """Whether an item of a cause shows that the trouble originates there, and the named kind of fault."""
    if ranked.entity not in (item.entity, item.attributes.get("owner")) or not is_harm(item):
        return False
    named = str(ranked.attributes.get("origin") or "").split()
    shows_kind = SHOWS_KIND.get(fault_kind_of(ranked), _never)
    return shows_kind(item) and any(PROOFS[name](item) for name in named if name in PROOFS)


def conclusion_level(ranked: EvidenceItem, cited: Iterable[EvidenceItem]) -> CauseLevel:
    """The level of a cause, from the ranking it is judged by and from what the report cites for it."""
    items = tuple(cited)
    if ranked.attributes.get("open") is not False or not any(explains(ranked, item) for item in items):
        return CauseLevel.LOCALISED
    own = [item for item in items if ranked.entity in (item.entity, item.attributes.get("owner"))]
    began_s = min(
        (item.onset_s for item in items if explains(ranked, item) and item.onset_s is not None), default=inf
    )
    triggers = [item for item in own if _is_trigger(item)]
    came_before = any((item.onset_s or 0.0) <= began_s + LATER_S for item in triggers)
    return CauseLevel.TRIGGER if came_before else CauseLevel.EXPLAINED


def level_after_test(level: CauseLevel, disproof: Disproof) -> CauseLevel:
    """The level of a cause after trying to disprove it: untested, it only states where trouble starts."""
    return level if disproof.result is DisproofResult.HELD else CauseLevel.LOCALISED


def scope_of(ranked: EvidenceItem) -> tuple[str, ...]:
    """Where a scoped cause may lie: its unseen callees, or the entity itself if its callees are unknown.

    Empty for a cause that is not scoped.
    """
    if ranked.attributes.get("open") is not True:
        return ()
    unseen: list[str] = []
    while isinstance(name := ranked.attributes.get(f"unseen_{len(unseen) + 1}"), str):
        unseen.append(name)
    return tuple(unseen) or (ranked.entity or "",)


def _is_trigger(item: EvidenceItem) -> bool:
    """A change shortly before the onset that fits, with no other fitting nearly as well."""
    before_s = item.attributes.get("before_onset_s")
    return (
        item.kind is ItemKind.CHANGE_EVENT
        and item.attributes.get("verdict") in FITTING_VERDICTS
        and item.attributes.get("leads") is True
        and isinstance(before_s, int | float)
        and 0 <= before_s <= TRIGGER_REACH_S
    )
