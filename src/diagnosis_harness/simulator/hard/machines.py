"""The machines of the instances: a processor or a network card that several services share."""

from __future__ import annotations

import numpy as np

from diagnosis_harness.simulator.effects import Effects
from diagnosis_harness.simulator.hard.scene import (
    Broken,
    Extra,
    PlatformEvent,
    Play,
    Scene,
    StateRow,
    busy_parts,
    level_series,
)
from diagnosis_harness.simulator.system import Role, Service, System
from diagnosis_harness.simulator.traffic import wandering
from diagnosis_harness.toolbox.ports import Series

NODES = 4
TENANTS = 3


def place_instances(system: System, rng: np.random.Generator) -> dict[str, str]:
    """A machine for each of our own instances, assigned in turn."""
    names = [f"node-{int(rng.integers(10, 99))}-{letter}" for letter in "abcd"[:NODES]]
    ours = [
        instance for part in system.services if part.role is not Role.EXTERNAL for instance in part.instances
    ]
    order = rng.permutation(len(ours))
    return {ours[int(place)]: names[position % NODES] for position, place in enumerate(order)}


def show_machines(play: Play, rng: np.random.Generator) -> Extra:
    """Record processor and network card of every machine, as its tenants use them."""
    return Extra(metrics=tuple(_machine_series(play, rng, loud=None, used=None)))


def noisy_host(scene: Scene, rng: np.random.Generator) -> Broken:
    """A process on one machine uses its processor; the tenants of three services slow down."""
    node, tenants = _busiest_machine(scene)
    share = scene.course * rng.uniform(0.94, 1.0, len(scene.time_s))

    def feel(effects: Effects, severity: float) -> Effects:
        taken = min(0.55 + 0.15 * severity, 0.93)
        for part, index in tenants:
            effects.stolen[part.name][:, index] += taken * share
        return effects

    def show(play: Play, rng: np.random.Generator) -> Extra:
        return Extra(metrics=tuple(_machine_series(play, rng, loud=(node, "cpu"), used=97.0 * share)))

    return Broken(
        (node,),
        "noisy-neighbour",
        frozenset({"CPU"}),
        feel,
        show,
        decoys=tuple(sorted({part.name for part, _ in tenants})),
    )


def noisy_network(scene: Scene, rng: np.random.Generator) -> Broken:
    """A neighbour fills one machine's network card; every call to its tenants is late."""
    node, tenants = _busiest_machine(scene)
    share = scene.course * rng.uniform(0.9, 1.0, len(scene.time_s))
    names = {part.name: len(part.instances) for part, _ in tenants}

    def feel(effects: Effects, severity: float) -> Effects:
        for call in scene.system.calls:
            if call.callee in names:  # the mean over all instances: those elsewhere are as fast as usual
                effects.delay_s[call.caller, call.callee][:] += 0.2 * severity * share / names[call.callee]
        return effects

    def show(play: Play, rng: np.random.Generator) -> Extra:
        return Extra(metrics=tuple(_machine_series(play, rng, loud=(node, "network"), used=96.0 * share)))

    return Broken(
        (node,), "network-neighbour", frozenset({"NETWORK"}), feel, show, decoys=tuple(sorted(names))
    )


def _busiest_machine(scene: Scene) -> tuple[str, list[tuple[Service, int]]]:
    """The machine whose tenants serve the most requests, and at most three tenants of different services."""
    visits = scene.system.visits()
    tenants: dict[str, dict[str, tuple[Service, int]]] = {}
    for part in busy_parts(scene, frozenset({Role.SERVICE}), least=0.1):
        for index, instance in enumerate(part.instances):
            tenants.setdefault(scene.nodes[instance], {}).setdefault(part.name, (part, index))
    loads = {node: sum(visits[name] for name in found) for node, found in tenants.items()}
    node = max(sorted(tenants), key=lambda name: (min(TENANTS, len(tenants[name])), loads[name]))
    return node, list(tenants[node].values())[:TENANTS]


def _machine_series(
    play: Play,
    rng: np.random.Generator,
    *,
    loud: tuple[str, str] | None,
    used: np.ndarray[tuple[int], np.dtype[np.float64]] | None,
) -> list[Series]:
    """Processor, network and run queue of each machine; `used` is the share that the fault takes of one."""
    scene, ticks = play.scene, len(play.scene.time_s)
    found = []
    for node in sorted(set(scene.nodes.values())):
        mine = [s for s in play.metrics if s.signal == "cpu_percent" and scene.nodes.get(s.entity) == node]
        own = np.sum([series.value for series in mine], axis=0) if mine else np.zeros(ticks)
        cpu = 8.0 + 0.16 * own + wandering(rng, ticks, memory=0.8, size=1.5)
        network = 22.0 + wandering(rng, ticks, memory=0.9, size=3.0)
        if loud is not None and used is not None and loud[0] == node:
            if loud[1] == "cpu":
                cpu = np.maximum(cpu, used)
            else:
                network = np.maximum(network, used)
        resent = np.exp(rng.normal(0.0, 0.2, ticks)) * (0.4 + np.clip(network - 85.0, 0.0, None) * 2.5)
        found += [
            level_series(scene, node, "cpu_percent", unit="percent", value=np.clip(cpu, 0.5, 100.0)),
            level_series(scene, node, "load_1m", unit=None, value=np.clip(cpu, 0.5, 100.0) / 12.0),
            level_series(scene, node, "network_percent", unit="percent", value=np.clip(network, 1.0, 100.0)),
            level_series(scene, node, "tcp_retransmits_per_s", unit="1/s", value=resent),
        ]
    return found


def platform_of(play: Play, shown: Extra, rng: np.random.Generator) -> Extra:
    """The final states of pods that no fault has recorded, and a few harmless events."""
    scene = play.scene
    named = {state.entity for state in shown.states}
    pods = [pod for pod in scene.nodes if pod not in named]
    harmless = (
        ("Pulled", "Container image is present on machine"),
        ("ScalingReplicaSet", "Scaled replica set to its wanted size"),
        ("Unhealthy", "Readiness probe failed: context deadline exceeded"),
        ("TaintManagerEviction", "Cancelling deletion of pod"),
    )
    events = []
    for at_s in rng.uniform(scene.time_s[0], scene.time_s[-1], int(rng.integers(3, 8))).tolist():
        reason, message = harmless[int(rng.integers(len(harmless)))]
        events.append(PlatformEvent(at_s, pods[int(rng.integers(len(pods)))], "Pod", reason, message))
    return Extra(
        events=tuple(events),
        states=tuple(
            StateRow(pod, "Pod", "Running", scene.nodes[pod], int(rng.random() < 0.1)) for pod in pods
        ),
    )
