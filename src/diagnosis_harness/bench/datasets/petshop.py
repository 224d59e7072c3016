"""PetShop: metrics of a cloud application on AWS, one faulty node per incident.

Hardt et al., "The PetShop Dataset: Finding Causes of Performance Issues across Microservices", CLeaR 2024.
The task gives every method the alerting node, its metric and statistic, and the time; node, scenario and
normal operation are public, the root cause is not. The published score leaves the alerting node out. One
published file has alerts and root causes: until the runs end, only the alerts' fields leave its reader.
"""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.bench.case import ALERT_DELAY_S, Case, Condition, MovedSeries, Truth
from diagnosis_harness.bench.datasets.folder import (
    JsonRow,
    PublishedAlert,
    opaque_name,
    write_csv,
    write_incident_toml,
    write_shared,
    write_topology,
)
from diagnosis_harness.bench.datasets.published import read_truths, text_of
from diagnosis_harness.bench.datasets.stating import OF_AN_ALERT, Statement, pick_window, state
from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.kernel.errors import InvalidInput

HEADER_ROWS = ("microservice", "metric", "statistic")
INCIDENT_ROWS = 5  # of a published incident, five minutes each; its alert falls between rows 2 and 3
_KINDS = {
    "delay": frozenset({FaultKind.LATENCY.value}),
    "errors": frozenset({FaultKind.ERRORS.value}),
    "throttling": frozenset({FaultKind.ERRORS.value, FaultKind.LATENCY.value}),
}
_Column = tuple[int, str, str, str]
"""Position, node, signal and unit of one series."""

UNITS = {"latency": "s", "availability": "percent", "requests": "count"}


@dataclass(frozen=True, slots=True)
class PetShop:
    """The data set below a folder that holds `petshop/`."""

    root: Path
    name: str = "petshop"

    def incident_ids(self, condition: Condition = Condition.AS_PUBLISHED) -> tuple[str, ...]:
        """The file names; the labels are not read. Healthy windows come from normal operation."""
        if condition not in OF_AN_ALERT:
            return ()
        found = sorted(p.name.removesuffix(".csv.gz") for p in (self._home / "incidents").glob("*.csv.gz"))
        if not found:
            raise InvalidInput(
                str(self._home), "holds no incidents", "name the folder of the data sets with --data"
            )
        return tuple(name for name in found if not condition.healthy or self._normal(name).exists())

    def export(self, incident_id: str, condition: Condition, target: Path) -> Case:
        """Write one incident, and its scenario's normal operation if there is any."""
        scenario = _scenario(incident_id)
        alert = _alert_of(self._home / "labels.json", incident_id)
        folder = target / opaque_name(self.name, f"{incident_id}/{condition.value}")
        folder.mkdir(parents=True, exist_ok=True)
        calls, nodes = _graph(self._home / f"graph-{scenario}.csv")
        onset_s: float | None = None
        baseline: Path | None = None
        if condition.healthy:
            window = self._healthy_window(incident_id)
            onset_s = (
                window[1] + window[2]
            ) / 2 - ALERT_DELAY_S  # the alert falls where the published ones do
            nodes |= _write_metrics(self._normal(incident_id), folder / "metrics.csv", inside=window)
            baseline = self._export_baseline(scenario, target, without=window)
        else:
            source = self._home / "incidents" / f"{incident_id}.csv.gz"
            nodes |= _write_metrics(source, folder / "metrics.csv")
            if self._normal(incident_id).exists():
                baseline = self._export_baseline(scenario, target)
        moved = _series_of(alert)
        statement = state(condition, published=Statement(alert=alert), onset_s=onset_s, moved=moved)
        write_topology(folder, calls=calls)
        write_incident_toml(
            folder,
            alert=statement.alert,
            onset_s=statement.onset_s,
            baseline=baseline.name if baseline else None,
        )
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
            onset_s=onset_s,
            alert_entity=statement.alert.entity if statement.alert else None,
            moved=moved,
        )

    def labels(self, incident_ids: Sequence[str]) -> dict[str, Truth]:
        """Root-cause node and kind of fault of every incident."""
        return read_truths(self._home / "labels.json", incident_ids, _truth)

    @property
    def _home(self) -> Path:
        return self.root / "petshop"

    def _normal(self, incident_id: str) -> Path:
        return self._home / "baseline" / f"{_scenario(incident_id)}.csv.gz"

    def _healthy_window(self, incident_id: str) -> tuple[float, ...]:
        """A part of normal operation as long as an incident, a different one for each incident."""
        beside = [
            name
            for name in self.incident_ids(Condition.HEALTHY_ALERT)
            if _scenario(name) == _scenario(incident_id)
        ]
        rows, _ = _read_table(self._normal(incident_id))
        times = [float(row[0]) for row in rows]
        window = pick_window(times, rank=beside.index(incident_id), count=len(beside), samples=INCIDENT_ROWS)
        if window is None:
            raise InvalidInput(
                self._normal(incident_id).name, "is shorter than an incident", "use the file as published"
            )
        return window

    def _export_baseline(self, scenario: str, target: Path, *, without: tuple[float, ...] = ()) -> Path:
        def write(folder: Path) -> None:
            _write_metrics(
                self._home / "baseline" / f"{scenario}.csv.gz", folder / "metrics.csv", without=without
            )
            write_incident_toml(folder)

        what = f"normal/{scenario}/{without[0]}" if without else f"normal/{scenario}"
        return write_shared(target, opaque_name(self.name, what), write)


