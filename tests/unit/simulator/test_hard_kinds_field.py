"""Each kind from the field leaves the evidence that engineers would look for."""

from __future__ import annotations

import numpy as np
import pytest
from tests.support.hard_worlds import (
    hard_world,
    instances_of,
    lines_with,
    loudest_rise,
    rise_of,
    series_of,
    slowdown_seen_by_callers,
)

from diagnosis_harness.simulator.hard.catalog import HARD_KINDS
from diagnosis_harness.simulator.hard.kind import Origin
from diagnosis_harness.simulator.hard.scene import TruthLevel


@pytest.mark.parametrize("kind", [kind.name for kind in HARD_KINDS.values() if kind.origin is Origin.FIELD])
def test_a_platform_is_recorded(kind: str) -> None:
    """Machines, states of pods and events are in every one of these worlds, so they give nothing away."""
    world = hard_world(kind)
    seen, nodes = world.telemetry, set(world.play.scene.nodes.values())

    assert nodes <= {series.entity for series in seen.metrics}
    assert set(world.play.scene.nodes) <= {state.entity for state in seen.states}
    assert len(seen.events) >= 3


def test_an_exhausted_pool_is_at_its_limit() -> None:
    """Connections in use reach the maximum, others wait, and the service says so; other pools are calm."""
    world = hard_world("pool-exhausted")
    culprit = world.truth.entities[0]
    used = series_of(world, culprit, "pool_connections_in_use")

    assert (used.value[used.time_s >= world.play.scene.onset_s] == 50.0).all()
    assert series_of(world, culprit, "pool_connections_waiting").value[-1] > 5.0
    assert set(lines_with(world, "Connection is not available")) <= set(instances_of(world, culprit))
    assert len(lines_with(world, "Connection is not available")) > 10


def test_locks_are_waited_for_on_an_idle_processor() -> None:
    """Lock waits rise at the database, its processor does not, and its callers' lines name the wait."""
    world = hard_world("lock-contention")
    database = world.truth.entities[0]

    assert rise_of(world, database, "lock_waits") > 10.0
    assert rise_of(world, database, "cpu_percent") < 1.2
    assert slowdown_seen_by_callers(world, database) > 2.0
    assert lines_with(world, "Lock wait timeout")


def test_a_full_disk_grew_before_the_onset() -> None:
    """It is at 100% from the onset on, was below before, and writes fail."""
    world = hard_world("disk-full")
    database = world.truth.entities[0]
    used = series_of(world, database, "disk_used_percent")

    assert used.value[0] < 90.0
    assert used.value[-1] == 100.0
    assert rise_of(world, database, "error_rate") > 5.0
    assert lines_with(world, "No space left on device")


@pytest.mark.parametrize(
    ("kind", "signal", "least"),
    [("cpu-quota", "cpu_throttled_ratio", 10.0), ("gc-pauses", "gc_pause_ratio", 5.0)],
)
def test_pauses_show_at_the_instances(kind: str, signal: str, least: float) -> None:
    """The signal rises at the culprit only; every service has it."""
    world = hard_world(kind)
    with_signal = {series.entity for series in world.telemetry.metrics if series.signal == signal}

    assert loudest_rise(world, world.truth.entities[0], signal) > least
    assert slowdown_seen_by_callers(world, world.truth.entities[0]) > 1.3
    assert len(with_signal) > 4
    for pod in with_signal - set(instances_of(world, world.truth.entities[0])):
        assert rise_of(world, pod, signal) < 3.0


def test_killed_instances_leave_events_states_and_restarts() -> None:
    """Memory reaches the limit again and again; the platform counts the kills."""
    world = hard_world("oom-loop")
    pods = set(instances_of(world, world.truth.entities[0]))
    kills = [event for event in world.telemetry.events if event.reason == "OOMKilling"]
    looping = {state.entity for state in world.telemetry.states if state.state == "CrashLoopBackOff"}

    assert len(kills) >= 3
    assert {event.entity for event in kills} == looping <= pods
    assert set(lines_with(world, "OutOfMemoryError")) == looping
    memory = series_of(world, min(looping), "memory_bytes")
    assert (
        np.sum(np.diff(memory.value[memory.time_s >= world.play.scene.onset_s]) < -0.2 * memory.value.max())
        >= 3
    )


