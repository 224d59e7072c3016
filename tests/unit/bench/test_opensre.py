"""OpenSRE: evidence by role, the base for what a scenario lacks, and no answer in the alert."""

from __future__ import annotations

import csv
import json
import tomllib
from pathlib import Path

import pytest
from tests.support.published_events import BASES, CRASH_ID, LAG_ID, POD, make_opensre

from diagnosis_harness.bench.case import Case, Condition
from diagnosis_harness.kernel.errors import InvalidInput


def export(root: Path, incident_id: str) -> Case:
    """One incident as published."""
    return make_opensre(root).export(incident_id, Condition.AS_PUBLISHED, root / "out")


def objects(path: Path) -> list[dict[str, object]]:
    """The rows of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_databases_series_are_metrics_and_its_events_wait(tmp_path: Path) -> None:
    """Series by instance with units, load from the insights; events come from the base."""
    case = export(tmp_path, LAG_ID)
    with (case.folder / "metrics.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[2] == {
        "time": "2026-03-28T13:02:00Z", "entity": "main-replica-1", "signal": "ReplicaLag", "value": "900",
        "unit": "s",
    }  # fmt: skip
    assert {(row["entity"], row["signal"]) for row in rows} == {
        ("main-replica-1", "ReplicaLag"),
        ("main", "db_load"),
    }
    assert objects(case.folder / "events.jsonl")[0]["reason"] == "backup, maintenance"
    top = objects(case.folder / "top_sql.jsonl")
    assert [(row["kind"], row["entity"]) for row in top] == [("statement", "main"), ("wait", "main")]
    assert case.unused == ("top_sql",)
    settings = tomllib.loads((case.folder / "incident.toml").read_text(encoding="utf-8"))
    assert settings["files"] == {"top_sql.jsonl": {"ignore": True}}
    assert case.entities == ("main", "main-replica-1")


def test_a_cluster_has_logs_events_and_states(tmp_path: Path) -> None:
    """Lines belong to their pod, pods to their workload; a line without a time follows the one before."""
    case = export(tmp_path, CRASH_ID)
    logs = objects(case.folder / "logs.jsonl")
    assert [(row["entity"], row["message"]) for row in logs] == [
        (POD, "Started"),
        (POD, "GET / 200"),
        (POD, "heap in use"),
        (POD, "[container terminated with exit code 137]"),
    ]
    assert logs[3]["time"] == logs[2]["time"] == "2026-04-18T10:44:58Z"
    event = objects(case.folder / "events.jsonl")[0]
    assert (event["entity"], event["kind"], event["count"]) == (POD, "pod", 8)
    assert event["message"] == "BackOff: Back-off (8 times)"
    states = objects(case.folder / "states.jsonl")
    assert [(row["kind"], row["entity"]) for row in states] == [
        ("pod", POD), ("node", "node-1"), ("monitor", "shop"),
    ]  # fmt: skip
    assert '"restart_count": 8' in str(states[0]["message"])
    assert {row["time"] for row in states} == {"2026-04-18T10:45:00Z"}  # the end of what is recorded
    assert case.owners == {POD: "shop"}
    assert case.entities == ("node-1", "shop")
    assert case.unused == ()


def test_the_alert_holds_no_answer(tmp_path: Path) -> None:
    """Entity and texts; the published failure mode and the name of the suite stay out."""
    case = export(tmp_path, LAG_ID)
    alert = tomllib.loads((case.folder / "incident.toml").read_text(encoding="utf-8"))["alert"]
    assert alert == {"entity": "main", "summary": "Check of main Replica is late."}


def test_truth_takes_over_what_the_base_says(tmp_path: Path) -> None:
    """The instance is in the base's label; a healthy case has nothing to blame."""
    truths = make_opensre(tmp_path).labels((*BASES, LAG_ID, CRASH_ID))
    assert (truths[LAG_ID].entities, truths[LAG_ID].fault_kind) == (("main",), "replication_lag")
    assert truths[LAG_ID].mechanism == (("wal",), ("replica",))
    assert truths[LAG_ID].forbidden == ("two root causes",)
    assert truths[CRASH_ID].entities == ("shop",)
    assert all(truths[base].usable and not truths[base].entities for base in BASES)


def test_a_label_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    """The incident is unusable, the others are not."""
    data_set = make_opensre(tmp_path)
    path = tmp_path / "opensre-synthetic" / "labels" / f"{LAG_ID}.answer.yml"
    path.write_text("required_keywords: [", encoding="utf-8")
    truths = data_set.labels([LAG_ID, CRASH_ID])
    assert "it is not YAML" in truths[LAG_ID].unusable
    assert truths[CRASH_ID].usable


def test_a_half_written_incident_is_one_sentence(tmp_path: Path) -> None:
    """A series without values names its file."""
    data_set = make_opensre(tmp_path)
    path = tmp_path / "opensre-synthetic" / "incidents" / LAG_ID / "aws_cloudwatch_metrics.json"
    series = {"metric_name": "X", "dimensions": [{"Value": "main"}]}
    path.write_text(json.dumps({"metric_data_results": [series]}), encoding="utf-8")
    with pytest.raises(InvalidInput, match="no timestamps or no values"):
        data_set.export(LAG_ID, Condition.AS_PUBLISHED, tmp_path / "out")
