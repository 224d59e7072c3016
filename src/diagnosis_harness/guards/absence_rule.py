"""Which tool's empty answer is an absence, of what kind of telemetry, and how its call names what was sought.

An empty answer means something different for each tool: no onset, no such series, nothing to compare. Only
tools that search something, and say how much, can support that nothing was there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from diagnosis_harness.diagnosis.claim import Looked
from diagnosis_harness.diagnosis.inquiry import Telemetry


@dataclass(frozen=True, slots=True)
class AbsenceRule:
    """One tool.

    Attributes:
        looked: what its `looked_at` counts: things of the entity that was asked for and of its instances,
            and of all entities where a thing need not be of any.
        telemetry: the kind that the source must hold.
        entity: the argument that names one entity, or several.
        sought: the argument that names what was searched for; None where nothing narrows the search.
        held_by_entity: whether that kind of telemetry must be held of the entity itself or an instance of it;
            of changes it need not, since a service that was never changed is in no list of changes.
        compares: whether it compares the incident with before, so that its window must be the incident's.
    """

    looked: Looked
    telemetry: Telemetry
    entity: str
    sought: str | None = None
    held_by_entity: bool = True
    compares: bool = False


ABSENCES: Mapping[str, AbsenceRule] = MappingProxyType(
    {
        "search_logs": AbsenceRule(Looked.LOG_LINES, Telemetry.LOGS, "entity", sought="text"),
        "list_changes": AbsenceRule(Looked.CHANGES, Telemetry.CHANGES, "entity", held_by_entity=False),
        "compare_spans": AbsenceRule(Looked.SPANS, Telemetry.SPANS, "entities", compares=True),
        "find_changed_signals": AbsenceRule(Looked.SERIES, Telemetry.METRICS, "entities", compares=True),
    }
)
"""The tools whose empty answer is an absence; that of any other tool supports none."""


def absence_rule(tool_name: str) -> AbsenceRule | None:
    """What an empty answer of a tool supports; None where it is no absence."""
    return ABSENCES.get(tool_name)
