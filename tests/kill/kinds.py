"""Every kind of trace event, the question whose run has it, and at which moments a process dies there."""

from __future__ import annotations

from diagnosis_harness.trace.event import TraceName

NEVER = {
    TraceName.SOURCE_CHANGED: (
        "no source is configured here; a run that dies there dies as at the STATUS event just before"
    ),
}
"""Kinds of event that no run of the service has, or none of these tests."""

DELIVERY = "DELIVERY"
"""No event: a delivery of the queue that is in hand and not claimed."""

SCRIPTS = {
    "SYSTEM_ANSWER": "greet",
    "KNOWLEDGE_RETRIEVAL": "consult payment",
    "KNOWLEDGE_ANSWER": "consult payment",
    "TOOL_ABANDONED": "hang",
    "LATE_RESULT_REFUSED": "hang",
    "CALLBACK_FAILED": "burst",
}
GROUPS: dict[str, tuple[str, ...]] = {
    "routed": (
        "RUN_STARTED", "STATUS", "ROUTING_ATTEMPT", "ROUTING_DECISION", "RETRY_ATTEMPT", "LLM_CALL",
    ),
    "looked": (
        "AGENT_MODEL_STEP", "TOOL_INVOCATION", "TOOL_REQUEST_REJECTED", "TOOL_PROGRESS", "COLLECTION_STOP",
        "EVIDENCE_GUARD_INITIAL", "EVIDENCE_REPAIR",
    ),
    "ended": (
        "EVIDENCE_GUARD_RECHECK", "SEMANTIC_GUARD_ATTEMPT", "SEMANTIC_GUARD_DECISION", "RELEASE_DECISION",
        "RUN_ENDED", "RUN_FINISHED",
    ),
    "other": tuple(SCRIPTS),
}  # fmt: skip


def question(kind: str, moment: str) -> str:
    """A question whose run kills its process there."""
    return f"{SCRIPTS.get(kind, 'broad')} dies {kind} {moment}"


def in_turns(kinds: tuple[str, ...], turn: int) -> dict[str, str]:
    """Each kind with one moment, in turns; the other turn has the other moments."""
    moments = ("emitted", "written")
    return {kind: moments[(place + turn) % 2] for place, kind in enumerate(kinds)}
