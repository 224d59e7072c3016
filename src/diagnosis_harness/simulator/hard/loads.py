"""Changes of load without a fault: surges, drops, the daily peak, a batch job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from diagnosis_harness.simulator.effects import Effects
from diagnosis_harness.simulator.hard.scene import Broken, Extra, Play, Scene, TruthLevel, busy_parts
from diagnosis_harness.simulator.system import Role
from diagnosis_harness.toolbox.ports import AlertInfo

Load = Callable[[Scene, np.random.Generator], Scene]
"""Change the requests that reach the entry."""

TRAFFIC = frozenset({"TRAFFIC"})


def usual_load(scene: Scene, rng: np.random.Generator) -> Scene:
    """The usual load."""
    del rng
    return scene


def surge(scene: Scene, rng: np.random.Generator) -> Scene:
    """Within two minutes after the onset, requests grow by a factor of 1.9 to 3."""
    factor = float(rng.uniform(1.9, 3.0))
    growth = np.clip((scene.time_s - scene.onset_s) / 120.0, 0.0, 1.0)
    return replace(scene, rate=scene.rate * (1.0 + (factor - 1.0) * growth))


def drop(scene: Scene, rng: np.random.Generator) -> Scene:
    """From the onset on, only 15% of the requests arrive."""
    del rng
    return replace(scene, rate=np.where(scene.since, 0.15 * scene.rate, scene.rate))


def daily_peak(scene: Scene, rng: np.random.Generator) -> Scene:
    """The load rises from the night to the daily peak, about 2.2 times as high."""
    height = float(rng.uniform(2.0, 2.4))
    through = (scene.time_s - scene.time_s[0]) / (scene.time_s[-1] - scene.time_s[0])
    level = 1.0 + (height - 1.0) * 0.5 * (1.0 - np.cos(np.pi * through))
    return replace(scene, rate=scene.rate * level)


def busy_system(scene: Scene, rng: np.random.Generator) -> Broken:
    """Nothing is broken, and the load explains everything; the busiest parts look guilty."""
    del rng
    loud = tuple(part.name for part in busy_parts(scene, frozenset({Role.SERVICE, Role.DATABASE}))[:3])
    return Broken((), "traffic", TRAFFIC, level=TruthLevel.NOTHING, decoys=loud)


def sound_system(scene: Scene, rng: np.random.Generator) -> Broken:
    """Nothing is broken and nothing happens."""
    del scene, rng
    return Broken((), "none", frozenset(), level=TruthLevel.NOTHING)


def batch_job(scene: Scene, rng: np.random.Generator) -> Broken:
    """A job beside one service uses CPU that the service does not need, so nothing gets worse."""
    # The least visited service: slower requests there do not reach the entry.
    part = busy_parts(scene, frozenset({Role.SERVICE}), least=0.0)[-1]
    share = scene.course * rng.uniform(0.3, 0.36, len(scene.time_s))

    def feel(effects: Effects, severity: float) -> Effects:
        del severity
        effects.stolen[part.name][:] += share[:, None]
        return effects

    return Broken((), "none", frozenset(), feel, level=TruthLevel.NOTHING, decoys=(part.name,))


def quiet_system(scene: Scene, rng: np.random.Generator) -> Broken:
    """Nothing is broken, but few users come: the alert is about missing requests."""

    def notice(play: Play, extra: Extra) -> AlertInfo | None:
        del extra
        entry = play.scene.system.entry.name
        rate = next(s for s in play.metrics if (s.entity, s.signal) == (entry, "requests_per_s"))
        limit = 0.5 * float(np.median(rate.value[~scene.since]))
        low = np.flatnonzero((rate.value < limit) & scene.since)
        at_s = float(rate.time_s[low[1]]) + float(scene.time_s[1] - scene.time_s[0])
        return AlertInfo(
            entity=entry,
            signal="requests_per_s",
            time_s=at_s,
            direction="down",
            summary=f"{entry} requests_per_s below {limit:.3g}",
        )

    return replace(busy_system(scene, rng), notice=notice)
