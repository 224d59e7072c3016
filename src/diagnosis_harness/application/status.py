"""The stage a person sees. Emitted by the path as it goes; derived from nothing and no state of anything."""

from __future__ import annotations

from enum import StrEnum

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase


class ChatApplicationStatus(StrEnum):
    """The visible stages (seed: harness-lifecycle-and-states §5)."""

    ROUTING = "ROUTING"
    SYSTEM_RESPONDING = "SYSTEM_RESPONDING"
    KNOWLEDGE_SEARCHING = "KNOWLEDGE_SEARCHING"
    KNOWLEDGE_ANSWERING = "KNOWLEDGE_ANSWERING"
    DIAGNOSIS_RUNNING = "DIAGNOSIS_RUNNING"
    SAFETY_VALIDATING = "SAFETY_VALIDATING"


def emit_status(core: DiagnosisHarnessCore, ctx: RunContext, status: ChatApplicationStatus) -> None:
    """Tell whoever watches the run which stage it is in."""
    core.emit(ctx, TraceName.STATUS, TracePhase.RUN, TraceEventStatus.STARTED, {"stage": status.value})
