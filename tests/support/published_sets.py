"""Published data sets in small: hand-written files of the published form, and other truths to plant."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import duckdb

from diagnosis_harness.bench.datasets.nezha import POD_METRICS, Nezha
from diagnosis_harness.bench.datasets.petshop import PetShop
from diagnosis_harness.bench.datasets.rootcausebench import RootCauseBench

SHOP_ID = "low_traffic-train-issue_0"
SHOP_BARE_ID = "temporal_traffic1-test-issue_0"
POD, OTHER = "cart-5f6585d649-fnmft", "web-579b9bff58-t2dbm"
BOUTIQUE_ID = "ob-2022-08-22-03"


def make_petshop(root: Path) -> PetShop:
    """The published layout in small: two incidents, one scenario with a baseline."""
    home = root / "petshop"
    (home / "incidents").mkdir(parents=True)
    (home / "baseline").mkdir()
    rows = [
        "microservice,Front,Front,Pay::Box,Pay::Box",
        "metric,latency,latency,requests,availability",
        "statistic,Average,p90,Sum,Average",
        "unix_timestamp,,,,",
        "1681855320.0,0.1,0.2,5.0,",
        "1681855620.0,0.1,0.2,6.0,99.5",
    ]
    for path in (home / "incidents" / f"{SHOP_ID}.csv.gz", home / "incidents" / f"{SHOP_BARE_ID}.csv.gz"):
        path.write_bytes(gzip.compress("\n".join(rows).encode(), mtime=0))
    normal = rows[:4] + [f"{1693900020 + 300 * n}.0,0.{n},0.3,4.0,99.9" for n in range(9)]
    path = home / "baseline" / "low_traffic.csv.gz"
    path.write_bytes(gzip.compress("\n".join(normal).encode(), mtime=0))
    for scenario in ("low_traffic", "temporal_traffic1"):
        graph = ",Front,Pay::Box,Store\nFront,0,1,0\nPay::Box,0,0,1\nStore,0,0,0\n"
        (home / f"graph-{scenario}.csv").write_text(graph, encoding="utf-8")
    label_petshop(root, cause="Pay::Box", injection="put-parameter searchdelay 500")
    return PetShop(root)


def label_petshop(root: Path, *, cause: str, injection: str) -> None:
    """Write the labels, with whatever truth."""
    alert = {"node": "Front", "metric": "latency", "agg": "Average", "timestamp": 1681855803}
    entries = [
        {"id": name, "alert": alert, "root_cause_service": cause, "injection": injection}
        for name in (SHOP_ID, SHOP_BARE_ID)
    ]
    (root / "petshop" / "labels.json").write_text(json.dumps(entries), encoding="utf-8")


def make_nezha(root: Path) -> Nezha:
    """The published layout in small: one incident with all files."""
    home = root / "nezha"
    for folder, minutes in ((home / "incidents" / BOUTIQUE_ID, 7), (home / "baseline" / "2022-08-22", 40)):
        folder.mkdir(parents=True)
        write_nezha_files(folder, minutes=minutes)
    (home / "baseline" / "2022-08-22" / "dependency.csv").write_text(
        "Source,Target,Weight\nweb,cart,1\ncart,33.33.33.80,1\n", encoding="utf-8"
    )
    label_nezha(root, service="cart", pod=POD, fault="return", detail="A_B")
    return Nezha(root)


PODS = """
    SELECT 1661141000 - 240 + 60 * n AS ts, pod FROM range({minutes}) AS times(n),
        (VALUES ('cart-5f6585d649-fnmft'), ('web-579b9bff58-t2dbm')) AS pods(pod)
