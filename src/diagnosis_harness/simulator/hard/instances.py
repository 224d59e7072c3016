"""Faults inside instances: long garbage collections, and a loop of kills and restarts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diagnosis_harness.simulator.effects import Effects
from diagnosis_harness.simulator.hard.scene import (
    Broken,
    Extra,
    PlatformEvent,
    Play,
    Scene,
    StateRow,
    level_series,
    pick_part,
)
from diagnosis_harness.simulator.hard.usual_faults import choose_instances
from diagnosis_harness.simulator.system import Role

MEMORY = frozenset({"MEMORY"})


def pause_for_collections(scene: Scene, rng: np.random.Generator) -> Broken:
    """The heap of a service stays nearly full without growing, so collections stop it repeatedly."""
    target = pick_part(scene, rng)
    hit, region = choose_instances(target, rng)
    full = rng.uniform(0.9, 0.95)

    def feel(effects: Effects, severity: float) -> Effects:
        heap = effects.heap[target.name]
        flat = full + 0.02 * (heap[:, hit] - heap[:, hit].mean(axis=0))
        heap[:, hit] = np.where(scene.active[:, None], flat, heap[:, hit])
        effects.pauses[target.name][:, hit] += (0.15 * severity * scene.course)[:, None]
        effects.stolen[target.name][:, hit] += (0.25 * scene.course)[:, None]
        return effects

    def show(play: Play, rng: np.random.Generator) -> Extra:
        del play
        found = []
        for part in scene.system.services:
            if part.role not in {Role.ENTRY, Role.SERVICE}:
                continue
            for index, instance in enumerate(part.instances):
                paused = 0.012 * rng.gamma(4.0, 0.25, len(scene.time_s))
                if part.name == target.name and index in hit:
                    paused = paused + 0.35 * scene.course
                found.append(level_series(scene, instance, "gc_pause_ratio", unit="ratio", value=paused))
        return Extra(metrics=tuple(found))

    return Broken((target.name,), "gc-pauses", MEMORY | {"CPU"}, feel, show, region=region)


def kill_and_restart(scene: Scene, rng: np.random.Generator) -> Broken:
    """Instances exceed their memory limit within a minute or two, are killed, restart, and grow again."""
    target = pick_part(scene, rng)
    hit, region = choose_instances(target, rng)
    life_s = float(rng.uniform(90.0, 150.0))
    age = np.where(scene.active, (scene.time_s - scene.onset_s) % life_s / life_s, 0.0)
    starting = scene.active & ((scene.time_s - scene.onset_s) % life_s < 40.0)
    kills = np.arange(scene.onset_s, scene.time_s[-1], life_s)[1:].tolist()

    def feel(effects: Effects, severity: float) -> Effects:
        heap = effects.heap[target.name]
        heap[:, hit] = np.where(scene.active[:, None], (0.3 + 0.69 * age)[:, None], heap[:, hit])
        down = min(0.45 * severity, 0.9) * starting
        effects.failing[target.name][:, hit] += down[:, None]
        effects.slowdown[target.name][:, hit] *= (1.0 + starting)[:, None]
        restarts = tuple((float(at), target.instances[index]) for at in kills for index in hit)
        return replace(effects, restarts=tuple(sorted((*effects.restarts, *restarts))))

    def show(play: Play, rng: np.random.Generator) -> Extra:
        del play, rng
        events = tuple(
            event
            for index in hit
            for number, at in enumerate(kills, start=1)
            for event in _events_of_kill(target.instances[index], float(at), number)
        )
        states = tuple(
            StateRow(
                target.instances[i],
                "Pod",
                "CrashLoopBackOff",
                scene.nodes.get(target.instances[i], ""),
                restarts=len(kills),
            )
            for i in hit
        )
        return Extra(events=events, states=states)

    return Broken((target.name,), "oom-loop", MEMORY, feel, show, region=region)


def _events_of_kill(instance: str, at_s: float, number: int) -> tuple[PlatformEvent, ...]:
    return (
        PlatformEvent(at_s, instance, "Pod", "OOMKilling", "Memory limit exceeded, exit code 137", number),
        PlatformEvent(at_s + 3.0, instance, "Pod", "BackOff", "Back-off restarting failed container", number),
    )
