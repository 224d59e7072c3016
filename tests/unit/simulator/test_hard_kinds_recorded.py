"""Each kind of the review shows in its recording what its line in the table says, and lacks what it lacks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.support.hard_worlds import (
    hard_world,
    instances_of,
    loudest_rise,
    rise_of,
    series_of,
    slowdown_seen_by_callers,
)

from diagnosis_harness.simulator.hard.forms import OTHER_NAMES
from diagnosis_harness.simulator.hard.play import HardWorld
from diagnosis_harness.simulator.hard.scene import TruthLevel
from diagnosis_harness.simulator.hard.writing import write_hard_folder


def files_of(world: HardWorld, folder: Path) -> dict[str, str]:
    """The text of every file of a world."""
    write_hard_folder(world, folder)
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_two_faults_both_slow_their_callers() -> None:
    """Each of the two is to be seen, so that naming one alone is half an answer."""
    world = hard_world("two-faults")

    assert len(world.truth.entities) == 2
    assert all(slowdown_seen_by_callers(world, entity) > 1.3 for entity in world.truth.entities)


def test_clock_skew_between_services_separates_spans() -> None:
    """Served spans begin far from the spans of the calls that caused them."""
    spans = hard_world("service-clocks").telemetry.spans
    by_id = {(span.trace_id, span.span_id): span for span in spans}
    apart_s = [
        abs(span.start_s - by_id[span.trace_id, span.parent_id].start_s)
        for span in spans
        if span.kind == "server" and span.parent_id is not None
    ]

    assert np.median(apart_s) > 5.0


def test_clock_of_all_spans_is_minutes_off() -> None:
    """The spans begin or end four minutes outside of the metrics."""
    world = hard_world("metric-clock")
    first_s = min(span.start_s for span in world.telemetry.spans)

    assert abs(abs(first_s - float(world.play.scene.time_s[0])) - 240.0) < 60.0


@pytest.mark.parametrize(
    ("kind", "signal", "hours"), [("slow-ramp", "cpu_percent", 2.0), ("slow-leak", "memory_bytes", 3.0)]
)
def test_slow_faults_grow_over_hours(kind: str, signal: str, hours: float) -> None:
    """A third of the way a third of it is there; nowhere is a step."""
    world = hard_world(kind)
    scene = world.play.scene
    after_s = float(scene.time_s[-1]) - scene.onset_s
    loudest = max(
        (series_of(world, instance, signal) for instance in instances_of(world, world.truth.entities[0])),
        key=lambda series: float(series.value[-20:].mean() / series.value[:60].mean()),
    )
    before, third, end = (
        float(np.median(loudest.value[(loudest.time_s >= from_s) & (loudest.time_s < from_s + 900.0)]))
        for from_s in (scene.onset_s - 900.0, scene.onset_s + after_s / 3 - 450.0, scene.time_s[-1] - 900.0)
    )

    assert after_s >= 3600.0 * hours
    assert before < third < end
    assert (third - before) / (end - before) < 0.6


def test_flapping_is_on_for_a_fifth_of_the_time() -> None:
    """Calls are slow while it is on; the course says when."""
    world = hard_world("flapping")
    scene = world.play.scene

    assert 0.1 < scene.course[scene.since].mean() < 0.3
    assert slowdown_seen_by_callers(world, world.truth.entities[0]) > 1.3


def test_gaps_leave_sixty_per_cent_and_nothing_of_the_culprits_first_minutes() -> None:
    """The points that would show the onset are the ones that are missing."""
    world = hard_world("gaps")
    scene = world.play.scene
    full, left = len(scene.time_s), [len(series.time_s) for series in world.telemetry.metrics]
    culprits = {*world.truth.entities, *instances_of(world, world.truth.entities[0])}

    assert 0.5 < np.mean(left) / full < 0.65
    for series in world.telemetry.metrics:
        if series.entity in culprits:
            since_s = series.time_s - scene.onset_s
            assert not ((since_s >= 0.0) & (since_s < 360.0)).any()


def test_replaced_pods_have_no_history() -> None:
    """Some names end at the onset, others begin there, and each has an owner."""
    world = hard_world("replaced-pods")
    onset_s = world.play.scene.onset_s
    cpu = [series for series in world.telemetry.metrics if series.signal == "cpu_percent"]
    ended = {series.entity for series in cpu if series.time_s[-1] < onset_s}
    begun = {series.entity for series in cpu if series.time_s[0] >= onset_s}

    assert len(ended) == len(begun) >= 4
    assert begun <= set(world.telemetry.owners)
    assert not any(span.entity in ended and span.start_s >= onset_s for span in world.telemetry.spans)


@pytest.mark.parametrize("kind", ["innocent-deploy", "innocent-deploy-with-shift"])
def test_an_innocent_deploy_comes_before_the_onset(kind: str) -> None:
    """20 seconds before, of another service, and listed as a decoy."""
    world = hard_world(kind)
    deploys = [
        change
        for change in world.telemetry.changes
        if abs(world.play.scene.onset_s - change.time_s - 20.0) < 0.01 and change.kind == "deploy"
    ]

    assert [change.entity in world.truth.entities for change in deploys] == [False]
    assert deploys[0].summary in world.truth.decoys
    if kind == "innocent-deploy-with-shift":
        assert loudest_rise(world, str(deploys[0].entity), "memory_bytes") > 1.15


def test_an_untraced_culprit_has_metrics_and_no_spans() -> None:
    """It shows in calls to it and in its series only."""
    world = hard_world("untraced-culprit")
    culprit = world.truth.entities[0]

    assert not any(span.part == culprit for span in world.telemetry.spans)
    assert any(series.entity == culprit for series in world.telemetry.metrics)
    assert slowdown_seen_by_callers(world, culprit) > 1.2


def test_an_unmeasured_culprit_is_only_known_to_the_topology() -> None:
    """Nothing of its own is recorded; at most a scoped answer is possible."""
    world = hard_world("unmeasured-culprit")
    culprits = {*world.truth.entities, *instances_of(world, world.truth.entities[0])}
    seen = world.telemetry

    assert not culprits & {span.entity for span in seen.spans}
    assert not culprits & {series.entity for series in seen.metrics}
    assert not culprits & {line.entity for line in seen.logs}
    assert world.truth.entities[0] in {edge.callee for edge in seen.calls}
    assert world.truth.level is TruthLevel.SCOPED
    assert set(world.truth.scope) == {e.caller for e in seen.calls if e.callee == world.truth.entities[0]}


def test_an_unobserved_dependency_is_in_no_file(tmp_path: Path) -> None:
    """Not even its name; its callers' own time rises."""
    world = hard_world("unobserved-dependency")

    assert all(world.truth.entities[0] not in text for text in files_of(world, tmp_path).values())
    assert max(rise_of(world, caller, "latency_p90") for caller in world.truth.scope) > 1.3


