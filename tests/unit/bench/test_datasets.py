"""Exporters: plain folders with opaque names, and nothing of the truth in any of their bytes."""

from __future__ import annotations

import csv
import gzip
import tomllib
from pathlib import Path

import duckdb
import pytest
from tests.support.published_sets import (
    BOUTIQUE_ID,
    OTHER,
    POD,
    SHOP_BARE_ID,
    SHOP_ID,
    label_petshop,
    make_nezha,
    make_petshop,
)

from diagnosis_harness.bench.case import Case, Condition
from diagnosis_harness.bench.datasets.catalog import NAMES, data_set
from diagnosis_harness.bench.datasets.nezha import read_onsets, service_of
from diagnosis_harness.bench.datasets.petshop import read_alerts
from diagnosis_harness.kernel.errors import InvalidInput


def parquet(path: Path) -> tuple[list[str], list[tuple[object, ...]]]:
    """Columns and rows of a Parquet file."""
    with duckdb.connect(":memory:") as db:
        table = db.read_parquet(str(path))
        return table.columns, table.fetchall()


def table(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def toml(case: Case) -> dict[str, dict[str, object]]:
    """The settings of an exported folder."""
    return tomllib.loads((case.folder / "incident.toml").read_text(encoding="utf-8"))


def test_petshop_becomes_a_long_table_with_clean_names(tmp_path: Path) -> None:
    """Metric and statistic make the signal; empty cells are gone."""
    case = make_petshop(tmp_path).export(SHOP_ID, Condition.AS_PUBLISHED, tmp_path / "out")
    rows = table(case.folder / "metrics.csv")
    assert {(row["entity"], row["signal"], row["unit"]) for row in rows} == {
        ("Front", "latency_average", "s"),
        ("Front", "latency_p90", "s"),
        ("Pay::Box", "requests_sum", "count"),
        ("Pay::Box", "availability_average", "percent"),
    }
    assert len(rows) == 7
    assert rows[0] == {
        "time": "1681855320.0",
        "entity": "Front",
        "signal": "latency_average",
        "value": "0.1",
        "unit": "s",
    }


def test_petshop_alert_holds_what_the_task_gives(tmp_path: Path) -> None:
    """Node, metric, statistic and time; no onset, for none is published."""
    settings = toml(make_petshop(tmp_path).export(SHOP_ID, Condition.AS_PUBLISHED, tmp_path / "out"))
    assert settings["alert"] == {
        "entity": "Front",
        "signal": "latency",
        "statistic": "average",
        "time": "2023-04-18T22:10:03Z",
    }
    assert set(settings["incident"]) == {"name", "zone"}


def test_petshop_scenarios_with_and_without_baseline_are_distinguished(tmp_path: Path) -> None:
    """A baseline folder where there is one, shared by name, and the group says so."""
    shop = make_petshop(tmp_path)
    with_one, without = (
        shop.export(name, Condition.AS_PUBLISHED, tmp_path / "out") for name in (SHOP_ID, SHOP_BARE_ID)
    )
    assert with_one.baseline is not None
    assert (with_one.baseline / "metrics.csv").exists()
    assert toml(with_one)["baseline"]["folder"] == f"../{with_one.baseline.name}"
    assert without.baseline is None
    assert (with_one.group, with_one.scenario) == ("with baseline", "low_traffic")
    assert (without.group, without.scenario) == ("no baseline", "temporal_traffic1")


def test_petshop_leaves_the_alerting_node_out_of_what_can_be_blamed(tmp_path: Path) -> None:
    """Nodes of graph and metrics, without the one that alerted."""
    case = make_petshop(tmp_path).export(SHOP_ID, Condition.AS_PUBLISHED, tmp_path / "out")
    assert case.entities == ("Pay::Box", "Store")
    assert case.left_out == {"Front"}
    calls = [(row["caller"], row["callee"]) for row in table(case.folder / "topology.csv")]
    assert calls == [("Front", "Pay::Box"), ("Pay::Box", "Store")]


def test_petshop_kinds_of_fault_come_from_the_injecting_command(tmp_path: Path) -> None:
    """The command names what was done."""
    shop = make_petshop(tmp_path)
    kinds = {}
    for command in (
        "put searchdelay 500",
        "put errormode1 true",
        "issue_dynamo_db_requests 800",
        "sleep(500",
    ):
        label_petshop(tmp_path, cause="x", injection=command)
        kinds[command] = shop.labels([SHOP_ID])[SHOP_ID].fault_kind
    assert list(kinds.values()) == ["delay", "errors", "throttling", "delay"]


def test_petshop_file_with_other_headers_is_refused(tmp_path: Path) -> None:
    """A file that is not of the published form is one clear sentence."""
    shop = make_petshop(tmp_path)
    path = tmp_path / "petshop" / "incidents" / f"{SHOP_ID}.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2\n3,4\n5,6\n"))
    with pytest.raises(InvalidInput, match="other header rows"):
        shop.export(SHOP_ID, Condition.AS_PUBLISHED, tmp_path / "out")


