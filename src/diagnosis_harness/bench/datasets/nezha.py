"""Nezha: metrics, spans and logs of Online Boutique and Train Ticket, one faulty pod per incident.

Yu et al., "Nezha: Interpretable Fine-Grained Root Causes Analysis for Microservices on Multi-modal
Observability Data", ESEC/FSE 2023. The task gives every method the time of the injection. The minute files
cover the time before and after it, and are passed on whole. Normal operation: the metrics of the whole day
without the minutes of any fault, and one normal minute of spans and logs.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from diagnosis_harness.bench.case import Case, Condition, MovedSeries, Truth
from diagnosis_harness.bench.datasets.folder import (
    JsonRow,
    PublishedAlert,
    opaque_name,
    write_incident_toml,
    write_shared,
    write_topology,
)
from diagnosis_harness.bench.datasets.published import REMEDY, read_incident_ids, read_truths, text_of
from diagnosis_harness.bench.datasets.stating import Statement, find_moved, pick_window, state
from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.window import parse_utc

if TYPE_CHECKING:  # heavy: only this data set pays for it
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

MIB = 1024 * 1024
POD_METRICS = (  # published column, signal, unit, factor
    ("CpuUsage(m)", "cpu_cores", "cores", 0.001),
    ("CpuUsageRate(%)", "cpu_percent", "percent", 1),
    ("MemoryUsage(Mi)", "memory_bytes", "bytes", MIB),
    ("MemoryUsageRate(%)", "memory_percent", "percent", 1),
    ("SyscallRead", "syscall_reads", "count", 1),
    ("SyscallWrite", "syscall_writes", "count", 1),
    ("NetworkReceiveBytes", "network_receive_bytes", "bytes", 1),
    ("NetworkTransmitBytes", "network_transmit_bytes", "bytes", 1),
    ("PodClientLatencyP90(s)", "client_latency_p90", "s", 1),
    ("PodServerLatencyP90(s)", "latency_p90", "s", 1),
    ("PodClientLatencyP95(s)", "client_latency_p95", "s", 1),
    ("PodServerLatencyP95(s)", "latency_p95", "s", 1),
    ("PodClientLatencyP99(s)", "client_latency_p99", "s", 1),
    ("PodServerLatencyP99(s)", "latency_p99", "s", 1),
    ("PodWorkload(Ops)", "requests_per_s", "1/s", 1),
    ("PodSuccessRate(%)", "success_percent", "percent", 1),
    ("NodeCpuUsageRate(%)", "node_cpu_percent", "percent", 1),
    ("NodeMemoryUsageRate(%)", "node_memory_percent", "percent", 1),
    ("NodeNetworkReceiveBytes", "node_network_receive_bytes", "bytes", 1),
)
ENTRY_METRICS = (
    ("SuccessRate(%)", "success_percent", "percent", 1),
    ("LatencyP50(s)", "latency_p50", "s", 1),
    ("LatencyP90(s)", "latency_p90", "s", 1),
    ("LatencyP95(s)", "latency_p95", "s", 1),
    ("LatencyP99(s)", "latency_p99", "s", 1),
)
EDGE_METRICS = {
    "edge_latency_destination_50": "latency_p50_from_",
    "edge_latency_source_50": "client_latency_p50_from_",
}
SYSTEMS = {"ob": "Online Boutique", "tt": "Train Ticket"}
ENTRIES = {"ob": "frontend", "tt": "ts-gateway-service"}
FILE_SETTINGS = {
    "traces.parquet": {"time_unit": "ns", "duration_unit": "us"},
    "logs.parquet": {"time_unit": "ns"},
}
TIMES = (("metrics.parquet", "time", 1), ("traces.parquet", "start", 1e9), ("logs.parquet", "time", 1e9))
"""The files of a folder, with the column of their times and how many of its units are a second."""
APPEND = """
    INSERT INTO series
    SELECT wide.ts, coalesce(names.entity, wide.pod), names.signal, wide.value * names.factor, names.unit
    FROM (UNPIVOT wide ON COLUMNS(* EXCLUDE (ts, pod)) INTO NAME published VALUE value) AS wide
    JOIN names USING (published)
"""
SPANS = """
    SELECT trace AS trace_id, span AS span_id, nullif(parent, 0) AS parent_id, pod AS entity, operation,
        start_ns AS start, duration_us AS duration
    FROM spans ORDER BY trace, start_ns, span
