"""Which store failed, and how; carried by a `StoreFailure`."""

from __future__ import annotations

from enum import StrEnum


class StoreTrouble(StrEnum):
    """Which store failed, and how. Each interface has one sentence for each member."""

    DATABASE_AWAY = "DATABASE_AWAY"  # it does not answer
    DATABASE_FULL = "DATABASE_FULL"  # its disk
    DATABASE_LOCKED = "DATABASE_LOCKED"  # another process holds it
    DATABASE_READ_ONLY = "DATABASE_READ_ONLY"
    DATABASE_FAILED = "DATABASE_FAILED"  # it answers with an error of its own: damaged, refused, unknown
    ROW_UNREADABLE = "ROW_UNREADABLE"  # one row holds what this program cannot read
    EVIDENCE_AWAY = "EVIDENCE_AWAY"  # the evidence store, where it is not the database
    EVIDENCE_FULL = "EVIDENCE_FULL"
    EVIDENCE_READ_ONLY = "EVIDENCE_READ_ONLY"
    EVIDENCE_FAILED = "EVIDENCE_FAILED"
    EVIDENCE_UNREADABLE = "EVIDENCE_UNREADABLE"  # one record
    QUEUE_AWAY = "QUEUE_AWAY"

    @property
    def is_of_evidence(self) -> bool:
        """Whether the evidence store is at fault; the database may still answer."""
        return self in _OF_EVIDENCE


_OF_EVIDENCE = frozenset(each for each in StoreTrouble if each.name.startswith("EVIDENCE_"))
