"""The canonical record of one tool call, and the only moves it can make.

    begin ──► PROJECTING ──► READY   (EVIDENCE_FOUND | NO_EVIDENCE)
                        └──► ERROR   (ERROR, with a code)

READY and ERROR are final. A record cannot be built in any other shape (seed: harness-lifecycle-and-states
§7).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import StrEnum

from diagnosis_harness.kernel.canonical import digest
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import EvidenceItem, EvidenceStatus, InvocationStatus


class ErrorCode(StrEnum):
    """Why a call that had begun failed."""

    EXECUTION_FAILED = "EXECUTION_FAILED"
    MEMORY_LIMIT = "MEMORY_LIMIT"  # the telemetry that it needs does not fit into the configured memory
    TIMED_OUT = "TIMED_OUT"
    MASKING_FAILED = "MASKING_FAILED"  # what the tool found could not be masked and was thrown away
    PROJECTION_FAILED = "PROJECTION_FAILED"
    TOO_LARGE = "TOO_LARGE"
    BUDGET_EXHAUSTED = "BUDGET_EXHAUSTED"
    STORE_FAILED = "STORE_FAILED"
    RUN_ENDED = "RUN_ENDED"
    ABANDONED = "ABANDONED"  # its start may have been stored after the run, or the wait for it, had ended


_LEGAL = {
    (InvocationStatus.PROJECTING, None),
    (InvocationStatus.READY, EvidenceStatus.EVIDENCE_FOUND),
    (InvocationStatus.READY, EvidenceStatus.NO_EVIDENCE),
    (InvocationStatus.ERROR, EvidenceStatus.ERROR),
}


@dataclass(frozen=True, slots=True)
class Projection:
    """The stored part of a tool's findings: the items, what was left out, and the exact bytes."""

    items: tuple[EvidenceItem, ...]
    omitted: int
    looked_at: int
    window: TimeWindow | None
    narrow: str | None
    note: str | None
    stored: bytes


@dataclass(frozen=True, slots=True)
class EvidenceRecord:
    """One stored tool call.

    Attributes:
        key: store key, made of prefix, run id and tool call id.
        scope: the normalised request as canonical JSON text; equal text is an exact repeat.
        stored: canonical JSON of the projection; `digest` is over exactly these bytes.
    """

    key: str
    run_id: str
    tool_call_id: str
    tool_name: str
    scope: str
    caller: str
    started_s: float
    invocation: InvocationStatus
    evidence: EvidenceStatus | None
    projection: Projection | None = None
    digest: str | None = None
    finished_s: float | None = None
    error_code: ErrorCode | None = None

    def __post_init__(self) -> None:
        if (self.invocation, self.evidence) not in _LEGAL:
            raise ContractViolation(f"no record is {self.invocation} with {self.evidence}")
        ready = self.invocation is InvocationStatus.READY
        if ready != (self.projection is not None) or ready != (self.digest is not None):
            raise ContractViolation("a record has a projection and its digest exactly when it is READY")
        if (self.error_code is not None) != (self.invocation is InvocationStatus.ERROR):
            raise ContractViolation("a record has an error code exactly when it is ERROR")
        if (self.finished_s is None) != (self.invocation is InvocationStatus.PROJECTING):
            raise ContractViolation("a record is finished exactly when it is READY or ERROR")
        if self.projection is not None:
            found = EvidenceStatus.EVIDENCE_FOUND if self.projection.items else EvidenceStatus.NO_EVIDENCE
            if self.evidence is not found:
                raise ContractViolation("EVIDENCE_FOUND means at least one item, NO_EVIDENCE none")

    @property
    def items(self) -> tuple[EvidenceItem, ...]:
        """The evidence items; none unless READY with EVIDENCE_FOUND."""
        return self.projection.items if self.projection else ()

    @property
    def arguments(self) -> dict[str, JsonValue]:
        """What the call asked for, by the argument's name."""
        parsed: JsonValue = json.loads(self.scope)
        return parsed if isinstance(parsed, dict) else {}

    @property
    def size_bytes(self) -> int:
        """Stored bytes; zero unless READY."""
        return len(self.projection.stored) if self.projection else 0

    def ready(self, projection: Projection, *, at_s: float) -> EvidenceRecord:
        """The record as READY.

        Raises:
            ContractViolation: the record is final already.
        """
        self._must_be_open()
        status = EvidenceStatus.EVIDENCE_FOUND if projection.items else EvidenceStatus.NO_EVIDENCE
        return replace(
            self,
            invocation=InvocationStatus.READY,
            evidence=status,
            projection=projection,
            digest=digest(projection.stored),
            finished_s=at_s,
        )

    def with_error(self, code: ErrorCode, *, at_s: float) -> EvidenceRecord:
        """The record as ERROR.

        Raises:
            ContractViolation: the record is final already.
        """
        self._must_be_open()
        return replace(
            self,
            invocation=InvocationStatus.ERROR,
            evidence=EvidenceStatus.ERROR,
            error_code=code,
            finished_s=at_s,
        )

    def _must_be_open(self) -> None:
        if self.invocation is not InvocationStatus.PROJECTING:
            raise ContractViolation(f"a record that is {self.invocation} is final")
