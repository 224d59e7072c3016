"""Verifies a saved run offline: checks everything that can be checked without its sources.

Pure: bytes in, checks out. It trusts this program and the file's stored bytes; docs/explain/verify.md
explains what that proves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from diagnosis_harness.audit.verification.account import account_checks
from diagnosis_harness.audit.verification.inquiry import inquiry_check
from diagnosis_harness.audit.verification.records import restore_records
from diagnosis_harness.audit.verification.report import check_composition, guard_checks
from diagnosis_harness.audit.verification.result import Check, CheckName, Flaw, FlawCode, Verification
from diagnosis_harness.audit.verification.trace import trace_check
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.kernel.errors import RunDocumentInvalid
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.report.document import ROOT_DIGEST, RunDocument, root_digest
from diagnosis_harness.report.document_file import has_byte_form, parse_document
from diagnosis_harness.report.reading import read_document
from diagnosis_harness.report.restore import draft_of
from diagnosis_harness.report.restore_inquiry import inquiry_of_entry

_NOT_CARRIED: Mapping[str, frozenset[CheckName]] = {
    "2": frozenset(
        {
            CheckName.INQUIRY,
            CheckName.CASE,
            CheckName.DISPROOF,
            CheckName.SENTENCES,
            CheckName.SUMMARY,
            CheckName.CANDIDATES,
            CheckName.TRACE,
        }
    ),
    "3": frozenset({CheckName.DISPROOF}),
    "4": frozenset(),
}
"""The checks that each version in `READABLE` lacks the data for."""


def verify(data: bytes, *, file: str) -> Verification:
    """Check a saved run, and list every check, including those that could not be made.

    Args:
        data: the bytes of the file.
        file: its name in error messages.

    Raises:
        InvalidInput: not JSON, no run document, or one of another version.
    """
    content = parse_document(data, file=file)
    read = _read(content)
    lacking = _NOT_CARRIED[str(content["schema_version"])]
    made = {check.name: check for check in _checks(data, content, read)} | {
        name: Check(name, None, carried=False) for name in lacking
    }
    return Verification(
        checks=tuple(made.get(name, Check(name, None)) for name in CheckName),
        root_digest=_actual_digest(content),
        document=None if isinstance(read, Flaw) else read[0],
    )


def is_unaltered(data: bytes, *, file: str) -> bool:
    """Whether a file is byte for byte as saved, by its own root digest, without checking the content.

    Raises:
        InvalidInput: not JSON, no run document, or one of another version.
    """
    content = parse_document(data, file=file)
    if content.get(ROOT_DIGEST) != _actual_digest(content):
        return False
    read = _read(content)
    return not isinstance(read, Flaw) and has_byte_form(data, read[0], stated_digest=content[ROOT_DIGEST])


def _checks(
    data: bytes, content: Mapping[str, JsonValue], read: tuple[RunDocument, DiagnosisDraft] | Flaw
) -> Iterator[Check]:
    actual = _actual_digest(content)
    stated = str(content.get(ROOT_DIGEST))
    wrong = (
        () if stated == actual else (Flaw(FlawCode.ROOT_DIGEST_DIFFERS, ROOT_DIGEST, stated, str(actual)),)
    )
    yield Check(CheckName.ROOT_DIGEST, 1, wrong)
    if isinstance(read, Flaw):
        yield Check(CheckName.SCHEMA, 1, (read,))
        return
    document, draft = read
    yield Check(CheckName.SCHEMA, 1)
    as_written = has_byte_form(data, document, stated_digest=content[ROOT_DIGEST])
    yield Check(CheckName.BYTE_FORM, len(data), () if as_written else (Flaw(FlawCode.OTHER_BYTES, ""),))
    restored = restore_records(document)
    yield from (restored.digests, restored.stored)
    yield inquiry_check(document, restored.records)
    yield from guard_checks(document, draft, restored.records)
    if restored.whole:
        yield from check_composition(document, draft, restored.records)
    yield from account_checks(document)
    yield trace_check(document)


def _read(content: Mapping[str, JsonValue]) -> tuple[RunDocument, DiagnosisDraft] | Flaw:
    """The document and its claims as values, or the flaw that prevents reading them.

    Every check may read the inquiry, so one that cannot be restored is found here.
    """
    try:
        document = read_document(content)
        if document.inquiry is not None:
            inquiry_of_entry(document.inquiry, document.run.question)
        return document, draft_of(document.report)
    except RunDocumentInvalid as error:
        return Flaw(FlawCode.NOT_OF_THE_SCHEMA, error.place, found=error.problem)


def _actual_digest(content: Mapping[str, JsonValue]) -> str | None:
    try:
        return root_digest(content)
    except (TypeError, ValueError):
        return None  # values without a canonical form have no digest
