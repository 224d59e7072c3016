"""The ports that read and end canonical records of any run."""

from __future__ import annotations

from typing import Protocol

from diagnosis_harness.tools.invocation import EvidenceRecord


class RecordReader(Protocol):
    """Reads the canonical records of any run. A failure is `StoreFailure`."""

    async def records(self, run_id: str) -> tuple[EvidenceRecord, ...]:
        """The run's records, in the order in which they began."""
        ...


class EvidenceArchive(RecordReader, Protocol):
    """Reads records of any run, and ends those of a run whose process is gone."""

    async def abandon(self, run_id: str, *, at_s: float) -> None:
        """End PROJECTING records as ERROR / ABANDONED, and allow no further record of the run.

        Doing it again changes nothing.
        """
        ...