"""
FILES = {
    "frontend_sli": """
        SELECT 1661141000 AS ts, 'Frontend' AS ServiceName, 99 AS "SuccessRate(%)", 0.1 AS "LatencyP50(s)",
            0.2 AS "LatencyP90(s)", 0.3 AS "LatencyP95(s)", 0.4 AS "LatencyP99(s)"
    """,
    "edge_latency_destination_50": "SELECT 1661141000 AS ts, 0.05 AS web_cart",
    "edge_latency_source_50": "SELECT 1661141000 AS ts, 0.07 AS web_cart",
    "traces": """
        SELECT * FROM (VALUES
            (1, 1, 0, 'web-579b9bff58-t2dbm', 'GET /', 1661141000000000000, 9000),
            (1, 2, 1, 'cart-5f6585d649-fnmft', 'Get', 1661141000001000000, 4000)
        ) AS spans(trace, span, parent, pod, operation, start_ns, duration_us)
    """,
    "logs": """
        SELECT 1661141000001500000 AS ts_ns, 'cart-5f6585d649-fnmft' AS pod, 1 AS trace, 2 AS span,
            'it''s on' AS message
    """,
}


def write_nezha_files(folder: Path, *, minutes: int) -> None:
    """Metrics of two pods, entry and edge latencies, two spans and a log line."""
    columns = ", ".join(f'{number}.0 AS "{name}"' for number, (name, *_) in enumerate(POD_METRICS, start=1))
    with duckdb.connect(":memory:") as db:
        db.sql(PODS.format(minutes=minutes)).project(f"ts, pod, {columns}").write_parquet(
            str(folder / "metrics.parquet")
        )
        for name, query in FILES.items():
            db.sql(query).write_parquet(str(folder / f"{name}.parquet"))


def label_nezha(root: Path, *, service: str, pod: str, fault: str, detail: str) -> None:
    """Write the labels, with whatever truth."""
    entry = {
        "id": BOUTIQUE_ID,
        "system": "onlineboutique",
        "date": "2022-08-22",
        "inject_time_utc": "2022-08-22 04:02:07",
        "root_cause_service": service,
        "root_cause_pod": pod,
        "fault": fault,
        "root_cause_detail": detail,
    }
    (root / "nezha" / "labels.json").write_text(json.dumps([entry]), encoding="utf-8")


def mislead_petshop(root: Path) -> None:
    """Another node of the graph."""
    label_petshop(root, cause="Store", injection="error")


def mislead_nezha(root: Path) -> None:
    """The other service, and its pod."""
    label_nezha(root, service="web", pod=OTHER, fault="network_delay", detail="GET /")


def poison_petshop(root: Path) -> None:
    """Another truth under the same alerts."""
    label_petshop(root, cause="POISON", injection="POISON")


def poison_nezha(root: Path) -> None:
    """Another truth at the same time."""
    label_nezha(root, service="POISON", pod="POISON", fault="POISON", detail="POISON")


CULPRIT, INNOCENT = "a" * 40, "b" * 40
BENCH_ID = "pool-exhaustion-in-stock"


def make_rootcausebench(root: Path) -> RootCauseBench:
    """The published layout in small: one incident with all files, two hours long."""
    home = root / "rootcausebench"
    folder = home / "incidents" / BENCH_ID
    (folder / "context").mkdir(parents=True)
    metrics = ["timestamp,service,metric,value"] + [
        f"2026-06-20T{minute // 60 + 11}:{minute % 60:02}:00Z,stock,wait_ms,{5 if minute < 100 else 900}"
        for minute in range(121)
    ]
    (folder / "metrics.csv").write_text("\n".join(metrics) + "\n", encoding="utf-8")
    lines = [
        {
            "timestamp": f"2026-06-20T{time}Z",
            "service": service,
            "severity_text": level,
            "msg": message,
            **more,
        }
        for time, service, level, message, more in (
            ("11:05:00", "cart", "INFO", "reserved", {"trace_id": "t0", "http.route": "/reserve"}),
            ("12:42:00", "stock", "ERROR", "pool exhausted", {"trace_id": "t1", "db.pool.max": 10}),
        )
    ]
    (folder / "logs.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    write_json(folder / "traces.json", [
        {"trace_id": "t1", "span_id": "a1", "parent_id": None, "service": "cart", "name": "Reserve",
         "start": "2026-06-20T12:42:00Z", "duration_ms": 900, "status": "ERROR"},
        {"trace_id": "same", "span_id": "b1", "parent_id": "a1", "service": "stock", "name": "Take",
         "start": "2026-06-20T12:42:00Z", "duration_ms": 890, "status": "ERROR", "error": "pool exhausted"},
    ])  # fmt: skip
    write_json(folder / "alert.json", {
        "service": "stock", "metric": "wait_ms", "fired_at": "2026-06-20T12:45:00Z",
        "summary": "slow pool",
    })  # fmt: skip
    write_json(folder / "patterns.json", [{"signature": "pool exhausted", "service": "stock", "count": 1}])
    write_json(folder / "context" / "commits.json", [
        {"sha": sha, "author": "ann", "timestamp": f"2026-06-20T{time}Z", "message": message,
         "files_changed": ["pool.go"], "diff": "-50\n+10"}
        for sha, time, message in ((INNOCENT, "11:10:00", "Tidy"), (CULPRIT, "12:20:00", "Tune"))
    ])  # fmt: skip
    write_json(folder / "context" / "deploys.json", [
        {"timestamp": "2026-06-20T12:35:00Z", "service": "stock", "commit_sha": CULPRIT, "version": "v2"},
        {"timestamp": "2026-06-20T11:12:00Z", "service": "cart", "commit_sha": INNOCENT, "version": "v1"},
    ])  # fmt: skip
    write_json(folder / "context" / "flags.json", [
        {"timestamp": "2026-06-20T12:30:00Z", "flag": "beta", "service": "cart", "change": "off->on",
         "actor": "bo"},
    ])  # fmt: skip
    label_rootcausebench(root, service="stock", commit=CULPRIT, decoys=[INNOCENT])
    return RootCauseBench(root)


def label_rootcausebench(root: Path, *, service: str, commit: str, decoys: list[str]) -> None:
    """Write the labels, with whatever truth."""
    entry = {
        "id": BENCH_ID,
        "difficulty": "hard",
        "root_cause_commit": commit,
        "first_failing_service": service,
        "blast_radius": ["cart"],
        "remediation": "rollback",
        "decoy_deploy_commits": decoys,
        "notes": "The pool was made smaller.",
    }
    write_json(root / "rootcausebench" / "labels.json", [entry])


def mislead_rootcausebench(root: Path) -> None:
    """The other service; commit and decoy change places."""
    label_rootcausebench(root, service="cart", commit=INNOCENT, decoys=[CULPRIT])


def poison_rootcausebench(root: Path) -> None:
    """Another truth about the same incident."""
    label_rootcausebench(root, service="POISON", commit="none", decoys=["POISON"])


def write_json(path: Path, value: object) -> None:
    """Write a JSON file."""
    path.write_text(json.dumps(value), encoding="utf-8")
