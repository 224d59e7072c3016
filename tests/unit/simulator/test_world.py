"""A simulated world: one seed, one world; spans fit; the right answer stays outside the folder."""

from __future__ import annotations

import csv
import re
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from diagnosis_harness.adapters.sources.incident_folder.opening import open_incident_folder
from diagnosis_harness.harness.budget import RunBudgetLimits
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.kernel.window import parse_utc
from diagnosis_harness.simulator.faults import FaultKind
from diagnosis_harness.simulator.folder import simulate_folder, write_folder
from diagnosis_harness.simulator.spans import Span
from diagnosis_harness.simulator.system import Role
from diagnosis_harness.simulator.world import SPANS_MAX, World, simulate
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds

ROUNDING_S = 1e-6  # an instant of 2024 in a float holds a quarter of a microsecond
TELLTALE = re.compile(rb"fault|ground|truth|inject|simulat|leak|decoy", re.IGNORECASE)


@cache
def world_of(kind: FaultKind, seed: int) -> World:
    """A world, made once for all tests that only look at it."""
    return simulate(kind, seed=seed)


def narrow_world_of(kind: FaultKind) -> World:
    """The first world in which only a region of the part is hit."""
    return next(world for seed in range(20) if (world := world_of(kind, seed)).truth.region is not None)


def level(world: World, entity: str, signal: str, *, from_s: float, to_s: float) -> float:
    """Mean of one series inside a stretch."""
    series = next(s for s in world.metrics if (s.entity, s.signal) == (entity, signal))
    inside = (series.time_s >= from_s) & (series.time_s < to_s)
    return float(np.mean(series.value[inside]))


def rise(world: World, entity: str, signal: str) -> float:
    """How many times its level of the first half hour a signal has in the last nine minutes."""
    time_s = world.metrics[0].time_s
    before = level(world, entity, signal, from_s=time_s[0], to_s=time_s[0] + 1800.0)
    return level(world, entity, signal, from_s=time_s[-1] - 540.0, to_s=np.inf) / before


def check_spans(spans: Sequence[Span]) -> None:
    """Children lie inside their parents and, called one after the other, add up to no more."""
    by_id = {(span.trace_id, span.span_id): span for span in spans}
    inside_s: dict[tuple[str, str], float] = defaultdict(float)
    assert len(by_id) == len(spans) <= SPANS_MAX
    for span in spans:
        assert span.duration_s >= 0.0
        if span.parent_id is not None:
            parent = by_id[span.trace_id, span.parent_id]
            inside_s[span.trace_id, span.parent_id] += span.duration_s
            assert span.start_s >= parent.start_s - ROUNDING_S
            assert span.start_s + span.duration_s <= parent.start_s + parent.duration_s + ROUNDING_S
    for place, children_s in inside_s.items():
        assert children_s <= by_id[place].duration_s + ROUNDING_S


def check_alert(world: World) -> None:
    """Somebody is called about the entry, in the last quarter of an hour of 70 to 105 minutes."""
    time_s = world.metrics[0].time_s
    assert 8 <= len(world.system.services) <= 14
    assert 4_200.0 <= time_s[-1] - time_s[0] <= 6_300.0
    assert world.alert.entity == world.system.entry.name
    assert world.alert.time_s is not None
    assert time_s[-1] - 900.0 <= world.alert.time_s <= time_s[-1]


def check_truth(world: World, kind: FaultKind) -> None:
    """A fault sits at a service, or at what services depend on; a sound world names none."""
    assert world.truth.fault_kind is kind
    if kind is FaultKind.NONE:
        assert world.truth.entity is None
        return
    part = world.system.service(str(world.truth.entity))
    dependency = part.role in {Role.DATABASE, Role.CACHE, Role.EXTERNAL}
    assert part.role is not Role.ENTRY
    assert dependency == (kind is FaultKind.SLOW_DEPENDENCY)


@pytest.mark.parametrize("kind", list(FaultKind))
def test_child_spans_fit_inside_their_parents(kind: FaultKind) -> None:
    """Time inside a request is conserved."""
    check_spans(world_of(kind, 0).spans)


