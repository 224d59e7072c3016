"""Writes a hard world as an incident folder, without the right answer; empty parts get no file."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.simulator.folder import (
    incident_toml,
    write_change_rows,
    write_log_rows,
    write_metric_rows,
    write_span_rows,
    write_table,
    write_topology_rows,
)
from diagnosis_harness.simulator.hard.play import HardWorld
from diagnosis_harness.simulator.hard.scene import WorldTelemetry


def hard_folder_name(kind: str, seed: int) -> str:
    """The same opaque name for a kind and seed each time."""
    return "incident-" + sha256(f"hard/{kind}/{seed}".encode()).hexdigest()[:12]


def write_hard_folder(world: HardWorld, folder: Path) -> None:
    """Write a world. Creates the folder, and replaces files with the same names."""
    seen = world.telemetry
    folder.mkdir(parents=True, exist_ok=True)
    if seen.metrics:
        write_metric_rows(folder / "metrics.csv", seen.metrics)
    if seen.spans:
        write_span_rows(folder / "traces.csv", seen.spans, with_status=seen.with_status)
    if seen.logs:
        write_log_rows(folder / "logs.csv", seen.logs)
    if seen.calls:
        write_topology_rows(folder / "topology.csv", seen.calls, seen.owners)
    if seen.changes:
        write_change_rows(folder / "changes.csv", seen.changes)
    _write_platform(seen, folder)
    text = incident_toml(folder.name, alert=seen.alert, onset_s=seen.onset_s, spans=bool(seen.spans))
    (folder / "incident.toml").write_text(text, encoding="utf-8")


def _write_platform(seen: WorldTelemetry, folder: Path) -> None:
    if seen.events:
        write_table(
            folder / "events.csv",
            ("time", "entity", "kind", "reason", "message", "count"),
            ((utc_text(e.time_s), e.entity, e.kind, e.reason, e.message, e.count) for e in seen.events),
        )
    if seen.states:
        write_table(
            folder / "states.csv",
            ("entity", "kind", "state", "node", "restarts"),
            ((s.entity, s.kind, s.state, s.node, s.restarts) for s in seen.states),
        )
