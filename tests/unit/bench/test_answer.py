"""What the bench keeps of a published document."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.support import documents

from diagnosis_harness.bench.answer import result_of
from diagnosis_harness.bench.case import Condition
from diagnosis_harness.report.document import RunDocument


def with_ranking(document: RunDocument, **attributes: object) -> RunDocument:
    """The document, with these attributes on the first item of its ranking."""
    records = []
    for record in document.records:
        if record.tool == "rank_causes" and record.stored is not None:
            stored = json.loads(record.stored)
            stored["items"][0]["attributes"] = attributes
            records.append(replace(record, stored=json.dumps(stored)))
        else:
            records.append(record)
    return replace(document, records=tuple(records))


def test_a_success_keeps_its_conclusion_and_what_decided_it() -> None:
    """The cause has its confidence and deciding evidence; its supporting sentences are kept separate."""
    result = result_of(with_ranking(documents.success(), decided_by="resource", margin=0.5))
    (cause,) = result.causes
    assert (cause.entity, cause.decided_by, cause.margin) == ("checkout", "resource", 0.5)
    assert "checkout is the cause" in result.concluded
    assert set(result.concluded.splitlines()) <= set(result.said.splitlines())
    assert result.failed_tools == ("walk_topology",)
    assert result.tool_calls == 4
    assert result.record_bytes > 0


def test_a_fallback_concludes_nothing() -> None:
    """What it says is kept all the same."""
    result = result_of(documents.fallback())
    assert (result.outcome, result.causes, result.concluded) == ("FALLBACK", (), "")
    assert result.fallback
    assert result.said


def test_conditions_say_what_they_shift_and_whether_anything_was_wrong() -> None:
    """Early is negative; healthy windows are three."""
    assert [condition.shift_s for condition in Condition] == [0, -60, 60, -120, 120, 0, 0, 0, 0, 0]
    assert sum(condition.healthy for condition in Condition) == 3
