"""Which of the known services and instances a text names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.toolbox.arguments import text
from diagnosis_harness.toolbox.inventory import entity_names
from diagnosis_harness.toolbox.ports import Sources
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.spec import ArgumentValue, Parameter, ParameterKind, ToolFindings, ToolSpec

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

_LEAST_LETTERS = 3
_SEPARATORS = re.compile(r"[-_./\s]+")


@dataclass(frozen=True, slots=True)
class MatchEntities:
    """INVENTORY items, one for each known entity that a text names, in the order of the text.

    `entity` is the name as the telemetry has it; attribute `mentioned` is True.
    """

    sources: Sources

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        return ToolSpec(
            name="match_entities",
            description="Known services and instances that a text names, such as a question.",
            parameters=(Parameter("text", ParameterKind.TEXT, "The text.", required=True),),
            scope_names=("sources:read",),
        )

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """The names."""
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


def names_in(asked: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known names that stand in a text as whole words, first named first; the longest of nested ones.

    Case does not count, nor how the words of a name are joined: `order service` names `order-service`. Names
    of fewer than three letters are not looked for.
    """
    held = _fold(asked)
    found: list[tuple[int, int, str]] = []
    for name in sorted(known):
        folded = _fold(name)
        if len(folded.strip()) >= _LEAST_LETTERS and folded in held:
            # A name may touch Chinese characters, which are written without spaces, and no other letter.
            pattern = rf"(?<![a-z0-9]){re.escape(folded)}(?![a-z0-9])"
            found.extend((each.start(), each.end(), name) for each in re.finditer(pattern, held))
    chosen: list[tuple[int, int, str]] = []
    for start, end, name in sorted(found, key=lambda each: (each[0] - each[1], each[0], each[2])):
        if all(end <= taken or start >= until for taken, until, _ in chosen):
            chosen.append((start, end, name))
    return tuple(dict.fromkeys(name for _, _, name in sorted(chosen)))


def _fold(name: str) -> str:
    return _SEPARATORS.sub(" ", name.casefold())
