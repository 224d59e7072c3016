"""Whole runs whose cause is tested: it is confirmed, contradicted, or not tested."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.support.choosing_policy import Call, Shopping, from_records
from tests.support.command_line import command_runner
from tests.support.small_incident import ONSET_S

from diagnosis_harness.diagnosis.draft import CauseLevel, DisproofResult
from diagnosis_harness.guards.verdict import SemanticReason
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import parse_utc
from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.simulator.folder import simulate_folder

BEFORE_S = 1_500.0


def raise_errors_before(folder: Path, entity: str, onset_s: float) -> None:
    """Let a share of the requests to an entity fail from 25 minutes before the onset on."""
    file = folder / "metrics.csv"
    with file.open(newline="") as stream:
        head, *rows = csv.reader(stream)
    for row in rows:
        if row[1:3] == [entity, "error_rate"] and float(row[0]) >= onset_s - BEFORE_S:
            row[3] = f"{float(row[3]) + 0.08:.7g}"
    with file.open("w", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([head, *rows])


@pytest.mark.parametrize("earlier", [False, True])
def test_a_cause_holds_unless_its_effect_was_worse_before(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], earlier: bool
) -> None:
    """The same folder, and with failures of the affected service that began well before the cause."""
    folder = simulate_folder(FaultKind.CPU, seed=3, parent=tmp_path).folder
    onset = "2024-01-09T02:08:00Z"
    if earlier:
        raise_errors_before(folder, "web", parse_utc(onset))
    saved = tmp_path / "run.json"
    command_runner(capfdbinary)(
        "ask", f"why is web slow since {onset}?", "--from", str(folder), "--save", str(saved)
    )
    document: Mapping[str, Any] = json.loads(saved.read_text())
    report = document["report"]
    if not earlier:
        (cause,) = report["causes"]
        assert (cause["level"], cause["disproof"]["result"]) == ("EXPLAINED", "HELD")
        assert [each["entity"] for each in cause["disproof"]["challenges"]] == ["web"]
        assert any("Tried to disprove" in each for each in report["summary"])
        return
    assert report["causes"] == []
    assert report["candidates"][0]["entity"] == "accounts"
    (judged,) = (each for each in document["trace"] if each["name"] == "SEMANTIC_GUARD_DECISION")
    assert SemanticReason.DISPROVED.value in judged["data"]["reasons"]


ONSET: dict[str, JsonValue] = {"onset": ONSET_S}
RANKED: list[Call] = [("find_changed_signals", ONSET), ("rank_causes", ONSET)]
NAMES = ("checkout", "shop")


def looks(*names: str, **more: JsonValue) -> list[Call]:
    """Each of these alone."""
    return [("find_changed_signals", {"entities": [name], **ONSET, **more}) for name in names]


@pytest.mark.parametrize(
    ("queries", "result"),
    [
        (looks("checkout", "shop", "catalog", "stock-db"), DisproofResult.HELD),
        ([], DisproofResult.NOT_TESTED),
        (looks("payment"), DisproofResult.NOT_TESTED),
        (looks("checkout", "shop", "catalog", "stock-db", limit=1), DisproofResult.NOT_TESTED),
        ([("compare_logs", {"entities": [name], **ONSET}) for name in NAMES], DisproofResult.NOT_TESTED),
    ],
    ids=["each alone", "none", "another", "cut", "blind"],
)
def test_a_cause_that_an_agent_did_not_test_only_says_where_it_starts(
    queries: list[Call], result: DisproofResult
) -> None:
    """Whatever else the agent asked; the report says so."""
    _, document = Shopping([*RANKED, *queries], from_records("t1", "t2"), onset_s=ONSET_S).run()
    (cause,) = document.report.causes
    assert cause.disproof is not None
    assert cause.disproof.result is result
    if result is DisproofResult.NOT_TESTED:
        assert cause.level is CauseLevel.LOCALISED
        assert any(each.startswith("Not tested: ") for each in document.report.summary)
