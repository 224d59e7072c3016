"""Where a fault may sit, and that nothing but its effects gives it away."""

from __future__ import annotations

import numpy as np
import pytest

from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.simulator.changes import record_changes
from diagnosis_harness.simulator.effects import effects_of
from diagnosis_harness.simulator.faults import Fault, FaultKind, choose_fault, truth_of
from diagnosis_harness.simulator.system import Role, System, build_system

BROKEN = [kind for kind in FaultKind if kind is not FaultKind.NONE]
ONSET_S = 4_500.0


def place_fault(kind: FaultKind, seed: int) -> tuple[System, Fault, np.random.Generator]:
    """A system and a fault in it."""
    rng = np.random.default_rng(seed)
    system = build_system(rng, mean_rate_per_s=200.0)
    fault = choose_fault(kind, system, rng, onset_s=ONSET_S)
    assert fault is not None
    return system, fault, rng


@pytest.mark.parametrize("kind", BROKEN)
def test_what_is_hit_belongs_to_the_faulty_part(kind: FaultKind) -> None:
    """Instances and region are the part's own, or calls to it."""
    for seed in range(40):
        system, fault, _ = place_fault(kind, seed)
        target = system.service(fault.target)
        assert set(fault.instances) <= set(range(len(target.instances)))
        region = truth_of(fault, system).region
        calls = {f"{call.caller}->{call.callee}" for call in system.calls_to(fault.target)}
        assert region is None or region in {*target.instances, *target.operations, *calls}


def test_errors_sit_where_the_entry_depends_on_the_answer() -> None:
    """Errors behind a call that the caller can do without would never be noticed."""
    for seed in range(200):
        system, fault, _ = place_fault(FaultKind.ERRORS_AFTER_DEPLOY, seed)
        assert system.visits(required=True)[fault.target] >= 0.2


def test_systems_are_graphs_without_circles_in_calling_order() -> None:
    """Every part but the entry is called, and only by parts that stand before it."""
    for seed in range(40):
        system = build_system(np.random.default_rng(seed), mean_rate_per_s=200.0)
        place = {part.name: index for index, part in enumerate(system.services)}
        assert all(place[call.caller] < place[call.callee] for call in system.calls)
        assert {call.callee for call in system.calls} == set(place) - {system.entry.name}
        instances = [instance for part in system.services for instance in part.instances]
        assert len(instances) == len(set(instances))


@pytest.mark.parametrize("kind", [kind for kind in BROKEN if kind is not FaultKind.SLOW_DEPENDENCY])
def test_harmless_changes_meet_the_faulty_part_as_often_as_others(kind: FaultKind) -> None:
    """Before the hour in which things break, having been deployed proves neither guilt nor innocence."""
    window = TimeWindow(0.0, 5_400.0)
    guilty: list[bool] = []
    others: list[bool] = []
    for seed in range(400):
        system, fault, rng = place_fault(kind, seed)
        changes = record_changes(system, fault, window, rng, onset_s=ONSET_S)
        changed = {change.entity for change in changes if change.time_s < ONSET_S - 600.0}
        for part in system.services:
            if part.role is Role.SERVICE:
                (guilty if part.name == fault.target else others).append(part.name in changed)
    assert np.mean(others) > 0.1
    assert abs(np.mean(guilty) - np.mean(others)) < 0.07


def test_busy_neighbours_meet_the_faulty_part_as_often_as_others() -> None:
    """Bursts of processor use before the onset tell nothing of where it will break."""
    time_s = 20.0 * np.arange(270, dtype=np.float64)
    guilty: list[bool] = []
    others: list[bool] = []
    for seed in range(400):
        system, fault, rng = place_fault(FaultKind.NETWORK_DELAY, seed)
        stolen = effects_of(fault, system, time_s, rng).stolen
        for part in system.services:
            if part.role is Role.SERVICE:
                burst = bool(stolen[part.name][time_s < ONSET_S].any())
                (guilty if part.name == fault.target else others).append(burst)
    assert np.mean(others) > 0.1
    assert abs(np.mean(guilty) - np.mean(others)) < 0.07