def test_nezha_metrics_keep_pods_and_get_clean_names(tmp_path: Path) -> None:
    """Pods, the entry and the callee of a call are entities; units are normalised."""
    case = make_nezha(tmp_path).export(BOUTIQUE_ID, Condition.AS_PUBLISHED, tmp_path / "out")
    _, rows = parquet(case.folder / "metrics.parquet")
    found = {(entity, signal): (value, unit) for _, entity, signal, value, unit in rows}
    assert found[POD, "cpu_cores"] == (pytest.approx(0.001), "cores")
    assert found[POD, "memory_bytes"] == (3.0 * 1024 * 1024, "bytes")
    assert found[OTHER, "latency_p90"] == (10.0, "s")
    assert found["frontend", "success_percent"] == (99.0, "percent")
    assert found["cart", "latency_p50_from_web"] == (0.05, "s")
    assert found["cart", "client_latency_p50_from_web"] == (0.07, "s")
    assert len(rows) == 2 * 7 * 19 + 5 + 2


def test_nezha_spans_and_logs_have_the_documented_columns(tmp_path: Path) -> None:
    """A root has no parent, and units of time are said."""
    case = make_nezha(tmp_path).export(BOUTIQUE_ID, Condition.AS_PUBLISHED, tmp_path / "out")
    columns, spans = parquet(case.folder / "traces.parquet")
    assert columns == ["trace_id", "span_id", "parent_id", "entity", "operation", "start", "duration"]
    assert [row[2] for row in spans] == [None, 1]
    columns, lines = parquet(case.folder / "logs.parquet")
    assert columns == ["time", "entity", "message", "trace_id", "span_id"]
    assert lines == [(1661141000001500000, POD, "it's on", 1, 2)]
    assert toml(case)["files"] == {
        "traces.parquet": {"time_unit": "ns", "duration_unit": "us"},
        "logs.parquet": {"time_unit": "ns"},
    }


def test_nezha_alert_holds_the_onset_only(tmp_path: Path) -> None:
    """The published time in UTC, and nothing else."""
    settings = toml(make_nezha(tmp_path).export(BOUTIQUE_ID, Condition.AS_PUBLISHED, tmp_path / "out"))
    assert settings["alert"] == {"time": "2022-08-22T04:02:07Z"}
    assert settings["incident"]["onset"] == "2022-08-22T04:02:07Z"


