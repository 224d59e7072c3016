"""Writes a world as an incident folder (docs/reference/incident-folder.md), without the right answer."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.simulator.faults import FaultKind, GroundTruth
from diagnosis_harness.simulator.logs import Line
from diagnosis_harness.simulator.spans import Span
from diagnosis_harness.simulator.system import System
from diagnosis_harness.simulator.world import World, simulate
from diagnosis_harness.toolbox.ports import AlertInfo, CallEdge, ChangeEvent, Series


@dataclass(frozen=True, slots=True)
class SimulatedIncident:
    """A written folder and, for the caller, the right answer."""

    folder: Path
    truth: GroundTruth


def simulate_folder(kind: FaultKind, *, seed: int, parent: Path) -> SimulatedIncident:
    """Simulate a world and write it below `parent`, in a folder with an opaque name."""
    world = simulate(kind, seed=seed)
    name = sha256(f"{kind.value}/{seed}".encode()).hexdigest()[:12]
    folder = parent / f"incident-{name}"
    write_folder(world, folder)
    return SimulatedIncident(folder=folder, truth=world.truth)


def write_folder(world: World, folder: Path) -> None:
    """Write a world. Creates the folder, and replaces files with the same names."""
    folder.mkdir(parents=True, exist_ok=True)
    write_metric_rows(folder / "metrics.csv", world.metrics)
    write_span_rows(folder / "traces.csv", world.spans)
    write_log_rows(folder / "logs.csv", world.logs)
    write_topology_rows(folder / "topology.csv", world.system.edges(), owners_in(world.system))
    write_change_rows(folder / "changes.csv", world.changes)
    text = incident_toml(folder.name, alert=world.alert)
    (folder / "incident.toml").write_text(text, encoding="utf-8")


def write_metric_rows(path: Path, metrics: Iterable[Series]) -> None:
    """Write long form; times in whole seconds, values to seven digits, more than monitoring rules need."""
    lines = ["time,entity,signal,value,unit\n"]
    for series in metrics:
        head, unit = f"{series.entity},{series.signal}", series.unit or ""
        lines += [
            f"{time_s:.0f},{head},{value:.7g},{unit}\n"
            for time_s, value in zip(series.time_s.tolist(), series.value.tolist(), strict=True)
        ]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(lines)


def write_span_rows(path: Path, spans: Iterable[Span], *, with_status: bool = True) -> None:
    """Write one row per span, times in microseconds; `with_status` adds whether it failed."""
    header = ("trace_id", "span_id", "parent_id", "entity", "operation", "kind", "start", "duration")
    rows = (
        (
            span.trace_id,
            span.span_id,
            span.parent_id or "",
            span.entity,
            span.operation,
            span.kind,
            round(1e6 * span.start_s),
            round(1e6 * span.duration_s),
            *(("ERROR" if span.error else "OK",) if with_status else ()),
        )
        for span in spans
    )
    write_table(path, (*header, "status") if with_status else header, rows)


def write_log_rows(path: Path, lines: Iterable[Line]) -> None:
    """Write one row per log line."""
    write_table(
        path,
        ("time", "entity", "level", "message", "trace_id", "span_id"),
        (
            (utc_text(line.time_s), line.entity, line.level, line.message, line.trace_id, line.span_id)
            for line in lines
        ),
    )


def write_topology_rows(path: Path, calls: Iterable[CallEdge], owners: Mapping[str, str]) -> None:
    """Write callers with callees, and instances with their services."""
    rows = [(edge.caller, edge.callee, "calls") for edge in calls]
    rows += [(instance, service, "part_of") for instance, service in owners.items()]
    write_table(path, ("caller", "callee", "relation"), rows)


def write_change_rows(path: Path, changes: Iterable[ChangeEvent]) -> None:
    """Write one row per change."""
    write_table(
        path,
        ("time", "entity", "kind", "summary"),
        ((utc_text(c.time_s), c.entity or "", c.kind, c.summary) for c in changes),
    )


def owners_in(system: System) -> dict[str, str]:
    """The service of each instance, if the two have different names."""
    return {
        instance: service.name
        for service in system.services
        for instance in service.instances
        if instance != service.name
    }


def incident_toml(
    name: str, *, alert: AlertInfo | None, onset_s: float | None = None, spans: bool = True
) -> str:
    """The text of `incident.toml`: what is stated, and with `spans` the units of their file."""
    lines = ["[incident]", f'name = "{name}"', 'zone = "UTC"']
    if onset_s is not None:
        lines.append(f'onset = "{utc_text(onset_s)}"')
    if alert is not None:
        lines += ["", "[alert]"]
        for key, value in (
            ("entity", alert.entity),
            ("signal", alert.signal),
            ("statistic", alert.statistic),
            ("time", None if alert.time_s is None else utc_text(alert.time_s)),
            ("direction", alert.direction),
            ("summary", alert.summary),
        ):
            if value is not None:
                lines.append(f'{key} = "{value}"')
    if spans:
        lines += ["", '[files."traces.csv"]', 'time_unit = "us"', 'duration_unit = "us"']
    return "\n".join((*lines, ""))


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV file with a header row."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
