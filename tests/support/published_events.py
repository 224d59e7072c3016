"""OpenSRE and TVDiag in small: hand-written files of the published form, and other truths to plant."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from tests.support.published_sets import write_json

from diagnosis_harness.bench.datasets.opensre import OpenSre
from diagnosis_harness.bench.datasets.tvdiag import TvDiag

LAG_ID, CRASH_ID = "rds_postgres-001-lag-of-replica", "eks-001-crash"
BASES = ("rds_postgres-000-healthy", "eks-000-healthy")
POD = "shop-7f9dd8b6c4-x7gr9"
EVENT_IDS = ("hotel-0000", "hotel-0002")


def make_opensre(root: Path) -> OpenSre:
    """The published layout in small: a database, a workload, and the healthy base of each suite."""
    for name in (*BASES, LAG_ID, CRASH_ID):
        (root / "opensre-synthetic" / "incidents" / name).mkdir(parents=True)
    (root / "opensre-synthetic" / "labels").mkdir()
    home = root / "opensre-synthetic" / "incidents"
    write_database(home / LAG_ID, home / BASES[0])
    write_cluster(home / CRASH_ID, home / BASES[1])
    for name, notes in (
        (
            BASES[0],
            {"db_instance_identifier": "main", "rds_failure_mode": "healthy", "summary": "All is well."},
        ),
        (
            LAG_ID,
            {"db_instance_identifier": "main", "rds_failure_mode": "lagging", "summary": "Replica is late."},
        ),
        (BASES[1], {"kube_deployment": "shop", "k8s_failure_mode": "healthy", "summary": "All is well."}),
        (CRASH_ID, {"kube_deployment": "shop", "k8s_failure_mode": "crashing", "summary": "A pod restarts."}),
    ):
        title = f"[synthetic] Check of {next(iter(notes.values()))}"
        write_json(home / name / "alert.json", {"title": title, "commonAnnotations": notes})
    label_opensre(root, mode="replication_lag", keyword="wal")
    return OpenSre(root)


def write_database(incident: Path, base: Path) -> None:
    """One series in one file, and in the base one file a series; insights, and events in the base alone."""
    times = [f"2026-03-28T13:0{minute}:00Z" for minute in range(3)]
    lag = {
        "metric_name": "ReplicaLag", "unit": "Seconds", "timestamps": times, "values": [1, 40, 900],
        "dimensions": [{"Name": "DBInstanceIdentifier", "Value": "main-replica-1"}],
    }  # fmt: skip
    write_json(
        incident / "aws_cloudwatch_metrics.json", {"namespace": "AWS/RDS", "metric_data_results": [lag]}
    )
    write_json(base / "aws_cloudwatch_metrics_envelope.json", {"namespace": "AWS/RDS", "period": 60})
    write_json(base / "aws_cloudwatch_metrics_ReplicaLag.json", {**lag, "values": [1, 1, 1]})
    for folder, load in ((incident, 5.2), (base, 0.4)):
        write_json(folder / "aws_performance_insights.json", {
            "db_instance_identifier": "main", "start_time": times[0], "end_time": times[-1],
            "db_load": {"timestamps": times, "values": [0.4, load, load], "unit": "AAS"},
            "top_sql": [{"statement": "INSERT INTO t SELECT 1", "db_load_avg": load, "calls_per_sec": 0.9}],
            "top_wait_events": [{"name": "WAL:Lock", "type": "WAL", "db_load_avg": load}],
        })  # fmt: skip
    write_json(base / "aws_rds_events.json", {"events": [
        {"date": "2026-03-28T05:14:00Z", "message": "Backup finished.", "source_identifier": "main",
         "source_type": "db-instance", "event_categories": ["backup", "maintenance"]},
    ]})  # fmt: skip


def write_cluster(incident: Path, base: Path) -> None:
    """Events, states and a pod's log of the incident; the base has logs, nodes and monitors."""
    pod = {"name": POD, "phase": "Running", "containers": [{"name": "shop", "restart_count": 8}]}
    write_json(incident / "eks_pods.json", {"pods": [pod]})
    write_json(
        base / "eks_pods.json", {"pods": [{**pod, "containers": [{"name": "shop", "restart_count": 0}]}]}
    )
    write_json(incident / "eks_events.json", {"warning_events": [
        {"namespace": "shop", "reason": "BackOff", "message": "Back-off", "type": "Warning", "count": 8,
         "involved_object": f"Pod/{POD}", "first_time": "2026-04-18T10:05:00Z",
         "last_time": "2026-04-18T10:45:00Z"},
    ]})  # fmt: skip
    log = "2026-04-18T10:44:58Z WARN heap in use\n[container terminated with exit code 137]\n"
    write_json(incident / "eks_pod_logs.json", {"pod_name": POD, "logs": log})
    write_json(base / "datadog_logs.json", {"logs": [
        {"timestamp": "2026-04-18T10:15:03Z", "message": "Started", "status": "info", "service": "shop",
         "host": "node-1", "tags": [f"pod_name:{POD}", "env:prod"]},
        {"timestamp": "2026-04-18T10:16:03Z", "message": "GET / 200", "status": "info", "service": "shop",
         "host": POD, "tags": []},
    ]})  # fmt: skip
    write_json(base / "eks_node_health.json", {"nodes": [{"name": "node-1", "ready": "True"}]})
    write_json(
        base / "datadog_monitors.json",
        {
            "monitors": [
                {"name": "errors", "overall_state": "OK", "query": "e > 1", "tags": ["service:shop"]}
            ],
        },
    )


