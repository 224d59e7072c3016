"""What the bench keeps of a published document."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support import documents
from tests.support.hard_worlds import hard_world

from diagnosis_harness.bench.answer import result_of
from diagnosis_harness.bench.case import Condition, NamedChange
from diagnosis_harness.bench.changes import judge_changes
from diagnosis_harness.bench.hard_kinds import truth_of_world
from diagnosis_harness.cli.main import FolderOpener
from diagnosis_harness.cli.whole_path import WholePath
from diagnosis_harness.diagnosis.claim import EvidenceRef, Predicate
from diagnosis_harness.diagnosis.draft import CauseLevel
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.simulator.hard.writing import write_hard_folder


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


def test_the_changes_of_an_answer_are_known_by_their_records(tmp_path: Path) -> None:
    """No sentence holds what was changed; the record that a claim cites does."""
    world = hard_world("config-change")
    folder = tmp_path / "incident"
    write_hard_folder(world, folder)
    result = WholePath(FolderOpener())(folder, None).result
    trigger = world.truth.trigger or ""
    assert trigger
    assert trigger not in result.said
    assert any(trigger in change.text for change in result.changes)
    assert judge_changes(result, truth_of_world(world)).named is True


@pytest.mark.parametrize(
    ("level", "bears", "expected"),
    [
        ("TRIGGER", True, NamedChange("c0ffee1 checkout v2", concluded=True, as_trigger=True)),
        ("EXPLAINED", True, NamedChange("c0ffee1 checkout v2", concluded=True)),
        ("TRIGGER", False, NamedChange("c0ffee1 checkout v2")),
    ],
)
def test_a_change_is_concluded_where_it_bears_a_cause(level: str, bears: bool, expected: NamedChange) -> None:
    """And what set it off only where the cause goes as far as that."""
    document = documents.success()
    (cause,) = document.report.causes
    base = document.report.claims[0]
    record = next(each for each in document.records if each.stored is not None)
    stored = json.loads(record.stored or "")
    change = {
        **stored["items"][0],
        "item_id": "change-1",
        "kind": "CHANGE_EVENT",
        "attributes": {"commit": "c0ffee1", "summary": "checkout v2"},
    }
    stored["items"].append(change)
    claim = replace(
        base,
        claim_id="deployed",
        predicate=Predicate.DEPLOYED,
        refs=(EvidenceRef(record.tool_call_id, "change-1"),),
        quotes=(),
    )
    more = ("deployed",) if bears else ()
    borne = replace(cause, claim_ids=(*cause.claim_ids, *more), level=CauseLevel(level))
    report = replace(document.report, claims=(*document.report.claims, claim), causes=(borne,))
    records = tuple(
        replace(each, stored=json.dumps(stored)) if each is record else each for each in document.records
    )
    assert result_of(replace(document, report=report, records=records)).changes == (expected,)


def test_a_run_without_an_answer_keeps_the_reason() -> None:
    """And an answer has none."""
    assert result_of(documents.document_of_cancel()).reason
    assert result_of(documents.success()).reason == result_of(documents.fallback()).reason == ""
