"""Builds the parts of every diagnosis: the boundary around its tools, its loop, its release."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis_harness.application.diagnose import DiagnoseUseCase
from diagnosis_harness.bootstrap.players import Players
from diagnosis_harness.diagnosis.agent import DiagnosisAgent
from diagnosis_harness.diagnosis.collection import CollectionThresholds
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.keys import ToolCallKeyFactory
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.release.pipeline import ReleasePipeline
from diagnosis_harness.settings import Settings
from diagnosis_harness.tools.access import ToolAccess
from diagnosis_harness.tools.boundary import BoundarySettings, ToolBoundary
from diagnosis_harness.tools.spec import ProjectionBounds, Tool
from diagnosis_harness.tools.store import EvidenceStore


def build_boundary(
    core: DiagnosisHarnessCore,
    settings: Settings,
    *,
    tools: Sequence[Tool],
    store: EvidenceStore,
    access: ToolAccess,
) -> ToolBoundary:
    """The tool boundary of one run."""
    return ToolBoundary(
        core,
        tools=tools,
        store=store,
        access=access,
        keys=ToolCallKeyFactory("evidence"),
        settings=BoundarySettings(
            parallel=settings.run.parallel_tools,
            finalise_timeout_s=settings.run.finalise_timeout_s,
            ceiling=ProjectionBounds(settings.projection.items_max, settings.projection.bytes_max),
        ),
    )


def build_use_case(
    core: DiagnosisHarnessCore, settings: Settings, boundary: ToolBoundary, players: Players
) -> DiagnoseUseCase:
    """The diagnosis use case on top of that boundary."""
    thresholds = CollectionThresholds(
        no_gain=settings.progress.no_gain, protocol_violations=settings.progress.protocol_violations
    )

    def agent_for(_: RunContext) -> DiagnosisAgent:
        return DiagnosisAgent(core, policy=players.policy, boundary=boundary, thresholds=thresholds)

    pipeline = ReleasePipeline(core, RoleBoundary(core), players.repairer, players.judge)
    return DiagnoseUseCase(core, agent_for=agent_for, pipeline=pipeline)
