"""The port of the store of canonical records."""

from __future__ import annotations

from typing import Protocol

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.tools.invocation import EvidenceRecord


class EvidenceStore(Protocol):
    """Stores records by key. A failing store raises `StoreFailure` and nothing else."""

    async def begin(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Store a PROJECTING record unless its key exists; False when it does."""
        ...

    async def finish(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Replace the PROJECTING record of the same key by a final one; False when there is none."""
        ...

    async def get(self, ctx: RunContext, key: str) -> EvidenceRecord | None:
        """The record of a key, or None."""
        ...

    async def of_run(self, ctx: RunContext) -> tuple[EvidenceRecord, ...]:
        """All records of the run, in the order in which they began."""
        ...
