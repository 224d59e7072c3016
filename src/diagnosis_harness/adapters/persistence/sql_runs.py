"""The common base of the archive and the recovery of runs."""

from __future__ import annotations

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.application.runs.closed_runs import ClosedRuns
from diagnosis_harness.application.runs.evidence_archive import EvidenceArchive


class SqlRuns:
    """Base class of both.

    Args:
        evidence: the store of the records, unless they are in the database.
        closed: notified of every run that ends here and was not executed by this process.
    """

    def __init__(
        self,
        database: Database,
        *,
        evidence: EvidenceArchive | None = None,
        closed: ClosedRuns | None = None,
    ) -> None:
        self._database = database
        self._evidence = evidence
        self._closed = closed or ClosedRuns()
        self._logged: set[str] = set()  # unreadable runs that the log has named
