"""The system's profile: its configuration, and everything that it may say about itself."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum

from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import TimeWindow

SERVICES_MAX = 100
"""The most names of one source in a profile: players may read it, so it should have only a few kilobytes."""


class TelemetryKind(StrEnum):
    """A kind of content of a source."""

    METRICS = "METRICS"
    LOGS = "LOGS"
    SPANS = "SPANS"
    TOPOLOGY = "TOPOLOGY"
    CHANGES = "CHANGES"


@dataclass(frozen=True, slots=True)
class Holding:
    """The amount of one kind in a source: series, lines, spans, calls between services, or changes."""

    kind: TelemetryKind
    count: int


@dataclass(frozen=True, slots=True)
class SourceProfile:
    """A configured source.

    Attributes:
        window: the time that its telemetry covers; None if unknown.
        services: names of its services and other parts, at most `SERVICES_MAX`, in order.
        services_count: how many there are in all.
    """

    name: str
    holdings: tuple[Holding, ...]
    window: TimeWindow | None = None
    services: tuple[str, ...] = ()
    services_count: int = 0


@dataclass(frozen=True, slots=True)
class ToolProfile:
    """A tool, and one line on what it does; without a Chinese line, Chinese readers get the English one."""

    name: str
    description: str
    description_zh: str | None = None


@dataclass(frozen=True, slots=True)
class PlayerProfile:
    """The player of a role.

    Attributes:
        llm: the language model, or a player of your own; None is the embedded rules.
    """

    role: str
    llm: str | None = None


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The limits of one run that a person may ask about."""

    timeout_s: float
    llm_calls: int
    tool_calls: int


@dataclass(frozen=True, slots=True)
class SystemProfile:
    """The system, its tools, its sources, its runbooks and its players.

    Attributes:
        documents: how many runbooks are indexed; None if no folder of runbooks is configured.
    """

    name: str
    version: str
    tools: tuple[ToolProfile, ...]
    sources: tuple[SourceProfile, ...]
    documents: int | None
    players: tuple[PlayerProfile, ...]
    limits: RunLimits

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its sources and tools."""
        return (*(source.name for source in self.sources), *(tool.name for tool in self.tools))


def profile_json(profile: SystemProfile) -> dict[str, JsonValue]:
    """The profile as a JSON object."""
    plain = json.loads(json.dumps(asdict(profile)))
    return {str(key): value for key, value in plain.items()}