def test_a_coarse_scrape_has_a_point_every_five_minutes() -> None:
    """And no spans."""
    seen = hard_world("coarse-scrape").telemetry

    assert seen.spans == ()
    assert all(np.diff(series.time_s).min() >= 285.0 for series in seen.metrics)


@pytest.mark.parametrize("kind", ["counters", "histograms"])
def test_counters_grow_and_start_again(kind: str) -> None:
    """Each falls once or twice, to nearly nothing; there are no quantiles and no rates."""
    seen = hard_world(kind).telemetry
    totals = [series for series in seen.metrics if series.signal.startswith("http_")]
    assert totals
    for series in totals:
        falls = np.flatnonzero(np.diff(series.value) < 0.0)
        assert len(falls) <= 2
        if series.signal == "http_requests_total":
            assert len(falls) >= 1
            assert all(series.value[fall + 1] < series.value[fall] for fall in falls)
    assert not any(series.signal.startswith(("latency", "requests_per_s")) for series in seen.metrics)


def test_buckets_add_up() -> None:
    """At every timestamp of a series the counts grow with the limit, up to the count of all requests."""
    world = hard_world("histograms")
    pod = world.play.scene.system.entry.instances[0]
    limits = ("0.005", "0.05", "0.5", "5", "inf")
    rows = [series_of(world, pod, f"http_request_duration_seconds_bucket_le_{limit}") for limit in limits]

    assert all((np.diff(np.array([row.value for row in rows]), axis=0) >= -0.01).all() for _ in (0,))


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        ("logs-and-entry", {"logs.csv", "metrics.csv"}),
        ("logs-only", {"logs.csv"}),
        ("changes-only", {"changes.csv"}),
    ],
)
def test_few_files_are_there(tmp_path: Path, kind: str, files: set[str]) -> None:
    """These, and what was asked."""
    assert set(files_of(hard_world(kind), tmp_path)) == {*files, "incident.toml"}


