"""The events of a run's trace: closed sets of names, phases and statuses, and one frozen record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from types import MappingProxyType

from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.masking import mask_or_withhold


class TracePhase(StrEnum):
    """The phase of an event; it organises the timeline and is not a state of the run."""

    RUN = "RUN"
    ROUTING = "ROUTING"
    KNOWLEDGE = "KNOWLEDGE"
    AGENT = "AGENT"
    TOOL = "TOOL"
    GUARD = "GUARD"
    RELEASE = "RELEASE"


class TraceEventStatus(StrEnum):
    """The result that an event reports; never the state of the run."""

    STARTED = "STARTED"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    REJECTED = "REJECTED"
    SKIPPED = "SKIPPED"


class TraceName(StrEnum):
    """What an event reports. The names of the lifecycle document §13 come first, then our own."""

    RUN_STARTED = "RUN_STARTED"
    ROUTING_ATTEMPT = "ROUTING_ATTEMPT"
    ROUTING_DECISION = "ROUTING_DECISION"
    AGENT_MODEL_STEP = "AGENT_MODEL_STEP"
    TOOL_INVOCATION = "TOOL_INVOCATION"
    TOOL_PROGRESS = "TOOL_PROGRESS"
    TOOL_REQUEST_REJECTED = "TOOL_REQUEST_REJECTED"
    COLLECTION_STOP = "COLLECTION_STOP"
    EVIDENCE_GUARD_INITIAL = "EVIDENCE_GUARD_INITIAL"
    EVIDENCE_REPAIR = "EVIDENCE_REPAIR"
    EVIDENCE_GUARD_RECHECK = "EVIDENCE_GUARD_RECHECK"
    SEMANTIC_GUARD_ATTEMPT = "SEMANTIC_GUARD_ATTEMPT"
    SEMANTIC_GUARD_DECISION = "SEMANTIC_GUARD_DECISION"
    RELEASE_DECISION = "RELEASE_DECISION"
    RUN_FINISHED = "RUN_FINISHED"

    STATUS = "STATUS"  # the stage that the person sees
    SOURCE_CHANGED = "SOURCE_CHANGED"  # the source has changed since the run was submitted
    KNOWLEDGE_RETRIEVAL = "KNOWLEDGE_RETRIEVAL"
    KNOWLEDGE_ANSWER = "KNOWLEDGE_ANSWER"
    SYSTEM_ANSWER = "SYSTEM_ANSWER"
    RUN_ENDED = "RUN_ENDED"  # the run's termination, at the time it was set
    RETRY_ATTEMPT = "RETRY_ATTEMPT"
    LLM_CALL = "LLM_CALL"
    TOOL_ABANDONED = "TOOL_ABANDONED"  # still running after its limit or the run ended; nothing waits
    LATE_RESULT_REFUSED = "LATE_RESULT_REFUSED"
    CALLBACK_FAILED = "CALLBACK_FAILED"


@dataclass(frozen=True, slots=True)
class TraceEvent:
    """One thing that happened in one run.

    Attributes:
        seq: position in the run's trace, from 1 without gaps.
        run_id: the run it belongs to.
        at_s: when, in seconds since the epoch, UTC; never earlier than the event before it.
        name: what it reports.
        phase: the part of the run that it belongs to.
        status: the result that it reports.
        payload: small, read-only, and only JSON values (see `bound_payload`).
    """

    seq: int
    run_id: str
    at_s: float
    name: TraceName
    phase: TracePhase
    status: TraceEventStatus
    payload: Mapping[str, JsonValue]


TEXT_MAX = 2000
ITEMS_MAX = 100
DEPTH_MAX = 6
VALUES_MAX = 1000
CUT_MARK = "…"


def bound_payload(payload: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """A small read-only copy of a payload, without secrets.

    Limits: 2,000 characters in a text, 100 items in a collection, 6 levels of nesting and 1,000 values in
    all; anything cut ends in `…`. Later changes to the original have no effect. The trace never carries the
    evidence itself, so cutting loses nothing that is not stored elsewhere.
    """
    return MappingProxyType(_Copy().mapping(payload, 0))


class _Copy:
    """Makes one bounded copy; counts how many values are left."""

    def __init__(self) -> None:
        self._left = VALUES_MAX

    def mapping(self, source: Mapping[str, JsonValue], depth: int) -> dict[str, JsonValue]:
        copied: dict[str, JsonValue] = {}
        for key, item in source.items():
            if len(copied) >= ITEMS_MAX or self._left <= 0:
                copied[CUT_MARK] = len(source) - len(copied)
                break
            copied[_cut(str(key))] = self.value(item, depth + 1)
        return copied

    def value(self, value: JsonValue, depth: int) -> JsonValue:
        self._left -= 1
        if isinstance(value, str):
            return _cut(value)
        if isinstance(value, float) and not isfinite(value):
            return str(value)  # JSON has no number for it
        if value is None or isinstance(value, (bool, int, float)):
            return value
        if depth >= DEPTH_MAX:
            return CUT_MARK
        if isinstance(value, Mapping):
            return self.mapping(value, depth)
        copied: list[JsonValue] = []
        for item in value:
            if len(copied) >= ITEMS_MAX or self._left <= 0:
                copied.append(CUT_MARK)
                break
            copied.append(self.value(item, depth + 1))
        return tuple(copied)


def _cut(text: str) -> str:
    """A masked text of at most `TEXT_MAX` characters.

    The text is masked before it is cut, because half a secret cannot be recognised. A possible half at the
    end of the examined part is removed.
    """
    looked_at = text[: 2 * TEXT_MAX]
    shown = mask_or_withhold(str(looked_at))
    if len(looked_at) < len(text) and len(shown) < TEXT_MAX:
        return shown.rpartition(" ")[0] + CUT_MARK
    return shown if len(shown) <= TEXT_MAX else shown[: TEXT_MAX - 1] + CUT_MARK
