"""Reads from the records of a run what the embedded players need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from diagnosis_harness.diagnosis.claim import EvidenceRef
from diagnosis_harness.guards.answering import CLEAR_Z
from diagnosis_harness.guards.harm import is_harm
from diagnosis_harness.guards.levels import FITTING_VERDICTS, explains
from diagnosis_harness.guards.support import began_earlier, is_beyond_normal
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

_NEEDS: dict[str, str] = {
    "find_changed_signals": "metrics",
    "compare_spans": "spans",
    "list_changes": "changes",
    "weigh_changes": "changes",
    "compare_logs": "logs",
    "platform_events": "events",
    "search_logs": "logs",
}
"""Tools that are called only if the inventory has their kind of telemetry."""


OBSERVED_KINDS = (
    ItemKind.SIGNAL_CHANGE,
    ItemKind.SELF_TIME,
    ItemKind.EDGE_GAP,
    ItemKind.SPAN_ERRORS,
    ItemKind.LOG_PATTERN,
    ItemKind.LOG_ORDER,
    ItemKind.PLATFORM_EVENT,
    ItemKind.STATE,
)
"""Kinds of items that state an observation of an entity."""
LEAST_NORMAL_S = 1_200.0
"""The shortest recording judged without an onset: twenty points by the minute, three quarters as usual."""
WHOLE_MINUTE_S = 60.0  # people state times to the minute
LATE_SHARE, LATE_MAX_S = 0.25, 3_600.0
"""The share of a recording that counts as its end: the rest must show what is usual. At most an hour is
judged."""
CHANGE_REACH_S = 3_600.0
"""How long before the onset a change is still worth reporting."""
_DECIDING = {
    "metric": (ItemKind.SIGNAL_CHANGE,),
    "resource": (ItemKind.SIGNAL_CHANGE, ItemKind.STATE),
    "self_time": (ItemKind.SELF_TIME,),
    "edge_gap": (ItemKind.EDGE_GAP,),
    "error": (ItemKind.SPAN_ERRORS,),
    "log": (ItemKind.LOG_PATTERN, ItemKind.LOG_ORDER),
    "state": (ItemKind.PLATFORM_EVENT, ItemKind.STATE),
}
"""The kinds of items behind each kind of evidence that may decide a ranking."""
_RESOURCE_OF = {"CPU": "cpu", "MEMORY": "memory"}


@dataclass(frozen=True, slots=True)
class Found:
    """An item with the record that holds it."""

    record: EvidenceRecord
    item: EvidenceItem

    @property
    def ref(self) -> EvidenceRef:
        """The reference to the item."""
        return EvidenceRef(self.record.tool_call_id, self.item.item_id)


class Reading:
    """The findings of a run, by kind and entity."""

    def __init__(self, records: Sequence[EvidenceRecord]) -> None:
        self.records = tuple(records)
        self._found = tuple(Found(record, item) for record in records for item in record.items)

    def of_kind(self, *kinds: ItemKind) -> tuple[Found, ...]:
        """All items of these kinds, in the order of the records, strongest first inside each."""
        return tuple(found for found in self._found if found.item.kind in kinds)

    def worth_asking(self, tool_name: str) -> bool:
        """Whether the inventory has the telemetry that this tool reads; True without an inventory."""
        need = _NEEDS.get(tool_name)
        telemetry = {found.item.attributes.get("telemetry") for found in self.of_kind(ItemKind.INVENTORY)}
        return need is None or not telemetry - {None} or need in telemetry

    def candidates(self) -> tuple[Found, ...]:
        """The candidates of the last ranking that have a name, best first."""
        ranked = [found for found in self.of_kind(ItemKind.CAUSE_SCORE) if found.item.entity]
        last = ranked[-1].record if ranked else None
        return tuple(found for found in ranked if found.record is last)

    def about(self, entity: str, *kinds: ItemKind) -> tuple[Found, ...]:
        """Items about an entity or a part of it, strongest first."""
        return _by_score(
            found
            for found in self.of_kind(*kinds)
            if entity in (found.item.entity, found.item.attributes.get("owner"))
        )

    def harms(self, candidate: EvidenceItem) -> tuple[Found, ...]:
        """The harm at a candidate: first what explains it, then what its kind and its decision point to."""
        harmful = [each for each in self.about(candidate.entity or "", *OBSERVED_KINDS) if is_harm(each.item)]
        decided = _DECIDING.get(str(candidate.attributes.get("decided_by")), ())
        resource = _RESOURCE_OF.get(str(candidate.attributes.get("fault_kind")))

        def weight(each: Found) -> tuple[bool, bool, bool, bool]:
            own = each.item.entity == candidate.entity
            named = resource is not None and each.item.attributes.get("kind") == resource
            return (not explains(candidate, each.item), not named, each.item.kind not in decided, not own)

        return tuple(sorted(harmful, key=weight))

    def steps(self, entity: str) -> tuple[Found, ...]:
        """The signals of an entity that clearly moved and are not known as harmful, strongest first."""
        moved = self.about(entity, ItemKind.SIGNAL_CHANGE)
        named = {each.item.signal for each in moved if is_harm(each.item)}
        return tuple(
            each
            for each in moved
            if clearly_moved(each.item) and each.item.signal not in named and not began_earlier(each.item)
        )

    def recent_changes(self, entity: str) -> tuple[Found, ...]:
        """Changes to an entity or a part of it shortly before the onset, latest first.

        If a tool weighed a change, its item is preferred.
        """
        parts = {each.item.entity for each in self.about(entity, *OBSERVED_KINDS)}
        made = [
            each
            for each in self.of_kind(ItemKind.CHANGE_EVENT)
            if each.item.entity in {entity, *parts} and is_recent_change(each.item)
        ]
        made.sort(
            key=lambda each: (each.item.number("before_onset_s"), "verdict" not in each.item.attributes)
        )
        once = {
            (each.item.entity, each.item.onset_s, each.item.attributes.get("summary")): each
            for each in reversed(made)
        }
        return tuple(reversed(once.values()))

    def strongest_signal(self, candidate: EvidenceItem) -> tuple[str, str] | None:
        """Entity and name of the metric signal that supports a candidate most."""
        for each in self.harms(candidate):
            if each.item.kind is ItemKind.SIGNAL_CHANGE and each.item.entity and each.item.signal:
                return each.item.entity, each.item.signal
        return None

    def alert(self) -> EvidenceItem | None:
        """The alert, from the inventory."""
        inventory = self.of_kind(ItemKind.INVENTORY)
        return next((f.item for f in inventory if f.item.attributes.get("telemetry") == "alert"), None)

    def entity_in_question(self) -> str | None:
        """The entity that the question names first, if the telemetry knows it."""
        inventory = self.of_kind(ItemKind.INVENTORY)
        return next((f.item.entity for f in inventory if f.item.attributes.get("mentioned")), None)

    def onset_of_asked(self) -> float | None:
        """The onset that was estimated from the symptoms of the requested entity."""
        for each in self.of_kind(ItemKind.ONSET):
            asked = each.record.arguments.get("entity")
            is_own = asked is not None and each.item.entity == asked
            if is_own and each.item.attributes.get("method") == "estimated" and each.item.attributes["used"]:
                return each.item.onset_s
        return None

    def late_start(self) -> float | None:
        """The start of the recording's end, which is compared with the rest; None for a short recording."""
        inventory = self.of_kind(ItemKind.INVENTORY)
        windows = (f.item.window for f in inventory if f.item.attributes.get("recording") == "incident")
        window = next(windows, None)
        if window is None or window.duration_s < LEAST_NORMAL_S:
            return None
        start_s = window.end_s - min(LATE_MAX_S, LATE_SHARE * window.duration_s)
        return start_s - start_s % WHOLE_MINUTE_S

    def has_normal_before(self) -> bool:
        """Whether the recording before the onset is at least as long as the part after it that is judged."""
        recorded = [
            found.item.window
            for found in self.of_kind(ItemKind.INVENTORY)
            if found.item.attributes.get("recording") == "incident"
        ]
        judged = [found.item.window for found in self.of_kind(ItemKind.CAUSE_SCORE, ItemKind.SIGNAL_CHANGE)]
        if not recorded or not judged or recorded[0] is None or judged[0] is None:
            return False
        return judged[0].start_s - recorded[0].start_s >= max(judged[0].duration_s, LEAST_NORMAL_S)


