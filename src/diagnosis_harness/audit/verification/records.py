"""Checks the records of a saved run (digests, sizes, stored bytes), and rebuilds the records from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from diagnosis_harness.audit.verification.result import Check, CheckName, Flaw, FlawCode
from diagnosis_harness.kernel.canonical import digest
from diagnosis_harness.kernel.errors import RunDocumentInvalid, StoredBytesInvalid
from diagnosis_harness.report.document import RecordEntry, RunDocument
from diagnosis_harness.report.restore import arguments_of, restore_record
from diagnosis_harness.report.window import Window
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.tools.invocation import EvidenceRecord
from diagnosis_harness.tools.stored import StoredFindings, read_stored


@dataclass(frozen=True, slots=True)
class RestoredRecords:
    """The records that could be built from a document; `whole` if none is missing."""

    records: tuple[EvidenceRecord, ...]
    digests: Check
    stored: Check

    @property
    def whole(self) -> bool:
        """Whether every record of the document was built."""
        return len(self.records) == self.stored.looked_at


def restore_records(document: RunDocument) -> RestoredRecords:
    """Build every record from its stored bytes; an invalid one is left out and reported as a flaw."""
    records: list[EvidenceRecord] = []
    stored_flaws: list[Flaw] = []
    for number, entry in enumerate(document.records):
        record, flaws = _restore(entry, f"records[{number}]", document.run.run_id)
        stored_flaws += flaws
        if record is not None:
            records.append(record)
    count = len(document.records)
    return RestoredRecords(
        records=tuple(records),
        digests=Check(CheckName.RECORD_DIGESTS, count, tuple(_digest_flaws(document))),
        stored=Check(CheckName.STORED_BYTES, count, tuple(stored_flaws)),
    )


def _digest_flaws(document: RunDocument) -> Iterator[Flaw]:
    seen: set[str] = set()
    for number, entry in enumerate(document.records):
        place = f"records[{number}]"
        if entry.tool_call_id in seen:
            yield Flaw(FlawCode.RECORD_TWICE, f"{place}.tool_call_id", entry.tool_call_id)
        seen.add(entry.tool_call_id)
        data = None if entry.stored is None else entry.stored.encode()
        if (entry.status is InvocationStatus.READY) != (data is not None):
            yield Flaw(FlawCode.RECORD_INCOMPLETE, f"{place}.stored", entry.status.value)
        actual = None if data is None else digest(data)
        if entry.digest != actual:
            yield Flaw(FlawCode.RECORD_DIGEST_DIFFERS, f"{place}.digest", str(entry.digest), str(actual))
        size = len(data or b"")
        if entry.size_bytes != size:
            yield Flaw(FlawCode.RECORD_SIZE_DIFFERS, f"{place}.size_bytes", str(entry.size_bytes), str(size))


def _restore(entry: RecordEntry, place: str, run_id: str) -> tuple[EvidenceRecord | None, list[Flaw]]:
    found: StoredFindings | None = None
    flaws: list[Flaw] = []
    if entry.stored is not None:
        try:
            found = read_stored(entry.stored.encode())
        except StoredBytesInvalid as error:
            return None, [Flaw(FlawCode.STORED_BYTES_INVALID, f"{place}.stored", found=str(error))]
        flaws = list(_belongs(entry, place, found))
    try:
        arguments_of(entry, place)
        record = restore_record(entry, place, run_id=run_id, found=found)
    except RunDocumentInvalid as error:
        return None, [*flaws, Flaw(FlawCode.RECORD_IMPOSSIBLE, error.place, found=error.problem)]
    return (None if flaws else record), flaws


def _belongs(entry: RecordEntry, place: str, found: StoredFindings) -> Iterator[Flaw]:
    """Stored bytes name their call; bytes of another call are not evidence for this record."""
    for name, stated, actual in (
        ("tool", entry.tool, found.tool_name),
        ("scope", entry.scope, found.scope),
        ("window", _text(entry.window), _text(Window.of(found.projection.window))),
    ):
        if stated != actual:
            yield Flaw(FlawCode.STORED_FOR_ANOTHER_CALL, f"{place}.{name}", stated, actual)


def _text(window: Window | None) -> str:
    return "null" if window is None else f"{window.start} {window.end}"