@pytest.mark.parametrize(
    ("kind", "words", "most"),
    [("dns-failure", "no such host", 0.85), ("expired-certificate", "x509: certificate has expired", 0.1)],
)
def test_calls_that_do_not_arrive_are_missing_at_the_callee(kind: str, words: str, most: float) -> None:
    """Its requests fall, it is as well as ever, and its callers' lines name it."""
    world = hard_world(kind)
    culprit = world.truth.entities[0]

    assert rise_of(world, culprit, "requests_per_s") < most
    assert loudest_rise(world, culprit, "cpu_percent") < 1.2
    writers = {world.telemetry.owners[pod] for pod in lines_with(world, words)}
    assert writers
    assert writers <= set(world.truth.scope)


def test_retries_keep_a_service_busy_after_the_hiccup() -> None:
    """The callee gets far more requests, the entry does not; the retries are counted by the callers."""
    world = hard_world("retry-storm")
    culprit = world.truth.entities[0]
    entry = world.play.scene.system.entry.name

    assert rise_of(world, culprit, "requests_per_s") > 1.7
    assert rise_of(world, entry, "requests_per_s") < 1.3
    assert max(rise_of(world, caller, f"retries_to_{culprit}_per_s") for caller in world.truth.scope) > 10.0


def test_a_throttled_provider_refuses_calls() -> None:
    """Its error rate rises; the lines of its callers hold the status and the name."""
    world = hard_world("throttled-api")
    provider = world.truth.entities[0]

    assert rise_of(world, provider, "error_rate") > 5.0
    assert lines_with(world, f"{provider} answered 429")


def test_of_a_third_party_there_are_only_its_callers_spans() -> None:
    """No metrics, no spans of its own; calls to it are slow."""
    world = hard_world("slow-third-party")
    provider = world.truth.entities[0]

    assert provider not in {span.part for span in world.telemetry.spans}
    assert provider not in {series.entity for series in world.telemetry.metrics}
    assert slowdown_seen_by_callers(world, provider) > 2.0
    assert world.truth.level is TruthLevel.LOCALISED


def test_a_backlog_grows_while_users_notice_nothing() -> None:
    """The queue's depth and age rise, its worker's processor too; the entry is as fast as before."""
    world = hard_world("queue-backlog")
    worker, queue = world.truth.entities[0], world.truth.decoys[0]
    alert = world.telemetry.alert

    assert alert is not None
    assert alert.entity == queue
    assert rise_of(world, queue, "oldest_message_age_s") > 10.0
    assert loudest_rise(world, worker, "cpu_percent") > 1.2
    assert rise_of(world, world.play.scene.system.entry.name, "latency_p90") < 1.2


def test_a_noisy_network_shows_at_its_machine() -> None:
    """The card is full, segments are sent again, and calls to several tenants are slow."""
    world = hard_world("noisy-network")
    node, tenants = world.truth.entities[0], [name for name in world.truth.decoys[:3] if " " not in name]

    assert series_of(world, node, "network_percent").value[-10:].mean() > 80.0
    assert rise_of(world, node, "tcp_retransmits_per_s") > 5.0
    assert sum(slowdown_seen_by_callers(world, tenant) > 1.2 for tenant in tenants) >= 2


@pytest.mark.parametrize("kind", ["slow-query", "config-change", "feature-flag", "bad-instance"])
def test_the_trigger_is_among_the_changes_just_before(kind: str) -> None:
    """Within a minute before the onset, at the culprit; services also have an innocent deploy nearby."""
    world = hard_world(kind)
    before_s = {
        change.summary: world.play.scene.onset_s - change.time_s
        for change in world.telemetry.changes
        if change.entity in world.truth.entities
    }

    assert 0.0 < before_s[str(world.truth.trigger)] < 60.0
    assert world.truth.level is TruthLevel.TRIGGER
    if kind != "slow-query":
        assert any("rolled out" in decoy for decoy in world.truth.decoys)


def test_triggered_faults_show_at_their_region() -> None:
    """One instance fails, one operation fails, and a whole table is read."""
    rollout, flag, query = (hard_world(kind) for kind in ("bad-instance", "feature-flag", "slow-query"))
    failing = [
        span.operation
        for span in flag.telemetry.spans
        if span.error and span.kind == "server" and span.part in flag.truth.entities
        and span.start_s >= flag.play.scene.onset_s
    ]  # fmt: skip

    assert rise_of(rollout, str(rollout.truth.region), "error_rate") > 10.0
    assert {event.entity for event in rollout.telemetry.events if "503" in event.message} == {
        rollout.truth.region
    }
    assert failing.count(str(flag.truth.region)) > 0.7 * len(failing)
    assert rise_of(query, query.truth.entities[0], "rows_read_per_s") > 10.0
