"""Reads the path of a question from the run's trace. Pure.

A line without data comes from an older document. Only text that no agent can influence is read from it: the
stage, which is the whole line, and the router's choice from a closed set, which begins its line.
"""

from __future__ import annotations

from collections.abc import Iterable

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.status import ChatApplicationStatus
from diagnosis_harness.report.trace_line import TraceLine
from diagnosis_harness.trace.event import TraceName, TracePhase


def was_routed(trace: Iterable[TraceLine]) -> bool:
    """Whether the run reached its router; runs of the command line have none."""
    return any(line.phase is TracePhase.ROUTING or _begins_routing(line) for line in trace)


def _begins_routing(line: TraceLine) -> bool:
    if line.name is not TraceName.STATUS:
        return False
    stage = ChatApplicationStatus.ROUTING
    return line.text == f"stage={stage}" if line.data is None else line.text_of("stage") == stage


def find_routed_intent(trace: Iterable[TraceLine]) -> IntentType | None:
    """The path that the router chose; None if it chose none."""
    for line in trace:
        if line.name is TraceName.ROUTING_DECISION:
            if line.data is None:
                return next((each for each in IntentType if line.text.startswith(f"intent={each} ")), None)
            intent = line.text_of("intent")
            return IntentType(intent) if intent in set(IntentType) else None
    return None
