"""Canonical evidence records in the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Select, select, update

from diagnosis_harness.adapters.persistence.database import Database
from diagnosis_harness.adapters.persistence.failures import readable
from diagnosis_harness.adapters.persistence.insertion import insert_if_absent
from diagnosis_harness.adapters.persistence.schema import diagnosis_run, evidence_record
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.kernel.errors import FailureKind, StoreFailure
from diagnosis_harness.kernel.store_trouble import StoreTrouble
from diagnosis_harness.tools.evidence import EvidenceStatus, InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord
from diagnosis_harness.tools.stored import read_stored

_RECORD = evidence_record.c


class SqlEvidenceStore:
    """`EvidenceStore` of one process incarnation.

    A record of a run with a row can begin only while this process owns the run and its log is open. Runs
    without a row, those of the command line, have no such fence.
    """

    def __init__(self, database: Database, *, owner: str) -> None:
        self._database = database
        self._owner = owner

    async def begin(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Store a PROJECTING record; False if its key exists.

        Raises:
            StoreFailure: also if this process no longer owns the run (REJECTED).
        """
        del ctx

        def insert(connection: Connection) -> bool:
            self._check_owner(connection, record.run_id)
            return insert_if_absent(connection, evidence_record, _columns(record))

        return await self._database.write(insert)

    async def finish(self, ctx: RunContext, record: EvidenceRecord) -> bool:
        """Replace the PROJECTING record of the same key by a final one; False if there is none."""
        del ctx
        statement = (
            update(evidence_record)
            .where(_RECORD.key == record.key, _RECORD.invocation == InvocationStatus.PROJECTING.value)
            .values(_columns(record))
        )
        return await self._database.write(lambda connection: connection.execute(statement).rowcount == 1)

    async def get(self, ctx: RunContext, key: str) -> EvidenceRecord | None:
        """The record of a key, or None."""
        del ctx
        return next(
            iter(await _select(self._database, select(evidence_record).where(_RECORD.key == key))), None
        )

    async def of_run(self, ctx: RunContext) -> tuple[EvidenceRecord, ...]:
        """All records of the run, in the order in which they were begun."""
        return await read_records(self._database, ctx.run_id)

    def _check_owner(self, connection: Connection, run_id: str) -> None:
        # A shared lock: tools of one run begin in parallel, and abandoning the run waits for them.
        run = diagnosis_run.c
        query = select(run.owner, run.is_closed).where(run.run_id == run_id).with_for_update(read=True)
        found = connection.execute(query).one_or_none()
        if found is not None and (found.is_closed or found.owner != self._owner):
            raise StoreFailure("this process no longer owns the run", kind=FailureKind.REJECTED)


async def read_records(database: Database, run_id: str) -> tuple[EvidenceRecord, ...]:
    """The records of a run, in the order in which they were begun."""
    return await _select(database, _of_run(run_id))


async def _select(database: Database, query: Select[Any]) -> tuple[EvidenceRecord, ...]:
    rows = await database.read(lambda connection: connection.execute(query).mappings().all())
    return tuple(_record_of_row(row) for row in rows)


def _of_run(run_id: str) -> Select[Any]:
    return select(evidence_record).where(_RECORD.run_id == run_id).order_by(_RECORD.number)


def abandon_records(connection: Connection, run_id: str, *, at_s: float) -> None:
    """End PROJECTING records as ERROR / ABANDONED, in the caller's transaction."""
    query = _of_run(run_id).where(_RECORD.invocation == InvocationStatus.PROJECTING.value)
    for row in connection.execute(query).mappings().all():
        record = _record_of_row(row)
        ended = record.with_error(ErrorCode.ABANDONED, at_s=max(at_s, record.started_s))
        connection.execute(update(evidence_record).where(_RECORD.key == record.key).values(_columns(ended)))


def _record_of_row(columns: Mapping[Any, Any]) -> EvidenceRecord:
    """The record.

    Raises:
        StoreFailure: no program of this version wrote these columns.
    """
    with readable(StoreTrouble.EVIDENCE_UNREADABLE):
        stored = columns["stored"]
        return EvidenceRecord(
            key=columns["key"],
            run_id=columns["run_id"],
            tool_call_id=columns["tool_call_id"],
            tool_name=columns["tool_name"],
            scope=columns["scope"],
            caller=columns["caller"],
            started_s=columns["started_s"],
            invocation=InvocationStatus(columns["invocation"]),
            evidence=None if columns["evidence"] is None else EvidenceStatus(columns["evidence"]),
            projection=None if stored is None else read_stored(bytes(stored)).projection,
            digest=columns["digest"],
            finished_s=columns["finished_s"],
            error_code=None if columns["error_code"] is None else ErrorCode(columns["error_code"]),
        )


def _columns(record: EvidenceRecord) -> dict[str, Any]:
    return {
        "key": record.key,
        "run_id": record.run_id,
        "tool_call_id": record.tool_call_id,
        "tool_name": record.tool_name,
        "scope": record.scope,
        "caller": record.caller,
        "started_s": record.started_s,
        "invocation": record.invocation.value,
        "evidence": None if record.evidence is None else record.evidence.value,
        "stored": None if record.projection is None else record.projection.stored,
        "digest": record.digest,
        "finished_s": record.finished_s,
        "error_code": None if record.error_code is None else record.error_code.value,
    }
