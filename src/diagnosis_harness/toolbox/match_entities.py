"""Finds the known services and instances that a text names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.name_match import names_in
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.toolbox.arguments import text
from diagnosis_harness.toolbox.inventory import entity_names
from diagnosis_harness.toolbox.ports import Sources
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, Parameter, ParameterKind, ToolFindings, ToolSpec


@dataclass(frozen=True, slots=True)
class MatchEntities:
    """INVENTORY items, one for each known entity that a text names, in the order of the text.

    `entity` is the name as the telemetry spells it; attribute `mentioned` is True.
    """

    sources: Sources

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="match_entities",
            description="Known services and instances that a text names, such as a question.",
            description_zh="文本（例如问题）中提到的已知服务和实例。",
            parameters=(Parameter("text", ParameterKind.TEXT, "The text.", required=True),),
            scope_names=("sources:read",),
        )

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """Return the names."""
        known = entity_names(ctx, self.sources)
        items = tuple(
            EvidenceItem(
                f"m{place}",
                ItemKind.INVENTORY,
                f"the text names {display_name(name)}",
                entity=name,
                attributes={"telemetry": "entities", "mentioned": True},
            )
            for place, name in enumerate(names_in(text(arguments, "text") or "", known), start=1)
        )
        note = None if items else "the text names no service or instance that the telemetry knows"
        return ToolFindings(items, looked_at=len(known), note=note)
