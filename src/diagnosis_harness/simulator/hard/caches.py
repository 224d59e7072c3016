"""A cache that lost its content: the database behind it gets the requests and stands out most."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diagnosis_harness.simulator.effects import Effects
from diagnosis_harness.simulator.hard.scene import Broken, Extra, Play, Scene, level_series
from diagnosis_harness.simulator.system import Call, Role
from diagnosis_harness.simulator.traffic import wandering

USUAL_HITS = 0.92


def lose_cache(scene: Scene, rng: np.random.Generator) -> Broken:
    """The hit ratio falls from 92% to a few; the owner queries a database for the missing content.

    Raises:
        ValueError: the system has no cache.
    """
    del rng
    cache = next(part.name for part in scene.system.services if part.role is Role.CACHE)
    owner = scene.system.calls_to(cache)[0].caller
    database = min(
        (part for part in scene.system.services if part.role is Role.DATABASE),
        key=lambda part: (part.name != f"{owner}-db", part.name),
    ).name
    system = scene.system
    if all(call.callee != database for call in system.calls_of(owner)):
        behind = Call(owner, database, 1.0 - USUAL_HITS, 2.0, 0.0008, required=True)
        system = replace(system, calls=(*system.calls, behind))
    hits = USUAL_HITS - (USUAL_HITS - 0.04) * scene.course
    probability = next(call for call in system.calls_of(owner) if call.callee == database).probability
    misses = (1.0 - hits) / (1.0 - USUAL_HITS) * (1.0 - USUAL_HITS) / probability

    def feel(effects: Effects, severity: float) -> Effects:
        more = np.where(scene.active, np.maximum(misses * severity, 1.0 + 2.0 * severity), 1.0)
        effects.demand[owner, database] = more
        return effects

    def show(play: Play, rng: np.random.Generator) -> Extra:
        ticks = len(scene.time_s)
        ratio = np.clip(hits + wandering(rng, ticks, memory=0.7, size=0.006), 0.0, 1.0)
        asked = play.parts[cache].load.sum(axis=1)
        return Extra(
            metrics=(
                level_series(scene, cache, "cache_hit_ratio", unit="ratio", value=ratio),
                level_series(scene, cache, "evictions_per_s", unit="1/s", value=0.002 * asked * ratio),
                level_series(scene, cache, "keys", unit=None, value=np.round(2.1e5 * ratio)),
            )
        )

    return Broken(
        (cache,),
        "lost-cache",
        frozenset({"DEPENDENCY", "TRAFFIC"}),
        feel,
        show,
        decoys=(database,),
        system=system,
    )
