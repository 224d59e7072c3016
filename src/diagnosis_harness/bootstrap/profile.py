"""Builds the profile of the system as wired: for the service, and for a question about a folder."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from diagnosis_harness.application.system.profile import RunLimits, SourceProfile, SystemProfile, ToolProfile
from diagnosis_harness.bootstrap.players import Players
from diagnosis_harness.settings import Settings
from diagnosis_harness.tools.spec import ToolSpec


def system_profile(
    settings: Settings,
    players: Players,
    *,
    tools: Sequence[ToolSpec],
    sources: tuple[SourceProfile, ...],
    documents: int | None,
) -> SystemProfile:
    """The profile; `documents` is the number of indexed runbooks, None if none are configured."""
    return SystemProfile(
        name="diagnosis-harness",
        version=version("diagnosis-harness"),
        tools=tuple(ToolProfile(spec.name, spec.description, spec.description_zh) for spec in tools),
        sources=sources,
        documents=documents,
        players=players.profiles(),
        limits=RunLimits(settings.run.timeout_s, settings.limits.llm_calls, settings.limits.tool_calls),
    )
