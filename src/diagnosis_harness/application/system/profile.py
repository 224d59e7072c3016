"""The system's profile: how it is configured, and all that it may say about itself."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum

from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import TimeWindow

SERVICES_MAX = 100
"""Names of one source in a profile; players may read it, so it stays within some kilobytes."""


class TelemetryKind(StrEnum):
    """What a source can hold."""

    METRICS = "METRICS"
    LOGS = "LOGS"
    SPANS = "SPANS"
    TOPOLOGY = "TOPOLOGY"
    CHANGES = "CHANGES"


@dataclass(frozen=True, slots=True)
class Holding:
    """How much of one kind a source holds: series, lines, spans, calls between services, or changes."""

    kind: TelemetryKind
    count: int


@dataclass(frozen=True, slots=True)
class SourceProfile:
    """A configured source.

    Attributes:
        window: what its telemetry covers; None where that is not known.
        services: names of services and other parts that it holds, at most `SERVICES_MAX`, in their order.
        services_count: how many there are.
    """

    name: str
    holdings: tuple[Holding, ...]
    window: TimeWindow | None = None
    services: tuple[str, ...] = ()
    services_count: int = 0


@dataclass(frozen=True, slots=True)
class ToolProfile:
    """A tool, and what it does in one line; without a Chinese one, Chinese readers get the English one."""

    name: str
    description: str
    description_zh: str | None = None


@dataclass(frozen=True, slots=True)
class PlayerProfile:
    """Who plays a role.

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
        documents: how many runbooks are indexed; None where no folder of them is configured.
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
