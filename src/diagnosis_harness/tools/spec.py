"""The declaration of a tool: name, parameters and bounds; and what it returns to the boundary."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias, runtime_checkable

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import EvidenceItem

ArgumentValue: TypeAlias = str | int | float | bool | tuple[str, ...]
"""A normalised argument: instants are seconds since the epoch (float), lists of names are sorted tuples."""


class ParameterKind(StrEnum):
    """How an argument is written in a request, and what the tool receives."""

    TEXT = "TEXT"  # str
    ENTITY = "ENTITY"  # str, exactly a name that the telemetry knows
    ENTITIES = "ENTITIES"  # list of such names → sorted tuple[str, ...] without duplicates
    NAMES = "NAMES"  # list of str → sorted tuple[str, ...] without duplicates
    INTEGER = "INTEGER"  # int
    NUMBER = "NUMBER"  # finite float
    FLAG = "FLAG"  # bool
    INSTANT = "INSTANT"  # ISO 8601 text with a zone, or epoch seconds → float seconds


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a tool. `choices` closes a TEXT; `least`/`most` bound a number, both inclusive."""

    name: str
    kind: ParameterKind
    description: str
    required: bool = False
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class ProjectionBounds:
    """How much of a tool's findings a record may hold."""

    items: int = 40
    size_bytes: int = 24_000


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """The declaration by which the boundary admits, bounds and describes a tool.

    Attributes:
        scope_names: permissions a caller needs, e.g. `metrics:read`.
        limit_s: longest a single call may take, inside the time left of the run.
        parallel: calls of this tool at work at a time.
        read_only: declared here, enforced by the boundary, which never runs a tool that is not.
        description_zh: the description for Chinese readers; None shows them the English one.
    """

    name: str
    description: str
    parameters: tuple[Parameter, ...] = ()
    scope_names: tuple[str, ...] = ()
    limit_s: float = 30.0
    parallel: int = 2
    read_only: bool = True
    bounds: ProjectionBounds = ProjectionBounds()
    description_zh: str | None = None


@dataclass(frozen=True, slots=True)
class ToolFindings:
    """What a tool found, before projection.

    Attributes:
        items: strongest first; the projection keeps a prefix. Empty means: nothing in this scope.
        window: what was looked at.
        looked_at: how many units (series, spans, lines …) were examined, so that an empty answer says how
            wide it looked.
        left_out: how many more it found, and did not list since it was asked for fewer or never lists more.
        narrow: how to ask again for what does not fit, one sentence; used when items are left out.
        note: one sentence on limits of this answer (missing baseline, too few points …), or None.
    """

    items: tuple[EvidenceItem, ...]
    window: TimeWindow | None = None
    looked_at: int = 0
    left_out: int = 0
    narrow: str | None = None
    note: str | None = None


class Tool(Protocol):
    """A read-only tool. Synchronous: the boundary runs it in the bounded worker pool."""

    @property
    def spec(self) -> ToolSpec:
        """The declaration."""
        ...

    def run(self, ctx: RunContext, arguments: Mapping[str, ArgumentValue]) -> ToolFindings:
        """Look at the sources, and return findings.

        `arguments` holds validated, normalised values for the given parameters only; an optional one that was
        not given is absent.

        Raises:
            ToolFailure: the source behind it failed. Nothing else, apart from `RunAborted`.
        """
        ...


@runtime_checkable
class KnowsEntities(Protocol):
    """A tool with entity arguments lists the names it knows; the boundary refuses every other name."""

    def entities(self, ctx: RunContext) -> Collection[str]:
        """The names of services and instances that its telemetry knows. Cheap after the first call."""
        ...


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """One tool call that a policy wants. `caller` is set by the application, never by the policy."""

    tool_call_id: str
    tool_name: str
    arguments: Mapping[str, JsonValue]
    caller: str = "local"
