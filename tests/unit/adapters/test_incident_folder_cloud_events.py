"""Series and events of a cloud, in the letters of any client, and what is no form at all."""

from __future__ import annotations

import json
from pathlib import Path

from diagnosis_harness.adapters.sources.incident_folder import open_incident_folder
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.ports import Recording

TIMES = [f"2026-03-27T08:{minute:02d}:00Z" for minute in range(15)]


def result(name: str, stat: str, value: float, *, whose: str = "payments-db") -> dict[str, object]:
    """One series as a client in snake case writes it."""
    return {
        "id": f"m_{name.lower()}_{stat.lower()}",
        "label": name,
        "metric_name": name,
        "dimensions": [{"Name": "DBInstanceIdentifier", "Value": whose}],
        "stat": stat,
        "unit": "Percent",
        "timestamps": TIMES,
        "values": [value] * len(TIMES),
    }


def test_results_of_cloudwatch_belong_to_their_dimension_and_are_never_averaged(
    tmp_path: Path, ctx: RunContext
) -> None:
    """Two statistics of one metric are two series; another instance is another entity."""
    results = [
        result("CPUUtilization", "Average", 40.0),
        result("CPUUtilization", "Maximum", 90.0),
        result("CPUUtilization", "Average", 10.0, whose="payments-replica"),
    ]
    (tmp_path / "export.json").write_text(
        json.dumps({"namespace": "AWS/RDS", "metric_data_results": results})
    )
    sources = open_incident_folder(tmp_path)

    assert sources.metrics is not None
    found = {
        (one.entity, float(one.value[0]), one.unit) for one in sources.metrics.series(ctx, Recording.INCIDENT)
    }
    assert found == {
        ("payments-db", 40.0, "percent"),
        ("payments-db", 90.0, "percent"),
        ("payments-replica", 10.0, "percent"),
    }
    (note,) = sources.summary.summary(ctx).files
    assert "averaged" not in note.note
    series = sources.metrics.series(ctx, Recording.INCIDENT)
    assert sorted(one.signal for one in series if one.entity == "payments-db") == [
        "CPUUtilization{id=m_cpuutilization_average,stat=Average}",
        "CPUUtilization{id=m_cpuutilization_maximum,stat=Maximum}",
    ]


def test_results_of_one_query_are_one_series_where_they_agree_and_two_where_not(
    tmp_path: Path, ctx: RunContext
) -> None:
    """A second page goes on, a repeated result adds nothing, and other values are another series."""
    first = result("ReplicaLag", "Maximum", 1.0)
    page = {**first, "timestamps": TIMES[:7], "values": [2.0] * 7}
    rest = {**first, "timestamps": TIMES[7:], "values": [3.0] * 8}
    (tmp_path / "export.json").write_text(json.dumps({"MetricDataResults": [first, first, page, rest]}))
    sources = open_incident_folder(tmp_path)

    assert sources.metrics is not None
    series = sources.metrics.series(ctx, Recording.INCIDENT)
    assert sorted((float(one.value[0]), float(one.value[-1])) for one in series) == [(1.0, 1.0), (2.0, 3.0)]
    assert "averaged" not in sources.summary.summary(ctx).files[0].note


def test_one_result_that_was_saved_alone_is_read(tmp_path: Path, ctx: RunContext) -> None:
    """A file for each metric."""
    (tmp_path / "cpu.json").write_text(json.dumps(result("CPUUtilization", "Average", 40.0)))
    sources = open_incident_folder(tmp_path)

    assert sources.metrics is not None
    (one,) = sources.metrics.series(ctx, Recording.INCIDENT)
    assert (one.entity, one.signal) == ("payments-db", "CPUUtilization")


def test_the_note_of_events_names_no_column_that_is_read(tmp_path: Path, ctx: RunContext) -> None:
    """Reason, count, and the first and last time are read, though no log line has them."""
    event = {
        "reason": "OOMKilling", "message": "Memory cgroup out of memory", "type": "Warning", "count": 3,
        "involved_object": "Pod/cart-7f9dd8b6c4-x7gr9", "first_time": TIMES[0], "last_time": TIMES[4],
    }  # fmt: skip
    (tmp_path / "recorded.json").write_text(json.dumps({"warning_events": [event]}))
    (note,) = open_incident_folder(tmp_path).summary.summary(ctx).files
    assert "not used" not in note.note
    assert "1 line," in note.note


def test_lists_of_events_are_events(tmp_path: Path, ctx: RunContext) -> None:
    """As the AWS command line lists them, and as a tool repeats Kubernetes; pods know their service."""
    aws = {
        "Events": [
            {
                "SourceIdentifier": "payments-db",
                "SourceType": "db-instance",
                "Message": "Multi-AZ instance failover started.",
                "EventCategories": ["failover"],
                "Date": "2026-03-27T08:04:00Z",
            }
        ]
    }
    kube = {
        "warning_events": [
            {
                "reason": "Failed",
                "message": 'Failed to pull image "payments:v2"',
                "type": "Warning",
                "count": 7,
                "involved_object": "Pod/payments-api-9c1d2e3f4-2hk8w",
                "first_time": "2026-03-27T08:05:00Z",
                "last_time": "2026-03-27T08:09:00Z",
            }
        ]
    }
    (tmp_path / "rds.json").write_text(json.dumps(aws))
    (tmp_path / "eks.json").write_text(json.dumps(kube))
    sources = open_incident_folder(tmp_path)

    assert {note.role for note in sources.summary.summary(ctx).files} == {"events"}
    assert sources.logs is not None
    page = sources.logs.search(ctx, Recording.INCIDENT, text=None, entities=None, window=None, limit=9)
    assert {(line.entity, line.level) for line in page.lines} == {
        ("payments-db", "WARN"),
        ("payments-api-9c1d2e3f4-2hk8w", "WARN"),
    }
    assert sources.topology is not None
    assert sources.topology.owners(ctx)["payments-api-9c1d2e3f4-2hk8w"] == "payments-api"
