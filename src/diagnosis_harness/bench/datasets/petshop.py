"""PetShop: metrics of a cloud application on AWS, one faulty node per incident.

Hardt et al., "The PetShop Dataset: Finding Causes of Performance Issues across Microservices", CLeaR 2024.
The task gives every method the alerting node, its metric and statistic, and the time; node, scenario and
normal operation are public, the root cause is not. The published score leaves the alerting node out. One
published file holds alerts and root causes alike: of it only the alerts' fields leave before the runs end.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.bench.case import Case, Condition, Truth
from diagnosis_harness.bench.datasets.folder import (
    PublishedAlert,
    opaque_name,
    write_csv,
    write_incident_toml,
    write_topology,
)
from diagnosis_harness.kernel.errors import InvalidInput

HEADER_ROWS = ("microservice", "metric", "statistic")
UNITS = {"latency": "s", "availability": "percent", "requests": "count"}


@dataclass(frozen=True, slots=True)
class PetShop:
    """The data set below a folder that holds `petshop/`."""

    root: Path
    name: str = "petshop"

    def incident_ids(self, condition: Condition = Condition.AS_PUBLISHED) -> tuple[str, ...]:
        """The file names, without looking at the labels."""
        if condition is not Condition.AS_PUBLISHED:
            return ()
        found = sorted(p.name.removesuffix(".csv.gz") for p in (self._home / "incidents").glob("*.csv.gz"))
        if not found:
            raise InvalidInput(
                str(self._home), "holds no incidents", "name the folder of the data sets with --data"
            )
        return tuple(found)

    def export(self, incident_id: str, condition: Condition, target: Path) -> Case:
        """Write one incident, and its scenario's normal operation where there is some."""
        scenario = incident_id.split("-", 1)[0]
        alert = read_alerts(self._home / "labels.json")[incident_id]
        folder = target / opaque_name(self.name, incident_id)
        folder.mkdir(parents=True, exist_ok=True)
        calls, nodes = _graph(self._home / f"graph-{scenario}.csv")
        nodes |= _write_metrics(self._home / "incidents" / f"{incident_id}.csv.gz", folder / "metrics.csv")
        baseline = self._export_baseline(scenario, target)
        write_topology(folder, calls=calls)
        write_incident_toml(folder, alert=alert, baseline=baseline.name if baseline else None)
        left_out = frozenset({alert.entity}) if alert.entity else frozenset()
        return Case(
            incident_id=incident_id,
            group="with baseline" if baseline else "no baseline",
            scenario=scenario,
            folder=folder,
            baseline=baseline,
            entities=tuple(sorted(nodes - left_out)),
            left_out=left_out,
            condition=condition,
            alert_entity=alert.entity,
        )

    def labels(self, incident_ids: Sequence[str]) -> dict[str, Truth]:  # noqa: ARG002 - one file holds all
        """Root-cause node and kind of fault of every incident."""
        entries = json.loads((self._home / "labels.json").read_text(encoding="utf-8"))
        return {
            entry["id"]: Truth(entities=(entry["root_cause_service"],), fault_kind=_kind(entry["injection"]))
            for entry in entries
        }

    @property
    def _home(self) -> Path:
        return self.root / "petshop"

    def _export_baseline(self, scenario: str, target: Path) -> Path | None:
        source = self._home / "baseline" / f"{scenario}.csv.gz"
        if not source.exists():
            return None
        folder = target / opaque_name(self.name, f"normal/{scenario}")
        if not (folder / "incident.toml").exists():  # shared by all incidents of the scenario
            folder.mkdir(parents=True, exist_ok=True)
            _write_metrics(source, folder / "metrics.csv")
            write_incident_toml(folder)
        return folder


def read_alerts(labels: Path) -> Mapping[str, PublishedAlert]:
    """The alerts of all incidents; what else the file of labels holds does not leave this function."""
    return {
        entry["id"]: PublishedAlert(
            time_s=float(entry["alert"]["timestamp"]),
            entity=str(entry["alert"]["node"]),
            signal=str(entry["alert"]["metric"]),
            statistic=str(entry["alert"]["agg"]).lower(),
        )
        for entry in json.loads(labels.read_text(encoding="utf-8"))
    }


def _write_metrics(source: Path, path: Path) -> set[str]:
    """Three header rows become entity and signal, empty cells go; the nodes that have a value."""
    with gzip.open(source, "rt", encoding="utf-8", newline="") as file:
        table = list(csv.reader(file))
    names = tuple(row[0] for row in table[:3])
    if names != HEADER_ROWS or len({len(row) for row in table}) != 1:
        raise InvalidInput(
            source.name, f"has other header rows than {HEADER_ROWS}", "use the file as published"
        )
    series = [
        (column, node, f"{metric}_{statistic.lower()}", UNITS.get(metric, ""))
        for column, (node, metric, statistic) in enumerate(
            zip(*(row[1:] for row in table[:3]), strict=True), start=1
        )
    ]
    rows = [row for row in table[3:] if row[0].replace(".", "", 1).isdigit()]
    write_csv(path, ("time", "entity", "signal", "value", "unit"), _long(rows, series))
    return {node for column, node, _, _ in series if any(row[column] for row in rows)}


def _long(rows: list[list[str]], series: list[tuple[int, str, str, str]]) -> Iterator[tuple[str, ...]]:
    for row in rows:
        for column, node, signal, unit in series:
            if row[column]:
                yield row[0], node, signal, row[column], unit


def _graph(path: Path) -> tuple[set[tuple[str, str]], set[str]]:
    """Calls and nodes of an adjacency matrix in which the row calls the column."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file))
    calls = {
        (row[0], callee)
        for row in rows
        for callee, cell in zip(header[1:], row[1:], strict=True)
        if cell and float(cell)
    }
    return calls, set(header[1:]) | {row[0] for row in rows}


def _kind(injection: str) -> str:
    """Kind of fault by the command that caused it."""
    for words, kind in (
        (("searchdelay", "delaymode", "sleep"), "delay"),
        (("error", "inject = true"), "errors"),
        (("dynamo_db_requests",), "throttling"),
    ):
        if any(word in injection for word in words):
            return kind
    return "other"
