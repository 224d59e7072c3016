"""Defines which tools' empty answers mean absence, for which telemetry, and which arguments name the target.

An empty answer means something different for each tool: no onset, no such series, nothing to compare. Only
a tool that searches for something, and reports how much it searched, can show that it was not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from diagnosis_harness.diagnosis.claim import Looked
from diagnosis_harness.diagnosis.inquiry import Telemetry


@dataclass(frozen=True, slots=True)
class AbsenceRule:
    """The absence rule of one tool.

    Attributes:
        looked: what the tool's `looked_at` counts: things that belong to the requested entity and its
            instances, or to all entities where a thing need not belong to one.
        telemetry: the kind of telemetry that the source must have.
        entity: the argument that names one entity or several.
        sought: the argument that names what was searched for; None if no argument narrows the search.
        held_by_entity: whether the source must have that kind of telemetry for the entity itself or one of
            its instances. Changes do not need this, since a service that never changed is in no list of
            changes.
        compares: whether the tool compares the incident with the time before, so that its window must be
            the incident's.
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
"""The tools whose empty answer means absence. An empty answer of any other tool supports none."""


def absence_rule(tool_name: str) -> AbsenceRule | None:
    """The absence rule of a tool; None if its empty answer does not mean absence."""
    return ABSENCES.get(tool_name)