def test_stopped_calls_vanish_and_no_errors_are_recorded(tmp_path: Path) -> None:
    """Callers of the culprit make fewer calls of others; spans have no status, lines no error."""
    world = hard_world("stopped-calls")
    scene, spans = world.play.scene, world.telemetry.spans
    callers = {call.caller for call in scene.system.calls_to(world.truth.entities[0])}
    made, served = Counter[bool](), Counter[bool]()
    for span in spans:
        later = span.start_s >= scene.onset_s
        served[later] += span.kind == "server" and span.part in callers
        callee = span.operation.split(" ", 1)[0]
        made[later] += span.kind == "client" and span.part in callers and callee not in world.truth.entities

    assert made[True] / served[True] < 0.95 * made[False] / served[False]
    assert "status" not in files_of(world, tmp_path)["traces.csv"].partition("\n")[0]
    assert {line.level for line in world.telemetry.logs} == {"INFO"}


@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [("traffic-surge", 1.6, 3.5), ("traffic-drop", 0.1, 0.25), ("daily-peak", 1.1, 2.6)],
)
def test_load_changes_and_nothing_is_broken(kind: str, least: float, most: float) -> None:
    """The entry's requests change by that factor, and the truth names nothing."""
    world = hard_world(kind)

    assert least < rise_of(world, world.play.scene.system.entry.name, "requests_per_s") < most
    assert world.truth.entities == ()
    assert world.truth.kinds == {"TRAFFIC"}


def test_the_peak_of_the_day_is_twice_the_night() -> None:
    """Slowly, over seven hours."""
    world = hard_world("daily-peak")
    rate = series_of(world, world.play.scene.system.entry.name, "requests_per_s")

    assert rate.time_s[-1] - rate.time_s[0] > 7 * 3600.0
    assert rate.value[-30:].mean() > 1.5 * rate.value[:30].mean()


def test_a_batch_job_is_loud_and_harmless() -> None:
    """Its processor rises, the entry's latency does not."""
    world = hard_world("batch-job")

    assert loudest_rise(world, world.truth.decoys[0], "cpu_percent") > 1.3
    assert rise_of(world, world.play.scene.system.entry.name, "latency_p90") < 1.15


def test_a_noisy_host_slows_several_services() -> None:
    """Its own processor is in the data, and that of its tenants rises with it."""
    world = hard_world("noisy-host")
    node, tenants = world.truth.entities[0], world.truth.decoys[:3]

    assert rise_of(world, node, "cpu_percent") > 1.5
    assert sum(loudest_rise(world, tenant, "cpu_percent") > 1.3 for tenant in tenants) >= 2


def test_a_lost_cache_makes_its_database_loud() -> None:
    """The hit ratio falls, the database's requests rise; the cache is as fast as ever."""
    world = hard_world("lost-cache")
    cache, database = world.truth.entities[0], world.truth.decoys[0]

    assert rise_of(world, cache, "cache_hit_ratio") < 0.1
    assert rise_of(world, database, "requests_per_s") > 1.5
    assert rise_of(world, cache, "latency_p90") < 1.2