"""
LINES = """
    SELECT ts_ns AS time, pod AS entity, message, trace AS trace_id, span AS span_id
    FROM lines ORDER BY ts_ns, pod, message
"""
CALLS = """
    SELECT DISTINCT caller.pod, callee.pod FROM normal_spans AS callee
    JOIN normal_spans AS caller ON caller.trace = callee.trace AND caller.span = callee.parent
"""
ENTRY_SERIES = """
    SELECT signal, time, value FROM series
    WHERE entity = ? AND signal IN (SELECT unnest(?)) AND isfinite(value) ORDER BY signal, time
"""
_KINDS = {
    "cpu_contention": frozenset({FaultKind.CPU.value}),
    "cpu_consumed": frozenset({FaultKind.CPU.value}),
    "network_delay": frozenset({FaultKind.NETWORK.value}),
    "exception": frozenset({FaultKind.ERRORS.value}),
    "return": frozenset({FaultKind.ERRORS.value}),
}
MINUTE_S = 60
HEALTHY_MINUTES = 30
HEALTHY_AFTER_S = 10 * 60  # from what is given as the onset to the end of a healthy window
POD = re.compile(r"(?P<service>.+?)-(?=[a-z]*\d)[a-z0-9]{6,10}-[a-z0-9]{5}")
ADDRESS = re.compile(r"\d+(\.\d+){3}")


def service_of(pod: str) -> str:
    """The service of a pod: its name without the suffixes of the replica set and the pod."""
    named = POD.fullmatch(pod)
    return named["service"] if named else pod


class DayPart(NamedTuple):
    """A part of a recording, in epoch seconds, without its end."""

    start_s: float
    end_s: float

    @property
    def onset_s(self) -> float:
        """What a question about a healthy window gives as the onset."""
        return self.end_s - HEALTHY_AFTER_S


@dataclass(frozen=True, slots=True)
class Nezha:
    """The data set below a folder that holds `nezha/`."""

    root: Path
    name: str = "nezha"

    def incident_ids(self, condition: Condition = Condition.AS_PUBLISHED) -> tuple[str, ...]:
        """The folder names; the labels are not read. Healthy windows come from the day's metrics."""
        found = read_incident_ids(self._home, "*/metrics.parquet")
        normal = self._home / "baseline"
        return tuple(
            name
            for name in found
            if not condition.healthy or (normal / _date(name) / "metrics.parquet").exists()
        )

    def export(self, incident_id: str, condition: Condition, target: Path) -> Case:
        """Write one incident, and its day's normal operation."""
        normal, entry = self._home / "baseline" / _date(incident_id), ENTRIES[incident_id[:2]]
        window = self._healthy_window(incident_id) if condition.healthy else None
        onset_s = window.onset_s if window else read_onsets(self._home / "labels.json").get(incident_id)
        source = normal if window else self._home / "incidents" / incident_id
        folder = target / opaque_name(self.name, f"{incident_id}/{condition.value}")
        folder.mkdir(parents=True, exist_ok=True)
        with _connection(source) as db:
            pods = _write_recording(db, source, folder, entry=entry, inside=window)
            moved = _find_entry_move(db, entry, onset_s)
            if onset_s is not None and condition.shift_s:
                _check_shift(db, folder, condition, onset_s + condition.shift_s)
            calls = _calls(db, normal)
        baseline = self._export_baseline(incident_id, target, without=window)
        owners = {pod: service_of(pod) for pod in pods}
        write_topology(folder, calls=calls, owners=owners)
        published = Statement(
            alert=None if onset_s is None else PublishedAlert(time_s=onset_s), onset_s=onset_s
        )
        statement = state(condition, published=published, onset_s=onset_s, moved=moved)
        write_incident_toml(
            folder,
            alert=statement.alert,
            onset_s=statement.onset_s,
            baseline=baseline.name,
            files=_settings(folder),
        )
        return Case(
            incident_id=incident_id,
            group=SYSTEMS[incident_id[:2]],
            folder=folder,
            baseline=baseline,
            entities=tuple(sorted(set(owners.values()))),
            owners=owners,
            condition=condition,
            onset_s=onset_s,
            alert_entity=statement.alert.entity if statement.alert else None,
            moved=moved,
        )

    def labels(self, incident_ids: Sequence[str]) -> dict[str, Truth]:
        """Service, kind of fault and code region or resource of every incident."""
        return read_truths(self._home / "labels.json", incident_ids, _truth)

    @property
    def _home(self) -> Path:
        return self.root / "nezha"

    def _healthy_window(self, incident_id: str) -> DayPart:
        """A part of the day's normal metrics, a different one for each incident of the day."""
        source = self._home / "baseline" / _date(incident_id) / "metrics.parquet"
        with _connection(source.parent) as db:
            rows = db.read_parquet(str(source)).project("ts").distinct().fetchall()
        beside = [name for name in self.incident_ids() if _date(name) == _date(incident_id)]
        minutes = {int(row[0]) // MINUTE_S * MINUTE_S for row in rows}
        window = pick_window(
            minutes, rank=beside.index(incident_id), count=len(beside), samples=HEALTHY_MINUTES
        )
        if window is None:
            raise InvalidInput(source.parent.name, "is too short for a healthy window", REMEDY)
        return DayPart(window[0], window[-1] + MINUTE_S)

    def _export_baseline(self, incident_id: str, target: Path, *, without: DayPart | None) -> Path:
        date = _date(incident_id)

        source, entry = self._home / "baseline" / date, ENTRIES[incident_id[:2]]

        def write(folder: Path) -> None:
            with _connection(source) as db:
                _write_recording(db, source, folder, entry=entry, without=without)
            write_incident_toml(folder, files=_settings(folder))

        # Both systems of a day would share a folder, but no day has both.
        what = f"normal/{date}/{without.start_s}" if without else f"normal/{date}"
        return write_shared(target, opaque_name(self.name, what), write)


def _date(incident_id: str) -> str:
    return incident_id[3:13]


def _settings(folder: Path) -> dict[str, dict[str, str]]:
    return {name: keys for name, keys in FILE_SETTINGS.items() if (folder / name).exists()}


def _truth(entry: JsonRow) -> Truth:
    service, kind = text_of(entry, "root_cause_service"), str(entry.get("fault", ""))
    return Truth(
        entities=(service,) if service else (),
        fault_kind=kind,
        region=text_of(entry, "root_cause_detail"),
        kinds=_KINDS.get(kind, frozenset()),
        unusable="" if service else "the label names no root cause",
    )


def read_onsets(labels: Path) -> Mapping[str, float]:
    """The injection times of all incidents; nothing else from the labels leaves this function."""
    entries = json.loads(labels.read_text(encoding="utf-8"))
    return {entry["id"]: parse_utc(entry["inject_time_utc"]) for entry in entries}


@contextmanager
def _connection(place: Path) -> Iterator[DuckDBPyConnection]:
    """A database in memory; a file that it cannot read becomes one sentence about the folder."""
    import duckdb

    try:
        with duckdb.connect(":memory:", config={"threads": 1, "memory_limit": "512MB"}) as db:
            yield db
    except duckdb.Error as error:
        first = str(error).splitlines()[0]
        raise InvalidInput(place.name, f"a file of it cannot be read ({first})", REMEDY) from error


def _write_recording(
    db: DuckDBPyConnection,
    source: Path,
    folder: Path,
    *,
    entry: str,
    inside: DayPart | None = None,
    without: DayPart | None = None,
) -> list[str]:
    """Write metrics, spans and logs of one folder as published, and return the pods in it.

    For a window `inside` it only metrics are written, because a day has only one minute of spans and logs.
    """
    _load_metrics(db, source, entry=entry)
    if inside is not None:
        db.execute("DELETE FROM series WHERE time < ? OR time >= ?", [inside.start_s, inside.end_s])
    if without is not None:
        db.execute("DELETE FROM series WHERE time >= ? AND time < ?", [without.start_s, without.end_s])
    ordered = db.sql("SELECT * FROM series ORDER BY entity, signal, time")
    ordered.write_parquet(str(folder / "metrics.parquet"), compression="zstd")
    pods = {str(row[0]) for row in db.execute("SELECT DISTINCT pod FROM pods").fetchall()}
    if inside is None and (source / "traces.parquet").exists():
        db.read_parquet(str(source / "traces.parquet")).create_view("spans")
        db.sql(SPANS).write_parquet(str(folder / "traces.parquet"), compression="zstd")
        pods |= {str(row[0]) for row in db.execute("SELECT DISTINCT pod FROM spans").fetchall()}
    if inside is None and (source / "logs.parquet").exists():
        db.read_parquet(str(source / "logs.parquet")).create_view("lines")
        db.sql(LINES).write_parquet(str(folder / "logs.parquet"), compression="zstd")
    return sorted(pods)


def _load_metrics(db: DuckDBPyConnection, source: Path, *, entry: str) -> None:
    """All published metrics of one folder as one row per instant and series."""
    db.execute("CREATE TABLE series (time BIGINT, entity TEXT, signal TEXT, value DOUBLE, unit TEXT)")
    db.execute("CREATE TABLE names (published TEXT, entity TEXT, signal TEXT, unit TEXT, factor DOUBLE)")
    pods = db.read_parquet(str(source / "metrics.parquet"))
    pods.create_view("pods")
    names = [Name(column, None, signal, unit, factor) for column, signal, unit, factor in POD_METRICS]
    _append(db, pods, names)
    if (source / "frontend_sli.parquet").exists():
        names = [Name(column, entry, signal, unit, factor) for column, signal, unit, factor in ENTRY_METRICS]
        _append(db, db.read_parquet(str(source / "frontend_sli.parquet")), names)
    for stem, signal in EDGE_METRICS.items():
        if (source / f"{stem}.parquet").exists():
            # One column `caller_callee` for each call: the latency of the callee as the caller sees it.
            edges = db.read_parquet(str(source / f"{stem}.parquet"))
            pairs = [(column, *column.split("_", 1)) for column in edges.columns if column != "ts"]
            names = [Name(column, callee, signal + caller, "s", 1) for column, caller, callee in pairs]
            _append(db, edges, names)


def _check_shift(db: DuckDBPyConnection, folder: Path, condition: Condition, stated_s: float) -> None:
    """Refuse to state a time outside of the recording: nobody would be asked about that.

    Raises:
        InvalidInput: it lies before the first point, line and span, or after the last.
    """
    ends = [
        (first / unit, last / unit)
        for name, column, unit in TIMES
        if (folder / name).exists()
        for first, last in db.read_parquet(str(folder / name))
        .aggregate(f"min({column}), max({column})")
        .fetchall()
    ]
    first_s, last_s = min(first for first, _ in ends), max(last for _, last in ends)
    if not first_s <= stated_s <= last_s:
        side = "before" if condition.shift_s < 0 else "after"
        problem = f"{abs(condition.shift_s):.0f} s {side} its onset nothing is recorded"
        raise InvalidInput("the stated time", problem, "ask about it as published")


def _find_entry_move(db: DuckDBPyConnection, entry: str, onset_s: float | None) -> MovedSeries | None:
    """The entry's own rate of success or latency that moved most; see `find_moved`."""
    if onset_s is None:
        return None
    signals = [signal for _, signal, _, _ in ENTRY_METRICS]
    rows = db.execute(ENTRY_SERIES, [entry, signals]).fetchall()
    series = {signal: [(float(t), float(v)) for s, t, v in rows if s == signal] for signal in signals}
    return find_moved(entry, series, onset_s)


class Name(NamedTuple):
    """The name of a published column in the folder; without an entity it belongs to the pod of its row."""

    published: str
    entity: str | None
    signal: str
    unit: str
    factor: float


def _append(db: DuckDBPyConnection, table: DuckDBPyRelation, names: Sequence[Name]) -> None:
    """Append the named columns of a published table to `series`."""
    pod = "pod" if "pod" in table.columns else "NULL AS pod"
    columns = ", ".join(f'CAST("{name.published}" AS DOUBLE) AS "{name.published}"' for name in names)
    table.project(f"ts, {pod}, {columns}").create_view("wide", replace=True)
    db.execute("DELETE FROM names")
    db.executemany("INSERT INTO names VALUES (?, ?, ?, ?, ?)", names)
    db.execute(APPEND)


def _calls(db: DuckDBPyConnection, normal: Path) -> set[tuple[str, str]]:
    """Who calls whom, from the published dependencies and the normal minute's spans.

    A published dependency on an address says on which machine a service runs; it is not a call.
    """
    calls: set[tuple[str, str]] = set()
    if (normal / "dependency.csv").exists():
        with (normal / "dependency.csv").open(encoding="utf-8", newline="") as file:
            calls = {
                (row["Source"], row["Target"])
                for row in csv.DictReader(file)
                if not ADDRESS.fullmatch(row["Target"])
            }
    if (normal / "traces.parquet").exists():
        db.read_parquet(str(normal / "traces.parquet")).create_view("normal_spans")
        calls |= {(service_of(caller), service_of(callee)) for caller, callee in db.execute(CALLS).fetchall()}
    return {(caller, callee) for caller, callee in calls if caller != callee}