def _by_score(found: Iterable[Found]) -> tuple[Found, ...]:
    return tuple(sorted(found, key=lambda each: -(each.item.score or 0.0)))


def is_worth_reporting(item: EvidenceItem) -> bool:
    """Whether an item helps to find the fault: harm, a recent change, a call or an onset."""
    if item.kind in OBSERVED_KINDS:
        return is_harm(item) or began_earlier(item)
    if item.kind is ItemKind.CHANGE_EVENT:
        return is_recent_change(item)
    return True


def clearly_moved(item: EvidenceItem) -> bool:
    """Whether a signal clearly moved, further than in normal operation, harmful or not."""
    return item.kind is ItemKind.SIGNAL_CHANGE and item.number("z") >= CLEAR_Z and is_beyond_normal(item)


def is_recent_change(item: EvidenceItem) -> bool:
    """Whether a change was made shortly before the onset."""
    before_s = item.attributes.get("before_onset_s")
    return isinstance(before_s, int | float) and 0 <= before_s <= CHANGE_REACH_S


def is_fitting_change(item: EvidenceItem) -> bool:
    """Whether a change was weighed and found to fit, and was made shortly before the onset."""
    return item.attributes.get("verdict") in FITTING_VERDICTS and is_recent_change(item)


def deciding_signal(candidate: EvidenceItem) -> tuple[str, str] | None:
    """Entity and name of the metric signal that decided a ranking; None if something else decided it.

    The region of such a candidate is the signal, or `instance/signal` if only one instance shows it.
    """
    if ItemKind.SIGNAL_CHANGE not in _DECIDING.get(str(candidate.attributes.get("decided_by")), ()):
        return None
    region, instance = candidate.attributes.get("region"), candidate.attributes.get("instance")
    if not isinstance(region, str) or candidate.entity is None:
        return None
    if isinstance(instance, str):
        return instance, region.removeprefix(f"{instance}/")
    return candidate.entity, region
