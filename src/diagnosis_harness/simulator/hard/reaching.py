"""Faults between services or outside: name lookups, certificates, quotas, providers, retries."""

from __future__ import annotations

import numpy as np

from diagnosis_harness.simulator.effects import Effects
from diagnosis_harness.simulator.hard.scene import (
    Broken,
    Extra,
    Play,
    Scene,
    TruthLevel,
    level_series,
    pick_part,
    scatter_times,
)
from diagnosis_harness.simulator.logs import Line
from diagnosis_harness.simulator.system import Role

ERRORS = frozenset({"ERRORS", "DEPENDENCY", "NETWORK"})


def lose_name(scene: Scene, rng: np.random.Generator) -> Broken:
    """Lookups of one service's name fail for some calls; the service itself is healthy."""
    target = _essential_part(scene, rng)
    text = f"dial tcp: lookup {target}.prod.svc.cluster.local on 10.96.0.10:53: no such host"
    return _unreachable(scene, target, fault="dns", share=0.45, spent_s=0.9, text=text)


def expire_certificate(scene: Scene, rng: np.random.Generator) -> Broken:
    """A service's certificate expires, so that every caller rejects it from one second to the next."""
    target = _essential_part(scene, rng)
    text = f"tls: failed to verify certificate of {target}: x509: certificate has expired or is not yet valid"
    return _unreachable(scene, target, fault="certificate", share=1.0, spent_s=0.006, text=text)


def throttle_api(scene: Scene, rng: np.random.Generator) -> Broken:
    """An outside provider quickly refuses requests above its quota."""
    target = pick_part(scene, rng, Role.EXTERNAL, least=0.0)
    callers = [call.caller for call in scene.system.calls_to(target.name)]

    def feel(effects: Effects, severity: float) -> Effects:
        rate = min(0.35 * severity, 0.9) * scene.course
        effects.failing[target.name][:] += rate[:, None]
        return effects

    def show(play: Play, rng: np.random.Generator) -> Extra:
        del play
        text = f"{target.name} answered 429 Too Many Requests, Retry-After: 60"
        return Extra(logs=_lines_of(scene, callers, rng, every_s=6.0, text=text))

    return Broken((target.name,), "throttled", ERRORS | {"TRAFFIC"}, feel, show, scope=tuple(callers))


def slow_provider(scene: Scene, rng: np.random.Generator) -> Broken:
    """An outside provider answers late; only its callers' spans show it."""
    target = pick_part(scene, rng, Role.EXTERNAL, least=0.0)
    callers = tuple(call.caller for call in scene.system.calls_to(target.name))

    def feel(effects: Effects, severity: float) -> Effects:
        effects.pauses[target.name][:] += (0.6 * severity * scene.course)[:, None]
        return effects

    return Broken(
        (target.name,),
        "slow-dependency",
        frozenset({"DEPENDENCY", "LATENCY"}),
        feel,
        unseen_level=TruthLevel.LOCALISED,
        scope=callers,
    )


def storm_of_retries(scene: Scene, rng: np.random.Generator) -> Broken:
    """A service slows down for a minute; its callers' retries keep it saturated long afterwards."""
    target = pick_part(scene, rng)
    callers = [call.caller for call in scene.system.calls_to(target.name)]
    hiccup = scene.active & (scene.time_s < scene.onset_s + 60.0)

    def feel(effects: Effects, severity: float) -> Effects:
        effects.pauses[target.name][hiccup] += 0.4 * severity
        for caller in callers:
            effects.demand[caller, target.name] = 1.0 + (1.2 + 0.8 * severity) * scene.course
        return effects

    def show(play: Play, rng: np.random.Generator) -> Extra:
        found = []
        for call in scene.system.calls:
            sent = play.parts[call.caller].load.sum(axis=1) * call.probability
            extra = play.effects.demand.get((call.caller, call.callee))
            again = sent * (0.004 * rng.gamma(4.0, 0.25, len(sent)) + (0.0 if extra is None else extra - 1.0))
            signal = f"retries_to_{call.callee}_per_s"
            found.append(level_series(scene, call.caller, signal, unit="1/s", value=again))
        text = f"call to {target.name} failed, attempt 2 of 4 in 50 ms"
        return Extra(metrics=tuple(found), logs=_lines_of(scene, callers, rng, every_s=5.0, text=text))

    return Broken(
        (target.name,),
        "retry-storm",
        frozenset({"CPU", "TRAFFIC", "LATENCY"}),
        feel,
        show,
        scope=tuple(callers),
    )


def _essential_part(scene: Scene, rng: np.random.Generator) -> str:
    """A service whose answers the entry requires."""
    visits = scene.system.visits(required=True)
    able = [
        part.name
        for part in scene.system.services
        if part.role is Role.SERVICE and part.name not in scene.taken and visits[part.name] >= 0.2
    ]
    return able[int(rng.integers(len(able)))] if able else pick_part(scene, rng).name


def _unreachable(scene: Scene, target: str, *, fault: str, share: float, spent_s: float, text: str) -> Broken:
    callers = [call.caller for call in scene.system.calls_to(target)]

    def feel(effects: Effects, severity: float) -> Effects:
        probability = np.clip(share * severity * scene.course, 0.0, 1.0)
        for caller in callers:
            effects.unreached[caller, target] = (probability, spent_s)
        return effects

    def show(play: Play, rng: np.random.Generator) -> Extra:
        del play
        return Extra(logs=_lines_of(scene, callers, rng, every_s=6.0, text=text))

    return Broken((target,), fault, ERRORS, feel, show, level=TruthLevel.EXPLAINED, scope=tuple(callers))


def _lines_of(
    scene: Scene, callers: list[str], rng: np.random.Generator, *, every_s: float, text: str
) -> tuple[Line, ...]:
    """Error lines of the callers' instances during the fault."""
    return tuple(
        Line(at_s, instances[int(rng.integers(len(instances)))], "ERROR", text)
        for caller in callers
        for instances in (scene.system.service(caller).instances,)
        for at_s in scatter_times(scene, rng, every_s=every_s)
    )
