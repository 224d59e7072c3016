"""A world as an incident folder (docs/reference/incident-folder.md), without the right answer."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.simulator.faults import FaultKind, GroundTruth
from diagnosis_harness.simulator.world import World, simulate


@dataclass(frozen=True, slots=True)
class SimulatedIncident:
    """A written folder and, for the one who asked, the right answer."""

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
    """Write a world; the folder is made, files of the same names in it are replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_metrics(world, folder / "metrics.csv")
    _write_rows(
        folder / "traces.csv",
        ("trace_id", "span_id", "parent_id", "entity", "operation", "kind", "start", "duration", "status"),
        (
            (
                span.trace_id,
                span.span_id,
                span.parent_id or "",
                span.entity,
                span.operation,
                span.kind,
                round(1e6 * span.start_s),
                round(1e6 * span.duration_s),
                "ERROR" if span.error else "OK",
            )
            for span in world.spans
        ),
    )
    _write_rows(
        folder / "logs.csv",
        ("time", "entity", "level", "message", "trace_id", "span_id"),
        (
            (utc_text(line.time_s), line.entity, line.level, line.message, line.trace_id, line.span_id)
            for line in world.logs
        ),
    )
    _write_rows(folder / "topology.csv", ("caller", "callee", "relation"), _topology(world))
    _write_rows(
        folder / "changes.csv",
        ("time", "entity", "kind", "summary"),
        ((utc_text(c.time_s), c.entity or "", c.kind, c.summary) for c in world.changes),
    )
    (folder / "incident.toml").write_text(_incident_toml(world, folder.name), encoding="utf-8")


def _write_metrics(world: World, path: Path) -> None:
    """Long form; times in whole seconds, values to seven digits, which no rule of a monitor exceeds."""
    lines = ["time,entity,signal,value,unit\n"]
    for series in world.metrics:
        head, unit = f"{series.entity},{series.signal}", series.unit or ""
        lines += [
            f"{time_s:.0f},{head},{value:.7g},{unit}\n"
            for time_s, value in zip(series.time_s.tolist(), series.value.tolist(), strict=True)
        ]
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(lines)


def _topology(world: World) -> Iterable[Sequence[str]]:
    for edge in world.system.edges():
        yield edge.caller, edge.callee, "calls"
    for service in world.system.services:
        for instance in service.instances:
            if instance != service.name:
                yield instance, service.name, "part_of"


def _incident_toml(world: World, name: str) -> str:
    alert = world.alert
    lines = ["[incident]", f'name = "{name}"', 'zone = "UTC"', "", "[alert]"]
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
    lines += ["", '[files."traces.csv"]', 'time_unit = "us"', 'duration_unit = "us"', ""]
    return "\n".join(lines)


def _write_rows(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
