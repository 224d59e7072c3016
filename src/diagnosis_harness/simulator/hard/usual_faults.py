"""The usual faults of one part or one call, with any course over time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diagnosis_harness.simulator.effects import Effects
from diagnosis_harness.simulator.hard.scene import Breaking, Broken, Scene, TruthLevel, busy_parts, pick_part
from diagnosis_harness.simulator.system import Role, Service

HEAP_FULL = 0.985


def choose_instances(part: Service, rng: np.random.Generator) -> tuple[list[int], str | None]:
    """All instances or one of them, and its name if it is one of several."""
    count = len(part.instances)
    if count == 1 or rng.random() < 0.5:
        return list(range(count)), None
    index = int(rng.integers(count))
    return [index], part.instances[index]


def eat_processor(scene: Scene, rng: np.random.Generator) -> Broken:
    """Something else uses the processor of one or all instances of a service."""
    target = pick_part(scene, rng)
    hit, region = choose_instances(target, rng)
    share = scene.course[:, None] * rng.uniform(0.96, 1.0, (len(scene.time_s), len(hit)))

    def feel(effects: Effects, severity: float) -> Effects:
        effects.stolen[target.name][:, hit] += share * min(0.55 + 0.18 * severity, 0.93)
        return effects

    return Broken((target.name,), "cpu", frozenset({"CPU"}), feel, region=region)


def delay_calls(scene: Scene, rng: np.random.Generator) -> Broken:
    """The network to a service is slow, the service itself is not."""
    target = pick_part(scene, rng)
    added_s = 0.12 * scene.course * rng.uniform(0.9, 1.1, len(scene.time_s))

    def feel(effects: Effects, severity: float) -> Effects:
        for call in scene.system.calls_to(target.name):
            effects.delay_s[call.caller, call.callee][:] += severity * added_s
        return effects

    return Broken((target.name,), "network", frozenset({"NETWORK"}), feel, unseen_level=TruthLevel.LOCALISED)


def slow_dependency(scene: Scene, rng: np.random.Generator) -> Broken:
    """A database or an outside provider answers late, with an idle processor."""
    able = busy_parts(scene, frozenset({Role.DATABASE, Role.EXTERNAL}))
    target = able[int(rng.integers(len(able)))]
    extra_s = max(0.09, 4.0 * target.service_time_s) * scene.course

    def feel(effects: Effects, severity: float) -> Effects:
        effects.pauses[target.name][:] += severity * extra_s[:, None]
        return effects

    return Broken(
        (target.name,),
        "slow-dependency",
        frozenset({"DEPENDENCY", "LATENCY"}),
        feel,
        unseen_level=TruthLevel.LOCALISED,
    )


TAKING_TURNS: tuple[Breaking, ...] = (eat_processor, delay_calls, slow_dependency)


def usual_fault(scene: Scene, rng: np.random.Generator) -> Broken:
    """Processor, network delay or slow dependency, in turn."""
    return TAKING_TURNS[scene.turn % len(TAKING_TURNS)](scene, rng)


def another_fault(scene: Scene, rng: np.random.Generator) -> Broken:
    """The fault that follows that of `usual_fault` in turn."""
    return TAKING_TURNS[(scene.turn + 1) % len(TAKING_TURNS)](scene, rng)


def fill_memory(scene: Scene, rng: np.random.Generator) -> Broken:
    """Memory rises towards its limit according to the course; collections take more and more time."""
    target = pick_part(scene, rng)
    hit, region = choose_instances(target, rng)
    noise = rng.normal(0.0, 0.004, (len(scene.time_s), len(hit)))

    def feel(effects: Effects, severity: float) -> Effects:
        heap = effects.heap[target.name]
        usual = heap[:, hit].copy()
        share = scene.course[:, None]
        heap[:, hit] = np.clip(usual + share * (HEAP_FULL - usual) + share * noise, 0.0, 1.0)
        pressure = np.clip((heap[:, hit] - 0.72) / 0.27, 0.0, 1.0) * scene.active[:, None]
        effects.pauses[target.name][:, hit] += 0.35 * severity * pressure**1.5
        effects.stolen[target.name][:, hit] += 0.3 * pressure**2
        return effects

    return Broken((target.name,), "memory-leak", frozenset({"MEMORY"}), feel, region=region)


def fail_early(scene: Scene, rng: np.random.Generator) -> Broken:
    """A service fails some of its requests at once, so that its callers skip their later calls.

    The target is a required call that its caller makes before others.
    """
    visits = scene.system.visits()
    able = []
    for part in busy_parts(scene, frozenset({Role.SERVICE})):
        for call in scene.system.calls_to(part.name):
            made = scene.system.calls_of(call.caller)
            if call.required and made.index(call) < len(made) - 1:
                able.append((visits[call.caller] * call.probability, part))
    able = able or [(visits[part.name], part) for part in busy_parts(scene, frozenset({Role.SERVICE}))]
    target = able[int(rng.integers(len(able)))][1]

    def feel(effects: Effects, severity: float) -> Effects:
        effects.failing[target.name][:] += (min(0.3 * severity, 0.85) * scene.course)[:, None]
        return effects

    return Broken((target.name,), "errors", frozenset({"ERRORS"}), feel, unseen_level=TruthLevel.LOCALISED)


def fail_operation(scene: Scene, rng: np.random.Generator, *, entity: str, severity: float = 2.0) -> Broken:
    """One operation of a part fails from the onset on; the caller adds the change that preceded it."""
    part = scene.system.service(entity)
    operation = int(rng.integers(len(part.operations)))

    def feel(effects: Effects, strength: float) -> Effects:
        rate = min(0.22 * severity * strength, 0.9) * scene.course
        effects.failing[entity][:] += rate[:, None]
        return replace(effects, failing_operation=(entity, operation))

    return Broken((entity,), "errors", frozenset({"ERRORS"}), feel, region=part.operations[operation])
