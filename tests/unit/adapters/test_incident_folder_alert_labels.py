"""An alert is about the label that names what the telemetry knows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.ports import Sources

OpenFolder = Callable[[Mapping[str, str | bytes]], Sources]
ROWS = "".join(
    f"2026-05-06T08:{minute:02d}:00Z,{name},latency_p90,{0.2 + minute % 7 / 100}\n"
    for minute in range(60)
    for name in ("orders-db", "checkout")
)
METRICS = "time,entity,signal,value\n" + ROWS


def read_alert_of(
    ctx: RunContext, open_folder: OpenFolder, alert: object, settings: str = ""
) -> tuple[str | None, str]:
    """The entity of an alert that lies beside metrics of orders-db and checkout, and the notes on it."""
    files = {"metrics.csv": METRICS, "alert.json": json.dumps(alert), "incident.toml": settings}
    summary = open_folder(files).summary.summary(ctx)
    return summary.alert.entity, " ".join(each.note for each in summary.files if "another label" in each.note)


def notification(**labels: str) -> object:
    """As Alertmanager sends it."""
    return {
        "status": "firing",
        "alerts": [
            {
                "status": "firing",
                "labels": {"alertname": "SlowQueries", "severity": "critical", **labels},
                "annotations": {"summary": "queries of orders-db take too long"},
                "startsAt": "2026-05-06T08:40:00Z",
            }
        ],
    }


@pytest.mark.parametrize(
    "alert",
    [
        notification(service="rds", db_instance="orders-db"),
        notification(job="cloudwatch", dimension_DBInstanceIdentifier="Orders-DB"),
        {
            "title": "Slow queries",
            "commonLabels": {"alertname": "SlowQueries", "service": "rds"},
            "commonAnnotations": {"summary": "slow", "db_instance_identifier": "orders-db"},
        },
        {"title": "Slow queries", "component": "database", "resource": "orders-db"},
    ],
)
def test_the_label_that_the_data_know_is_the_entity(
    ctx: RunContext, open_folder: OpenFolder, alert: object
) -> None:
    """Whatever key it stands under; the note says so."""
    entity, note = read_alert_of(ctx, open_folder, alert)

    assert entity == "orders-db"
    assert "orders-db" in note


@pytest.mark.parametrize(
    ("alert", "settings", "expected"),
    [
        (notification(service="checkout", upstream="orders-db"), "", "checkout"),
        (notification(service="checkout-service", upstream="orders-db"), "", "checkout-service"),
        (notification(service="rds"), "", "rds"),
        (notification(service="rds", cluster="orders"), "", "rds"),
        (notification(service="shop", db="orders-db"), '[aliases]\nshop = "checkout"\n', "shop"),
        (notification(service="rds", db="orders-db"), '[alert]\nentity = "checkout"\n', "checkout"),
    ],
)
def test_a_name_that_can_be_read_stays(
    ctx: RunContext, open_folder: OpenFolder, alert: object, settings: str, expected: str
) -> None:
    """Known, like a known one, an alias, or stated by a person; and an unknown one where nothing is known."""
    assert read_alert_of(ctx, open_folder, alert, settings) == (expected, "")
