"""RootCauseBench: documented columns, commits with diffs, the truth, and healthy windows that are."""

from __future__ import annotations

import csv
import json
import tomllib
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from tests.support.published_sets import (
    BENCH_ID,
    CULPRIT,
    INNOCENT,
    label_rootcausebench,
    make_rootcausebench,
    write_json,
)
from tests.unit.bench.test_scoring import A, saying

from diagnosis_harness.bench.case import Case, Condition
from diagnosis_harness.bench.datasets.rootcausebench import MECHANISMS, read_mechanisms
from diagnosis_harness.bench.scoring import judge
from diagnosis_harness.kernel.errors import InvalidInput


def export(root: Path, condition: Condition = Condition.AS_PUBLISHED) -> Case:
    """The one incident, exported."""
    return make_rootcausebench(root).export(BENCH_ID, condition, root / "out")


def objects(path: Path) -> list[dict[str, object]]:
    """The rows of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_files_have_the_documented_columns(tmp_path: Path) -> None:
    """Telemetry and changes are read as they are; patterns wait in a role of their own."""
    case = export(tmp_path)
    with (case.folder / "metrics.csv").open(encoding="utf-8", newline="") as file:
        assert next(csv.DictReader(file)) == {
            "time": "2026-06-20T11:00:00Z", "entity": "stock", "signal": "wait_ms", "value": "5",
        }  # fmt: skip
    assert objects(case.folder / "logs.jsonl")[1] == {
        "time": "2026-06-20T12:42:00Z", "entity": "stock", "level": "ERROR",
        "message": "pool exhausted db.pool.max=10", "trace_id": "t1",
    }  # fmt: skip
    with (case.folder / "changes.csv").open(encoding="utf-8", newline="") as file:
        changes = list(csv.DictReader(file))
    assert [(row["kind"], row["entity"], row["commit"]) for row in changes] == [
        ("deploy", "cart", INNOCENT),
        ("flag", "cart", ""),
        ("deploy", "stock", CULPRIT),
    ]
    assert CULPRIT in changes[2]["summary"]
    assert objects(case.folder / "commits.jsonl")[1]["diff"] == "-50\n+10"
    assert case.unused == ("patterns",)
    assert case.entities == ("cart", "stock")


def test_a_span_of_the_same_trace_gets_its_id(tmp_path: Path) -> None:
    """The published shorthand is written out, so that parent and child meet."""
    spans = objects(export(tmp_path).folder / "traces.jsonl")
    assert [(span["trace_id"], span["parent_id"]) for span in spans] == [("t1", None), ("t1", "a1")]
    assert spans[1]["detail"] == '{"error": "pool exhausted"}'


def test_a_healthy_window_ends_before_the_alert_and_the_services_own_deploys(tmp_path: Path) -> None:
    """The end lies 45 minutes before the alert; with an earlier deploy of the alert's service, there."""
    before_the_alert = export(tmp_path / "one", Condition.HEALTHY_ALERT)
    metrics = (before_the_alert.folder / "metrics.csv").read_text(encoding="utf-8").splitlines()
    assert metrics[-1].startswith("2026-06-20T12:00:00Z")
    assert [row["entity"] for row in objects(before_the_alert.folder / "logs.jsonl")] == ["cart"]
    alert = tomllib.loads((before_the_alert.folder / "incident.toml").read_text(encoding="utf-8"))["alert"]
    assert alert == {"entity": "stock", "signal": "wait_ms", "time": "2026-06-20T11:52:00Z"}

    data_set = make_rootcausebench(tmp_path / "two")
    deploy = {"timestamp": "2026-06-20T11:10:00Z", "service": "stock", "commit_sha": "c", "version": "v"}
    context = tmp_path / "two" / "rootcausebench" / "incidents" / BENCH_ID / "context"
    write_json(context / "deploys.json", [deploy])
    assert data_set.incident_ids(Condition.HEALTHY_ALERT) == ()


