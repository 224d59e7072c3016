"""A tool that behaves as scripted, behind the real `Tool` contract."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.testing.evidence import WINDOW, change_item
from diagnosis_harness.tools.spec import ArgumentValue, Parameter, ParameterKind, ToolFindings, ToolSpec

ENTITY_ARG = Parameter("entity", ParameterKind.TEXT, "The entity to examine.")


def some_findings() -> ToolFindings:
    """Findings with one item."""
    return ToolFindings(items=(change_item(),), window=WINDOW, looked_at=1)


def no_findings() -> ToolFindings:
    """Findings without any."""
    return ToolFindings(items=(), window=WINDOW, looked_at=1)


@dataclass(slots=True)
class ScriptedTool:
    """Answers every call with `answer()`, and records the arguments of every run in order."""

    answer: Callable[[], ToolFindings] = some_findings
    spec: ToolSpec = field(
        default_factory=lambda: ToolSpec(name="look", description="Looks.", parameters=(ENTITY_ARG,))
    )
    runs: list[dict[str, ArgumentValue]] = field(default_factory=list)

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """The scripted answer."""
        del ctx
        self.runs.append(dict(arguments))
        return self.answer()
