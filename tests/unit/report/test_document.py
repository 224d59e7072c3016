"""The run document refuses what must never be published, and its JSON is exactly its schema."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tests.support import documents

from diagnosis_harness.diagnosis.claim import EvidenceRef
from diagnosis_harness.harness.budget import BudgetUsage, RunBudgetLimits
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.report.counters import counters
from diagnosis_harness.report.document import Counter, Release, RunDocument
from diagnosis_harness.report.schema import document_schema
from diagnosis_harness.report.timeline import timeline
from diagnosis_harness.trace.event import TraceEvent, TraceEventStatus, TraceName, TracePhase

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "run-document.schema.json"


def every_end() -> list[RunDocument]:
    """A document for each way in which a run ends."""
    return [
        documents.success(),
        documents.success(Language.ZH),
        documents.fallback(),
        documents.document_of_cancel(),
        documents.document_of_end(ReleaseOutcome.FAILED, RunState.TIMED_OUT, failure="It took too long."),
    ]


@pytest.mark.parametrize("document", every_end())
def test_a_document_obeys_its_schema(document: RunDocument) -> None:
    """After a round through JSON text, too."""
    jsonschema.validate(json.loads(json.dumps(document.as_json())), document_schema())


@pytest.mark.parametrize("part", ["run", "release", "report", "records", "schema_version"])
def test_the_schema_asks_for_every_part(part: str) -> None:
    """A document that lacks a part is refused."""
    content = documents.success().as_json()
    del content[part]

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, document_schema())


def test_the_schema_allows_nothing_else() -> None:
    """A field that is not in the schema is an error, at any depth."""
    value: Any = documents.success().as_json()
    value["report"]["claims"][0]["confidence"] = 0.9

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(value, document_schema())


def test_the_published_schema_is_the_one_of_the_code() -> None:
    """`make docs` was run after the last change of the document."""
    assert json.loads(PAGE.read_text(encoding="utf-8")) == document_schema()


def test_only_a_success_names_causes() -> None:
    """A cause in a fallback cannot even be built."""
    success = documents.success()

    with pytest.raises(ContractViolation, match="only a success"):
        replace(success, release=Release(ReleaseOutcome.FALLBACK, FallbackType.INSUFFICIENT_EVIDENCE))


def test_a_record_that_failed_cannot_be_cited() -> None:
    """ERROR evidence supports nothing."""
    success = documents.success()
    claim = replace(success.report.claims[0], refs=(EvidenceRef("t4", "i1"),))
    report = replace(success.report, claims=(claim, *success.report.claims[1:]))

    with pytest.raises(ContractViolation, match="t4"):
        replace(success, report=report)


def test_a_claim_without_a_citation_cannot_be_published() -> None:
    """Every sentence links to evidence."""
    with pytest.raises(ContractViolation, match="cites nothing"):
        replace(documents.success().report.claims[0], refs=())


def test_a_cause_rests_on_claims_of_the_report() -> None:
    """A cause whose claims were dropped cannot be published."""
    report = documents.success().report

    with pytest.raises(ContractViolation, match="rests on claims"):
        replace(report, claims=report.claims[2:])


def test_a_number_that_json_cannot_hold_is_never_written() -> None:
    """NaN in a document would make it no JSON at all."""
    success = documents.success()
    document = replace(success, run=replace(success.run, duration_s=float("nan")))

    with pytest.raises(ContractViolation, match="not finite"):
        document.as_json()


@pytest.mark.parametrize("outcome", ReleaseOutcome)
def test_a_fallback_type_exists_exactly_with_a_fallback(outcome: ReleaseOutcome) -> None:
    """No other outcome has one, and no fallback lacks it."""
    is_fallback = outcome is ReleaseOutcome.FALLBACK

    with pytest.raises(ContractViolation):
        Release(outcome, None if is_fallback else FallbackType.INSUFFICIENT_EVIDENCE)


def test_counters_list_all_limits_and_each_tool_that_was_called() -> None:
    """A tool with a limit of its own is measured against that."""
    usage = BudgetUsage(3, 5, {"signal": 4, "rank": 1}, 10, 20, 30, 400, 0)
    limits = RunBudgetLimits(
        llm_calls=40, tool_calls=60, tool_calls_per_tool=20, input_tokens=1000, output_tokens=1000,
        total_tokens=2000, run_bytes=9000, tool_calls_of={"rank": 2},
    )  # fmt: skip

    assert counters(usage, limits) == (
        Counter("llm_calls", 3, 40),
        Counter("tool_calls", 5, 60),
        Counter("input_tokens", 10, 1000),
        Counter("output_tokens", 20, 1000),
        Counter("total_tokens", 30, 2000),
        Counter("run_bytes", 400, 9000),
        Counter("tool_calls", 1, 2, tool="rank"),
        Counter("tool_calls", 4, 20, tool="signal"),
    )


def test_a_line_of_the_timeline_is_short() -> None:
    """Simple values as name=value; a long one is cut."""
    event = TraceEvent(
        1, "r1", documents.START_S, TraceName.TOOL_INVOCATION, TracePhase.TOOL, TraceEventStatus.SUCCEEDED,
        {"tool": "signal", "items": 3, "more": {"left": "out"}, "codes": ("A", "B"), "scope": "x" * 500},
    )  # fmt: skip

    (line,) = timeline([event])

    assert line.at == "2024-01-01T14:00:00Z"
    assert line.text.startswith("tool=signal items=3 codes=A,B scope=xxx")
    assert len(line.text) == 160