def read_alerts(labels: Path) -> Mapping[str, PublishedAlert]:
    """The alerts of all incidents; nothing else from the file of labels leaves this function."""
    return {
        entry["id"]: PublishedAlert(
            time_s=float(entry["alert"]["timestamp"]),
            entity=str(entry["alert"]["node"]),
            signal=str(entry["alert"]["metric"]),
            statistic=str(entry["alert"]["agg"]).lower(),
        )
        for entry in json.loads(labels.read_text(encoding="utf-8"))
    }


def _alert_of(labels: Path, incident_id: str) -> PublishedAlert:
    """The alert of one incident; an incident without one states nothing."""
    return read_alerts(labels).get(incident_id, PublishedAlert())


def _series_of(alert: PublishedAlert) -> MovedSeries | None:
    """The series that the published alert is on."""
    if alert.entity is None or alert.signal is None:
        return None
    signal = f"{alert.signal}_{alert.statistic}" if alert.statistic else alert.signal
    return MovedSeries(alert.entity, signal, "down" if alert.signal == "availability" else "up")


def _truth(entry: JsonRow) -> Truth:
    node = text_of(entry, "root_cause_service")
    kind = _kind(str(entry.get("injection", "")))
    return Truth(
        entities=(node,) if node else (),
        fault_kind=kind,
        kinds=_KINDS.get(kind, frozenset()),
        unusable="" if node else "the label names no root cause",
    )


def _write_metrics(
    source: Path, path: Path, *, inside: tuple[float, ...] = (), without: tuple[float, ...] = ()
) -> set[str]:
    """Turn three header rows into entity and signal, drop empty cells, and return the nodes with a value.

    Only rows `inside` a window are taken, if it is given, and none of those in `without`.
    """
    table, series = _read_table(source)
    rows = [row for row in table if (not inside or float(row[0]) in inside) and float(row[0]) not in without]
    write_csv(path, ("time", "entity", "signal", "value", "unit"), _long(rows, series))
    return {node for column, node, _, _ in series if any(row[column] for row in rows)}


def _read_table(source: Path) -> tuple[list[list[str]], list[_Column]]:
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
    return [row for row in table[3:] if row[0].replace(".", "", 1).isdigit()], series


def _long(rows: list[list[str]], series: list[_Column]) -> Iterator[tuple[str, ...]]:
    for row in rows:
        for column, node, signal, unit in series:
            if row[column]:
                yield row[0], node, signal, row[column], unit


def _scenario(incident_id: str) -> str:
    return incident_id.split("-", 1)[0]


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
