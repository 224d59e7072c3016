"""Reports callers and callees around one entity."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from diagnosis_harness.analysis.graph import walk
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.toolbox.arguments import text, whole
from diagnosis_harness.toolbox.views import Views
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, Parameter, ParameterKind, ToolFindings, ToolSpec


@dataclass(frozen=True, slots=True)
class WalkTopology:
    """CALL_EDGE items (entity: callee, peer: caller), nearest first; from all telemetry about calls.

    Attribute `distance`: number of calls from the given entity to this edge, 1 for its own.
    """

    views: Views

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="walk_topology",
            description="Calls around an entity: who calls it, or whom it calls.",
            description_zh="某个实体周围的调用：谁调用它，它调用谁。",
            parameters=(
                Parameter("entity", ParameterKind.ENTITY, "Service or instance.", required=True),
                Parameter(
                    "direction",
                    ParameterKind.TEXT,
                    "callees if left out.",
                    choices=("callers", "callees"),
                ),
                Parameter(
                    "depth", ParameterKind.INTEGER, "Calls to follow, 1 if left out.", least=1, most=10
                ),
            ),
            scope_names=("topology:read",),
        )

    def entities(self, ctx: RunContext) -> Collection[str]:
        """The names that it accepts."""
        return self.views.names(ctx)

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """Return the edges."""
        graph, owners = self.views.graph(ctx)
        asked = text(arguments, "entity") or ""
        entity = owners.get(asked, asked)
        edges = walk(
            graph,
            entity,
            towards_callers=text(arguments, "direction") == "callers",
            depth=whole(arguments, "depth", 1),
        )
        items = tuple(
            EvidenceItem(
                f"e{place}",
                ItemKind.CALL_EDGE,
                f"{display_name(caller)} calls {display_name(callee)}",
                entity=callee,
                peer=caller,
                attributes={"distance": distance},
            )
            for place, (caller, callee, distance) in enumerate(edges, start=1)
        )
        note = None if entity in graph.entities else "the entity is in no known call"
        return ToolFindings(items, looked_at=len(graph.entities), narrow="ask for less depth", note=note)
