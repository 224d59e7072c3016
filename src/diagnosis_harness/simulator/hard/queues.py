"""A queue beside the requests: its consumer falls behind before users notice anything."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diagnosis_harness.simulator.effects import Effects
from diagnosis_harness.simulator.hard.scene import (
    Broken,
    Extra,
    Play,
    Scene,
    Values,
    busy_parts,
    level_series,
)
from diagnosis_harness.simulator.system import Role, Service
from diagnosis_harness.toolbox.ports import AlertInfo

MIB = 1024.0 * 1024.0
AGE_LIMIT_S = 60.0


def fall_behind(scene: Scene, rng: np.random.Generator) -> Broken:
    """The worker of a queue loses its processor: messages wait too long, and the alert is about them."""
    producer = busy_parts(scene, frozenset({Role.SERVICE}), least=0.2)[0].name
    queue, worker = f"{producer}-events", f"{producer}-worker"
    arriving = 0.2 * scene.rate
    part = _worker(worker, queue, rng, rate_per_s=float(np.mean(arriving)))
    system = replace(scene.system, services=(*scene.system.services, part))
    share = scene.course * rng.uniform(0.96, 1.0, len(scene.time_s))

    def feel(effects: Effects, severity: float) -> Effects:
        effects.extra_load[worker] = arriving.copy()
        effects.stolen[worker][:] += (share * min(0.6 + 0.12 * severity, 0.93))[:, None]
        return effects

    def show(play: Play, rng: np.random.Generator) -> Extra:
        done = _capacity(play, part)
        depth = _backlog(arriving, done, scene.time_s) + rng.gamma(2.0, 4.0, len(arriving))
        age_s = depth / np.maximum(np.minimum(done, np.mean(arriving)), 1.0)
        return Extra(
            metrics=(
                level_series(scene, queue, "queue_depth", unit=None, value=np.round(depth)),
                level_series(scene, queue, "oldest_message_age_s", unit="s", value=age_s),
                level_series(scene, queue, "messages_published_per_s", unit="1/s", value=arriving),
            )
        )

    def notice(play: Play, extra: Extra) -> AlertInfo | None:
        del play
        age = next(series for series in extra.metrics if series.signal == "oldest_message_age_s")
        above = np.flatnonzero((age.value > AGE_LIMIT_S) & scene.since)
        if not len(above):
            return None
        return AlertInfo(
            entity=queue,
            signal="oldest_message_age_s",
            time_s=float(age.time_s[above[0]]) + float(scene.time_s[1] - scene.time_s[0]),
            direction="up",
            summary=f"{queue} oldest_message_age_s above {AGE_LIMIT_S:.0f}",
        )

    return Broken(
        (worker,),
        "queue-backlog",
        frozenset({"CPU"}),
        feel,
        show,
        notice,
        decoys=(queue, producer),
        system=system,
    )


def _worker(name: str, queue: str, rng: np.random.Generator, *, rate_per_s: float) -> Service:
    """Two instances that are less than half busy with these messages; no request waits for them."""
    letters = "bcdfghjklm"
    pods = tuple(
        f"{name}-" + "".join(letters[int(place)] for place in rng.integers(0, 10, 5)) for _ in range(2)
    )
    return Service(
        name=name,
        role=Role.SERVICE,
        instances=pods,
        operations=(f"consume {queue}",),
        service_time_s=0.02,
        spread=0.4,
        servers=rate_per_s / 2 * 0.02 / 0.45,
        cpu_share=0.8,
        memory_limit_bytes=1024 * MIB,
        error_rate=0.0005,
    )


def _capacity(play: Play, part: Service) -> Values:
    """The most messages per second that the instances can process."""
    stolen = np.clip(play.effects.stolen[part.name], 0.0, 0.95)
    return np.asarray((part.servers * (1.0 - stolen) / part.service_time_s).sum(axis=1), dtype=np.float64)


def _backlog(arriving: Values, done: Values, time_s: Values) -> Values:
    tick_s, depth = float(time_s[1] - time_s[0]), 0.0
    found = np.empty(len(arriving))
    for step, (more, less) in enumerate(zip(arriving, done, strict=True)):
        depth = max(0.0, depth + (float(more) - float(less)) * tick_s)
        found[step] = depth
    return found