def test_nezha_states_no_time_outside_of_the_recording(tmp_path: Path) -> None:
    """It begins 167 s before the onset, then only 107 s: a minute early can be asked about, two cannot."""
    data_set = make_nezha(tmp_path)
    data_set.export(BOUTIQUE_ID, Condition.ONSET_120_EARLY, tmp_path / "out")
    metrics = tmp_path / "nezha" / "incidents" / BOUTIQUE_ID / "metrics.parquet"
    with duckdb.connect(":memory:") as db:
        db.execute(f"CREATE TABLE kept AS SELECT * FROM '{metrics}' WHERE ts >= 1661140820")
        db.execute(f"COPY kept TO '{metrics}' (FORMAT parquet)")
    data_set.export(BOUTIQUE_ID, Condition.ONSET_60_EARLY, tmp_path / "later")
    with pytest.raises(InvalidInput, match="120 s before its onset nothing is recorded"):
        data_set.export(BOUTIQUE_ID, Condition.ONSET_120_EARLY, tmp_path / "later")


def test_nezha_topology_has_calls_and_pods_but_no_machines(tmp_path: Path) -> None:
    """A dependency on an address is no call; spans of the normal minute are."""
    case = make_nezha(tmp_path).export(BOUTIQUE_ID, Condition.AS_PUBLISHED, tmp_path / "out")
    assert [tuple(row.values()) for row in table(case.folder / "topology.csv")] == [
        ("web", "cart", "calls"),
        (POD, "cart", "part_of"),
        (OTHER, "web", "part_of"),
    ]
    assert case.entities == ("cart", "web")


@pytest.mark.parametrize(
    ("pod", "service"),
    [
        ("ts-food-service-f5756978c-6sb8t", "ts-food-service"),
        ("ts-travel2-service-5c66d57d58-zxw8n", "ts-travel2-service"),
        ("ts-train-food-service-59bbbdd99b-b67ts", "ts-train-food-service"),
        ("frontend", "frontend"),
        ("ts-station-food-service", "ts-station-food-service"),
    ],
)
def test_pods_belong_to_their_service(pod: str, service: str) -> None:
    """The endings of replica set and pod go, and nothing else."""
    assert service_of(pod) == service


def test_published_facts_come_without_the_truth(tmp_path: Path) -> None:
    """The functions that read the labels for the exporters return types with no room for a truth."""
    make_petshop(tmp_path)
    make_nezha(tmp_path)
    alert = read_alerts(tmp_path / "petshop" / "labels.json")[SHOP_ID]
    assert repr(alert) == (
        "PublishedAlert(time_s=1681855803.0, entity='Front', signal='latency', statistic='average',"
        " direction=None, summary=None)"
    )
    assert read_onsets(tmp_path / "nezha" / "labels.json") == {BOUTIQUE_ID: 1661140927.0}


@pytest.mark.parametrize("name", sorted(NAMES))
def test_missing_data_are_one_clear_sentence(tmp_path: Path, name: str) -> None:
    """A folder without the data set is refused before anything is written."""
    with pytest.raises(InvalidInput, match="holds no incidents"):
        data_set(name, tmp_path).incident_ids()


def test_unknown_data_set_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    """The sentence names what there is."""
    with pytest.raises(InvalidInput, match="choose one of nezha, opensre-synthetic, petshop"):
        data_set("petstore", tmp_path)


@pytest.mark.data
@pytest.mark.parametrize("name", sorted(NAMES))
def test_real_labels_are_among_what_can_be_blamed(data_folder: Path, tmp_path: Path, name: str) -> None:
    """On the public data: a few incidents export, and each root cause is an entity of its case."""
    exporter = data_set(name, data_folder)
    ids = exporter.incident_ids()
    labels = exporter.labels(exporter.incident_ids())
    assert set(ids) == set(labels)
    for incident_id in ids[:: len(ids) // 5]:
        case = exporter.export(incident_id, Condition.AS_PUBLISHED, tmp_path)
        assert set(labels[incident_id].entities) <= set(case.entities)
    for condition in Condition:
        for incident_id in exporter.incident_ids(condition)[:1]:
            case = exporter.export(incident_id, condition, tmp_path)
            assert len(list(case.folder.iterdir())) > 1
