"""The stage that users see. The path of a question emits it; it is not derived from other states."""

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
    """Emit the stage that the run is in."""
    core.emit(ctx, TraceName.STATUS, TracePhase.RUN, TraceEventStatus.STARTED, {"stage": status.value})