def test_truth_names_service_commit_and_decoys(tmp_path: Path) -> None:
    """A commit is the trigger; the word none says that there is no such commit."""
    data_set = make_rootcausebench(tmp_path)
    truth = data_set.labels([BENCH_ID])[BENCH_ID]
    assert (truth.entities, truth.trigger, truth.decoys) == (("stock",), (CULPRIT,), (INNOCENT,))
    assert not truth.without_trigger
    label_rootcausebench(tmp_path, service="", commit="none", decoys=[])
    truth = data_set.labels([BENCH_ID])[BENCH_ID]
    assert truth.without_trigger
    assert truth.trigger == ()
    assert truth.unusable == "the label names no failing service"


def test_a_half_written_incident_is_one_sentence(tmp_path: Path) -> None:
    """The file and the line are named; a healthy window of it is not offered."""
    data_set = make_rootcausebench(tmp_path)
    folder = tmp_path / "rootcausebench" / "incidents" / BENCH_ID
    (folder / "logs.ndjson").write_text('{"timestamp": "2026', encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"logs\.ndjson line 1"):
        data_set.export(BENCH_ID, Condition.AS_PUBLISHED, tmp_path / "out")
    (folder / "metrics.csv").unlink()
    assert data_set.incident_ids(Condition.HEALTHY_ONSET) == ()
    assert data_set.incident_ids() == (BENCH_ID,)


def test_the_words_of_the_mechanisms_are_frozen() -> None:
    """Whoever changes them changes what the figures mean, and has to say so here."""
    assert sha256(MECHANISMS.read_bytes()).hexdigest()[:16] == "33ff46d316b885d0"


def test_mechanisms_are_groups_of_words() -> None:
    """Each incident has at least one group, each group a word, and no word is empty."""
    mechanisms = read_mechanisms(MECHANISMS)
    assert len(mechanisms) == 17
    assert all(groups and all(group and all(group) for group in groups) for groups in mechanisms.values())


@pytest.mark.parametrize(
    ("incident_id", "symptom", "mechanism"),
    [
        (
            "traffic-surge-flash-sale",
            "requests_per_sec of frontend rose from 920 to 5790",
            "a surge of demand",
        ),
        (
            "cache-ttl-stampede",
            "cache_hit_ratio of catalog fell",
            "the TTL of the cache",
        ),
        (
            "inventory-connection-pool-exhaustion",
            "db_pool_connections of stock rose, db_pool_max_conns",
            "the pool is exhausted",
        ),
        ("recommendation-memory-leak", "memory grew until it was OOMKilled", "memory leaks"),
        ("dns-resolver-degradation", "coredns requests rose", "dns answers SERVFAIL"),
        ("grpc-deadline-too-tight", "rpc_client_error_rate rose, timeout", "a deadline of 300 ms"),
        ("noisy-neighbor-node-saturation", "cpu of node-3 rose", "a neighbour starves it"),
        ("cloud-region-impairment", "s3 in region us-east-1", "s3 answers 503"),
        ("auth-jwt-validation-regression", "jwt: token is expired", "tokens without leeway"),
    ],
)
def test_a_symptom_is_no_mechanism(incident_id: str, symptom: str, mechanism: str) -> None:
    """A metric that rose, or a name that it has anyway, tells nothing."""
    truth = replace(A, mechanism=read_mechanisms(MECHANISMS)[incident_id])
    assert judge(saying(concluded=symptom), truth).mechanism is False
    assert judge(saying(concluded=mechanism), truth).mechanism is True


@pytest.mark.data
def test_mechanisms_name_incidents_of_the_set(data_folder: Path) -> None:
    """A misspelt id would silently score nothing."""
    published = {path.name for path in (data_folder / "rootcausebench" / "incidents").iterdir()}
    known = set(read_mechanisms(MECHANISMS))
    assert known <= published or not known & published  # a part of the set may have been put elsewhere