def label_opensre(root: Path, *, mode: str, keyword: str) -> None:
    """Write the labels, with whatever truth about the database and the workload."""
    labels = root / "opensre-synthetic" / "labels"
    for name, key in ((BASES[0], "db_instance_identifier: main"), (BASES[1], "workload_name: shop")):
        (labels / f"{name}.scenario.yml").write_text(f"{key}\nfailure_mode: healthy\n", encoding="utf-8")
        (labels / f"{name}.answer.yml").write_text("root_cause_category: healthy\n", encoding="utf-8")
    for name in (LAG_ID, CRASH_ID):
        scenario = f"base: 000-healthy\nfailure_mode: {mode}\n"
        (labels / f"{name}.scenario.yml").write_text(scenario, encoding="utf-8")
        answer = f"required_keywords:\n  - {keyword}\n  - replica\nforbidden_keywords: [two root causes]\n"
        (labels / f"{name}.answer.yml").write_text(answer, encoding="utf-8")


def mislead_opensre(root: Path) -> None:
    """Each of the two incidents gets what is true of the other kind of system."""
    label_opensre(root, mode="oom_killed", keyword="shop")
    labels = root / "opensre-synthetic" / "labels"
    for name, truth in ((LAG_ID, "workload_name: shop"), (CRASH_ID, "db_instance_identifier: main")):
        scenario = f"{truth}\nfailure_mode: oom_killed\n"
        (labels / f"{name}.scenario.yml").write_text(scenario, encoding="utf-8")


def poison_opensre(root: Path) -> None:
    """Another truth about the same incidents."""
    label_opensre(root, mode="POISON", keyword="POISON")


def make_tvdiag(root: Path) -> TvDiag:
    """The published layout in small: two incidents of one system, out of the order of their ids."""
    (root / "tvdiag-events").mkdir(parents=True)
    label_tvdiag(root, instance="geo-0", fault="network-delay")
    return TvDiag(root)


def label_tvdiag(root: Path, *, instance: str, fault: str) -> None:
    """Write the file, with whatever truth."""
    lines = [
        json.dumps({
            "id": name, "original_split": "test", "root_cause_instance": instance,
            "root_cause_service": instance.rsplit("-", 1)[0], "fault": fault, "start": fault,
            "metric_events": [["geo-0", "cpu_usage", "down"], ["web-0", "10.0.0.1", "threads", "up"]],
            "log_events": [["web-0", "web-0-74"]],
            "trace_events": [["web-0", "geo-0", "/Near", "PD"], ["-1", "web-0", "GET /", "500"]],
            "nodes": ["geo-0", "web-0"], "edges": [[1, 0], [0, 0]],
        })
        for name in reversed(EVENT_IDS)
    ]  # fmt: skip
    text = "\n".join(lines) + "\n"
    (root / "tvdiag-events" / "hotel.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def mislead_tvdiag(root: Path) -> None:
    """The other instance."""
    label_tvdiag(root, instance="web-0", fault="cpu")


def poison_tvdiag(root: Path) -> None:
    """Another truth on the same lines."""
    label_tvdiag(root, instance="POISON-0", fault="POISON")
