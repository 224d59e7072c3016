"""However a run ends, what is kept of it gives a document that verifies, and a report that is true of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.run_endings import NAMES, play_ending

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.runs.document import document_of
from diagnosis_harness.audit.verification.result import FlawCode
from diagnosis_harness.audit.verification.verify import verify
from diagnosis_harness.kernel.errors import RunDocumentInvalid
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.compose import no_diagnosis
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.document_file import document_bytes
from diagnosis_harness.testing.evidence import projecting_record
from diagnosis_harness.tools.invocation import ErrorCode


@pytest.mark.parametrize("name", NAMES)
def test_however_a_run_ended_its_document_verifies(tmp_path: Path, name: str) -> None:
    """Every check is made and holds, and every record of it is in the report."""
    end = play_ending(tmp_path, name)
    document = document_of(end.row, end.records, end.events)

    verification = verify(document_bytes(document), file="run.json")

    assert verification.verified, [check for check in verification.checks if check.flaws]
    assert document.report.summary
    coverage = document.report.coverage
    listed = {each.tool_call_id for each in (*coverage.asked, *coverage.empty, *coverage.failed)}
    assert listed == {record.tool_call_id for record in end.records}


def codes(document: RunDocument) -> set[str]:
    """What `diagnose verify` objects to."""
    return {
        flaw.code for check in verify(document_bytes(document), file="run").checks for flaw in check.flaws
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_document_has_a_failure_exactly_with_failed(tmp_path: Path, name: str) -> None:
    """A cancel is no failure of the run, whatever its row says to programs."""
    end = play_ending(tmp_path, name)
    release = document_of(end.row, end.records, end.events).release
    assert (release.failure is not None) == (release.outcome is ReleaseOutcome.FAILED)


def test_a_record_whose_store_was_unavailable_is_shown_as_its_run_reported_it(tmp_path: Path) -> None:
    """PROJECTING in the store; the released report says how the call failed, and both verify."""
    end = play_ending(tmp_path, "a tool fails")
    (failed,) = end.records
    assert failed.error_code is ErrorCode.EXECUTION_FAILED
    left = replace(
        projecting_record(failed.tool_call_id),
        key=failed.key,
        run_id=failed.run_id,
        tool_name=failed.tool_name,
        scope=failed.scope,
        caller=failed.caller,
        started_s=failed.started_s,
    )
    document = document_of(end.row, [left], end.events)
    assert document.records[0].error_code == ErrorCode.EXECUTION_FAILED
    assert codes(document) == set()


def test_a_diagnosis_is_not_passed_off_as_another_path(tmp_path: Path) -> None:
    """Its trace altered to say so, with its report and records or without them."""
    end = play_ending(tmp_path, "success")
    document = document_of(end.row, end.records, end.events)
    trace = tuple(
        replace(line, text=line.text.replace("intent=DIAGNOSIS", "intent=SYSTEM_CHAT"))
        for line in document.trace
    )
    assert trace != document.trace
    whole = replace(document, trace=trace)
    emptied = replace(whole.report, causes=(), claims=(), candidates=())
    assert FlawCode.SUMMARY_DIFFERS in codes(replace(whole, records=(), report=emptied))
    another = no_diagnosis(IntentType.SYSTEM_CHAT, whole.run.language)
    assert FlawCode.SUMMARY_DIFFERS in codes(replace(whole, report=another))


def test_an_abandoned_run_counts_what_its_records_show(tmp_path: Path) -> None:
    """At least: a counter below that is objected to."""
    end = play_ending(tmp_path, "given up with a record")
    document = document_of(end.row, end.records, end.events)
    assert document.run.usage_estimated
    fewer = replace(document, run=replace(document.run, usage=()))
    assert codes(fewer) == {FlawCode.COUNTED_TOO_LITTLE}


def test_a_released_diagnosis_without_its_report_is_not_made_up(tmp_path: Path) -> None:
    """What is kept contradicts itself, and that is said."""
    end = play_ending(tmp_path, "success")
    assert end.row.ending is not None
    assert end.row.intent is IntentType.DIAGNOSIS
    row = replace(end.row, ending=replace(end.row.ending, answer={"kind": "DIAGNOSIS"}))
    with pytest.raises(RunDocumentInvalid):
        document_of(row, end.records, end.events)
