"""Changes that cause a fault, and innocent ones that only look guilty."""

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
    TruthLevel,
    busy_parts,
    pick_part,
)
from diagnosis_harness.simulator.hard.usual_faults import fail_operation, usual_fault
from diagnosis_harness.simulator.system import Role, Service
from diagnosis_harness.toolbox.ports import ChangeEvent

INNOCENT_BEFORE_S = 20.0


def innocent_deploy(scene: Scene, rng: np.random.Generator) -> Broken:
    """A usual fault, and 20 seconds before it another service is deployed."""
    return _beside_deploy(scene, rng, shift=False)


def innocent_deploy_with_shift(scene: Scene, rng: np.random.Generator) -> Broken:
    """The same, and the new version needs more memory and CPU without doing harm."""
    return _beside_deploy(scene, rng, shift=True)


def _beside_deploy(scene: Scene, rng: np.random.Generator, *, shift: bool) -> Broken:
    broken = usual_fault(scene, rng)
    others = [
        p for p in busy_parts(scene, frozenset({Role.SERVICE}), least=0.1) if p.name not in broken.entities
    ]
    part = others[int(rng.integers(len(others)))]
    change = deploy_of(part, scene.onset_s - INNOCENT_BEFORE_S, rng)
    since = scene.time_s >= change.time_s

    def feel(effects: Effects, severity: float) -> Effects:
        effects = broken.feel(effects, severity)
        if shift:
            effects.heap[part.name][since] += 0.12
            effects.stolen[part.name][since] += 0.06
        return effects

    def show(play: Play, rng: np.random.Generator) -> Extra:
        shown = broken.show(play, rng)
        return replace(shown, changes=(*shown.changes, change))

    return replace(broken, feel=feel, show=show, decoys=(*broken.decoys, change.summary))


def change_configuration(scene: Scene, rng: np.random.Generator) -> Broken:
    """A service gets only a few worker threads: requests queue while processors are idle."""
    target = pick_part(scene, rng)
    summary = f"{target.name}: worker threads 32 to 4, request log off"
    change = _before(scene, rng, entity=target.name, kind="config", summary=summary)

    def feel(effects: Effects, severity: float) -> Effects:
        effects.pauses[target.name][:] += (0.2 * severity * scene.course)[:, None]
        return effects

    broken = Broken((target.name,), "configuration", frozenset({"LATENCY", "DEPENDENCY", "UNKNOWN"}), feel)
    return _with_trigger(broken, scene, rng, change)


def switch_flag(scene: Scene, rng: np.random.Generator) -> Broken:
    """A feature flag is switched on, and one operation of a service fails."""
    target = pick_part(scene, rng)
    summary = f"flag {target.name}-express-{int(rng.integers(2, 9))} on for 100%"
    change = _before(scene, rng, entity=target.name, kind="flag", summary=summary)
    return _with_trigger(fail_operation(scene, rng, entity=target.name), scene, rng, change)


def roll_out_one(scene: Scene, rng: np.random.Generator) -> Broken:
    """One of several instances gets a new version, which fails requests and the readiness probe."""
    able = [p for p in busy_parts(scene, frozenset({Role.SERVICE})) if len(p.instances) > 1]
    target = able[int(rng.integers(len(able)))]
    index = int(rng.integers(len(target.instances)))
    version = _version(rng)
    summary = f"{target.name} {version} rolled out to 1 of {len(target.instances)} instances"
    change = _before(scene, rng, entity=target.name, kind="deploy", summary=summary)

    def feel(effects: Effects, severity: float) -> Effects:
        effects.failing[target.name][:, index] += min(0.4 * severity, 0.95) * scene.course
        return effects

    def show(play: Play, rng: np.random.Generator) -> Extra:
        del play, rng
        message = "Readiness probe failed: HTTP probe failed with statuscode: 503"
        times = scene.time_s[scene.active][1::8]
        events = tuple(
            PlatformEvent(float(at), target.instances[index], "Pod", "Unhealthy", message, number)
            for number, at in enumerate(times, start=1)
        )
        return Extra(events=events)

    broken = Broken(
        (target.name,), "bad-rollout", frozenset({"ERRORS"}), feel, show, region=target.instances[index]
    )
    return _with_trigger(broken, scene, rng, change)


def _with_trigger(broken: Broken, scene: Scene, rng: np.random.Generator, change: ChangeEvent) -> Broken:
    """The fault with its change, and an innocent deploy of another service a few minutes before."""
    others = [p for p in busy_parts(scene, frozenset({Role.SERVICE}), least=0.0) if p.name != change.entity]
    innocent = deploy_of(
        others[int(rng.integers(len(others)))], scene.onset_s - float(rng.uniform(90.0, 400.0)), rng
    )

    def show(play: Play, rng: np.random.Generator) -> Extra:
        shown = broken.show(play, rng)
        return replace(shown, changes=(*shown.changes, change, innocent))

    return replace(
        broken,
        show=show,
        level=TruthLevel.TRIGGER,
        unseen_level=TruthLevel.TRIGGER,
        trigger=change.summary,
        decoys=(*broken.decoys, innocent.summary),
    )


def deploy_of(part: Service, time_s: float, rng: np.random.Generator) -> ChangeEvent:
    """A deploy of one service to all of its instances."""
    summary = f"{part.name} {_version(rng)} rolled out to {len(part.instances)} instances"
    return ChangeEvent(time_s, part.name, "deploy", summary)


def _version(rng: np.random.Generator) -> str:
    return f"{int(rng.integers(1, 6))}.{int(rng.integers(0, 30))}.{int(rng.integers(0, 9))}"


def _before(scene: Scene, rng: np.random.Generator, *, entity: str, kind: str, summary: str) -> ChangeEvent:
    """A change within the last minute before the onset."""
    return ChangeEvent(scene.onset_s - float(rng.uniform(5.0, 45.0)), entity, kind, summary)