@pytest.mark.parametrize("kind", ["lost-spans", "lost-spans-with-fault"])
def test_half_of_the_spans_are_lost_from_the_onset_on(kind: str) -> None:
    """Before, every parent is there; after, half of them are not."""
    world = hard_world(kind)
    spans = world.telemetry.spans
    ids = {(span.trace_id, span.span_id) for span in spans}
    orphans = Counter[tuple[bool, bool]]()
    for span in spans:
        if span.parent_id is not None:
            orphan = (span.trace_id, span.parent_id) not in ids
            orphans[span.start_s >= world.play.scene.onset_s + 10.0, orphan] += 1

    assert orphans[False, True] < 0.01 * orphans[False, False]
    assert 0.2 < orphans[True, True] / (orphans[True, True] + orphans[True, False]) < 0.6


def test_alerts_say_little_or_name_a_stranger() -> None:
    """One has only a time and a sentence; the other's entity occurs nowhere else."""
    bare, strange = (hard_world(kind).telemetry for kind in ("alert-without-fields", "alert-on-stranger"))

    assert bare.alert is not None
    assert (bare.alert.entity, bare.alert.signal, bare.alert.statistic) == (None, None, None)
    assert strange.alert is not None
    assert strange.alert.entity not in {*strange.owners.values(), *(s.entity for s in strange.metrics)}


@pytest.mark.parametrize(
    ("kind", "off_s"), [("onset-early", -1800.0), ("onset-late", 1800.0), ("healthy-onset", 0.0)]
)
def test_a_stated_onset_is_off_by_half_an_hour(kind: str, off_s: float) -> None:
    """And inside the recording; there is no alert."""
    world = hard_world(kind)
    scene, seen = world.play.scene, world.telemetry

    assert seen.onset_s == scene.onset_s + off_s
    assert scene.time_s[0] < seen.onset_s < scene.time_s[-1]
    assert seen.alert is None


def test_late_alert_early_fault_and_late_question() -> None:
    """25 minutes after the onset; a recording that begins after it; an hour of quiet at the end."""
    late, before, over = (hard_world(kind) for kind in ("alert-late", "began-before", "asked-after"))
    entry = over.play.scene.system.entry.name
    latency = series_of(over, entry, "latency_p90")
    since_s = latency.time_s - over.play.scene.onset_s

    assert late.telemetry.alert is not None
    assert late.telemetry.alert.time_s == late.play.scene.onset_s + 1500.0
    assert min(s.time_s[0] for s in before.telemetry.metrics) >= before.play.scene.onset_s + 300.0
    assert latency.time_s[-1] - over.play.scene.onset_s > 3600.0
    calm = float(np.median(latency.value[since_s < 0.0]))
    assert np.median(latency.value[since_s > 300.0]) < 1.2 * calm
    assert np.median(latency.value[(since_s > 20.0) & (since_s < 230.0)]) > 1.2 * calm


def test_another_vocabulary_has_none_of_the_usual_names() -> None:
    """Also the alert's signal; an idle processor falls where a used one would rise."""
    seen = hard_world("other-vocabulary").telemetry

    assert {series.signal for series in seen.metrics} <= set(OTHER_NAMES.values())
    assert seen.alert is not None
    assert seen.alert.signal in OTHER_NAMES.values()
    assert all(series.unit is None for series in seen.metrics)


def test_healthy_worlds_are_sound_however_they_are_asked_about() -> None:
    """An alert, an onset, or nothing."""
    worlds = [hard_world(kind) for kind in ("healthy-alert", "healthy-onset", "healthy-question")]

    assert [world.telemetry.alert is not None for world in worlds] == [True, False, False]
    assert [world.telemetry.onset_s is not None for world in worlds] == [False, True, False]
    for world in worlds:
        assert world.truth.entities == ()
        assert rise_of(world, world.play.scene.system.entry.name, "latency_p50") < 1.25