@pytest.mark.parametrize("kind", list(FaultKind))
def test_the_alert_is_at_the_entry_and_inside_the_recording(kind: FaultKind) -> None:
    """Whatever is broken, and also when nothing is, the alert is the entry's."""
    check_alert(world_of(kind, 0))


@pytest.mark.parametrize("kind", list(FaultKind))
def test_truth_names_a_part_that_can_have_the_fault(kind: FaultKind) -> None:
    """The truth is of the kind that was asked for."""
    check_truth(world_of(kind, 0), kind)


@pytest.mark.proof
def test_many_worlds_keep_all_rules(scale: float) -> None:
    """Spans, alert and truth hold over 120 worlds of all kinds."""
    for number in range(round(120 * scale)):
        kind = list(FaultKind)[number % len(FaultKind)]
        world = simulate(kind, seed=100 + number)
        check_spans(world.spans)
        check_alert(world)
        check_truth(world, kind)


@pytest.mark.parametrize("kind", [FaultKind.MEMORY_LEAK, FaultKind.NONE])
def test_the_same_seed_gives_the_same_bytes(tmp_path: Path, kind: FaultKind) -> None:
    """Two simulations of one kind and seed write equal files and name equal answers."""
    one, two = (simulate_folder(kind, seed=11, parent=tmp_path / name) for name in ("one", "two"))
    assert one.truth == two.truth
    assert one.folder.name == two.folder.name
    assert contents(one.folder) == contents(two.folder)


def test_another_seed_gives_another_world() -> None:
    """System, place and strength vary: six seeds of one kind name at least three faulty parts."""
    worlds = [world_of(FaultKind.CPU, seed) for seed in range(6)]
    assert len({world.truth.entity for world in worlds}) >= 3
    assert len({tuple(part.name for part in world.system.services) for world in worlds}) == 6


@pytest.mark.parametrize("kind", list(FaultKind))
def test_the_folder_does_not_hold_the_right_answer(tmp_path: Path, kind: FaultKind) -> None:
    """No file, and no file name, has a word that says whether or how the system was broken."""
    folder = simulate_folder(kind, seed=0, parent=tmp_path).folder
    assert re.fullmatch(r"incident-[0-9a-f]{12}", folder.name)
    for name, data in contents(folder).items():
        assert not TELLTALE.search(data), name
        assert not TELLTALE.search(name.encode()), name


def test_alert_of_a_sound_world_reads_like_any_other() -> None:
    """The words of an alert that only flapped have the same form as those of a real one."""
    form = re.compile(r"\S+ (latency_p\d\d|error_rate) above [\d.e-]+")
    for kind in (FaultKind.NONE, FaultKind.CPU, FaultKind.ERRORS_AFTER_DEPLOY):
        alert = world_of(kind, 0).alert
        assert alert.summary is not None
        assert form.fullmatch(alert.summary)
        assert alert.direction == "up"


def test_eaten_processor_shows_at_its_instance() -> None:
    """A cpu fault lifts the processor use of what it hits, and the latency of the part and of the entry."""
    world = narrow_world_of(FaultKind.CPU)
    assert world.truth.region is not None
    assert world.truth.entity is not None
    assert rise(world, world.truth.region, "cpu_percent") > 1.5
    assert rise(world, world.truth.entity, "latency_p99") > 1.5
    assert rise(world, world.system.entry.name, "latency_p99") > 1.2


def test_delayed_network_leaves_the_callee_itself_as_fast_as_before() -> None:
    """The callee's own latency stays; that of the caller rises."""
    world = narrow_world_of(FaultKind.NETWORK_DELAY)
    assert world.truth.region is not None
    caller, callee = world.truth.region.split("->")
    assert rise(world, callee, "latency_p50") < 1.15
    assert rise(world, caller, "latency_p90") > 1.2


