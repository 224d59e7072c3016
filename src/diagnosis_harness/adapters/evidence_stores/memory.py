"""Evidence records in memory, for one process."""

from __future__ import annotations

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.tools.invocation import EvidenceRecord


class MemoryEvidenceStore:
    """Stores records for the life of the object. Used from one event loop."""

    def __init__(self) -> None:
        self._records: dict[str, EvidenceRecord] = {}

    async def begin(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Store a PROJECTING record; False if its key exists."""
        del ctx
        if record.key in self._records:
            return False
        self._records[record.key] = record
        return True

    async def finish(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Replace the PROJECTING record of the same key by a final one; False if there is none."""
        del ctx
        stored = self._records.get(record.key)
        if stored is None or stored.invocation is not InvocationStatus.PROJECTING:
            return False
        self._records[record.key] = record
        return True

    async def get(self, ctx: RunContext, key: str) -> EvidenceRecord | None:
        """The record of a key, or None."""
        del ctx
        return self._records.get(key)

    async def of_run(self, ctx: RunContext) -> tuple[EvidenceRecord, ...]:
        """All records of the run, in the order in which they were begun."""
        return tuple(record for record in self._records.values() if record.run_id == ctx.run_id)
