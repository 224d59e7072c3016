"""The names that the telemetry knows, for questions and for arguments of tools."""

from __future__ import annotations

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.ports import Sources, SourceSummary


def entity_names(ctx: RunContext, sources: Sources) -> frozenset[str]:
    """Every service and instance in the telemetry, as it spells them; cheap after the first call.

    A series of a call, named `a->b`, contributes the names of both ends.
    """
    names = summary_names(sources.summary.summary(ctx))
    if sources.topology is not None:
        for instance, service in sources.topology.owners(ctx).items():
            names.update((instance, service))
        for edge in sources.topology.edges(ctx):
            names.update((edge.caller, edge.callee))
    return frozenset(names.union(*(ends_of(name) for name in names)))


def summary_names(summary: SourceSummary) -> set[str]:
    """The names of a source without those that occur only in its call graph."""
    names = set(summary.entities).union(*summary.entities_by_kind.values())
    return names.union(*(ends_of(name) for name in names))


def askable_names(ctx: RunContext, sources: Sources) -> frozenset[str]:
    """The names that tools accept: the known names, and the entity of the source's alert."""
    alerted = sources.summary.summary(ctx).alert.entity
    return entity_names(ctx, sources) | ({alerted} if alerted is not None else set())


def ends_of(name: str) -> tuple[str, ...]:
    """The two ends of a call that a series is named after (`a->b`); empty for any other name."""
    caller, arrow, callee = name.partition("->")
    return (caller.strip(), callee.strip()) if arrow else ()