def test_broken_deploy_is_among_the_changes_shortly_before_the_errors() -> None:
    """The faulty part has a deploy within about two minutes before its errors."""
    world = world_of(FaultKind.ERRORS_AFTER_DEPLOY, 2)
    entity = world.truth.entity
    deploys = [c for c in world.changes if c.entity == entity and c.kind == "deploy"]
    assert entity is not None
    errors = next(s for s in world.metrics if (s.entity, s.signal) == (entity, "error_rate"))
    first_s = float(errors.time_s[np.flatnonzero(errors.value > 0.1)[0]])
    assert any(0.0 < first_s - deploy.time_s < 130.0 for deploy in deploys)
    assert rise(world, entity, "error_rate") > 5.0


def test_leak_fills_memory_and_restarts() -> None:
    """Memory climbs towards its limit, and the restart is in the log."""
    world = world_of(FaultKind.MEMORY_LEAK, 0)
    instances = set(world.system.service(str(world.truth.entity)).instances)
    memory = [s for s in world.metrics if s.signal == "memory_bytes" and s.entity in instances]
    assert max(float(s.value[-40:].max() / np.median(s.value[:100])) for s in memory) > 1.6
    assert any("OutOfMemoryError" in line.message and line.entity in instances for line in world.logs)


def test_slow_dependency_shows_at_itself_and_its_callers() -> None:
    """A slow database is slow without using more processor."""
    world = world_of(FaultKind.SLOW_DEPENDENCY, 0)
    entity = str(world.truth.entity)
    assert rise(world, entity, "latency_p90") > 3.0
    assert rise(world, entity, "cpu_percent") < 1.3


def test_sound_world_is_sound() -> None:
    """Nothing rises much when nothing is broken."""
    for seed in range(3):
        world = world_of(FaultKind.NONE, seed)
        assert rise(world, world.system.entry.name, "latency_p50") < 1.25


def test_files_have_the_documented_columns_and_parse(tmp_path: Path) -> None:
    """Every file has its documented header, as many cells in each row, and readable times and numbers."""
    world = world_of(FaultKind.NETWORK_DELAY, 7)
    write_folder(world, tmp_path)
    rows = {
        path.name: list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        for path in tmp_path.glob("*.csv")
    }
    assert set(rows) == {"metrics.csv", "traces.csv", "logs.csv", "topology.csv", "changes.csv"}
    for name, table in rows.items():
        assert len({len(row) for row in table}) == 1, name
    assert rows["metrics.csv"][0] == ["time", "entity", "signal", "value", "unit"]
    assert all(np.isfinite(float(row[3])) for row in rows["metrics.csv"][1:])
    assert rows["topology.csv"][0] == ["caller", "callee", "relation"]
    assert {row[2] for row in rows["topology.csv"][1:]} == {"calls", "part_of"}
    for row in rows["logs.csv"][1:50]:
        assert datetime.fromisoformat(row[0]).tzinfo is UTC
    settings_file = tomllib.loads((tmp_path / "incident.toml").read_text(encoding="utf-8"))
    assert settings_file["alert"]["entity"] == world.system.entry.name
    assert parse_utc(settings_file["alert"]["time"]) == world.alert.time_s
    assert settings_file["files"]["traces.csv"]["duration_unit"] == "us"


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("kind", list(FaultKind))
def test_the_product_reads_every_file_of_the_folder(tmp_path: Path, kind: FaultKind) -> None:
    """The incident folder source understands all files: series, spans, lines, calls, changes, the alert."""
    world = world_of(kind, 0)
    write_folder(world, tmp_path)
    limits = RunBudgetLimits(
        llm_calls=1,
        tool_calls=1,
        tool_calls_per_tool=1,
        input_tokens=1,
        output_tokens=1,
        total_tokens=1,
        run_bytes=1,
    )
    ctx = DiagnosisHarnessCore(clock=ManualClock(), ids=CountingIds()).start_run(
        session_id="s1", timeout_s=60, limits=limits
    )
    summary = open_incident_folder(tmp_path).summary.summary(ctx)
    assert summary.metric_series == len(world.metrics)
    assert (summary.spans, summary.log_lines) == (len(world.spans), len(world.logs))
    assert (summary.edges, summary.changes) == (len(world.system.edges()), len(world.changes))
    assert summary.alert == world.alert
    assert all(note.role is not None for note in summary.files)
