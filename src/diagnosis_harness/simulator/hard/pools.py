"""Faults in what requests wait for: connections, locks, a CPU quota, a query, a disk."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from diagnosis_harness.simulator.effects import Effects
from diagnosis_harness.simulator.hard.scene import (
    Broken,
    Extra,
    Play,
    Scene,
    TruthLevel,
    Values,
    busy_parts,
    level_series,
    pick_part,
    scatter_times,
)
from diagnosis_harness.simulator.logs import Line
from diagnosis_harness.simulator.system import Role, Service
from diagnosis_harness.simulator.traffic import wandering
from diagnosis_harness.toolbox.ports import ChangeEvent, Series

POOL_SIZE = 50.0
DEPENDENCY = frozenset({"DEPENDENCY", "LATENCY"})


def exhaust_pool(scene: Scene, rng: np.random.Generator) -> Broken:
    """Connections to the database are not returned: the pool of one service is full, and requests wait."""
    owners = [p for p in busy_parts(scene, frozenset({Role.SERVICE}), least=0.1) if _databases(scene, p)]
    target = owners[int(rng.integers(len(owners)))]
    waiting = 18.0 * scene.course * rng.uniform(0.8, 1.2, len(scene.time_s))

    def feel(effects: Effects, severity: float) -> Effects:
        effects.pauses[target.name][:] += (0.25 * severity * scene.course)[:, None]
        return effects

    def show(play: Play, rng: np.random.Generator) -> Extra:
        text = "HikariPool-1 - Connection is not available, request timed out after 250ms"
        lines = _lines(scene, target, rng, every_s=4.0, texts=(text,))
        return Extra(metrics=tuple(_pools(play, rng, full={target.name: waiting})), logs=lines)

    return Broken((target.name,), "pool-exhausted", DEPENDENCY | {"CPU"}, feel, show)


def hold_locks(scene: Scene, rng: np.random.Generator) -> Broken:
    """One transaction holds a lock for which the others wait; the database's processor is idle."""
    target = pick_part(scene, rng, Role.DATABASE, least=0.2)
    callers = [scene.system.service(call.caller) for call in scene.system.calls_to(target.name)]

    def feel(effects: Effects, severity: float) -> Effects:
        effects.pauses[target.name][:] += (0.22 * severity * scene.course)[:, None]
        return effects

    def show(play: Play, rng: np.random.Generator) -> Extra:
        texts = ("Lock wait timeout exceeded; try restarting transaction", "deadlock detected, transaction 1")
        lines = tuple(
            line
            for part in callers
            if part.role is not Role.EXTERNAL
            for line in _lines(scene, part, rng, every_s=20.0, texts=texts)
        )
        metrics = _by_database(play, rng, "lock_waits", usual=0.4, loud={target.name: 35.0 * scene.course})
        transactions = _by_database(
            play, rng, "longest_transaction_s", usual=0.6, loud={target.name: _age(scene)}
        )
        return Extra(metrics=(*metrics, *transactions), logs=lines)

    return Broken((target.name,), "lock-contention", DEPENDENCY, feel, show)


def slow_query(scene: Scene, rng: np.random.Generator) -> Broken:
    """A migration drops an index; from then on, the same statement reads the whole table."""
    target = pick_part(scene, rng, Role.DATABASE, least=0.2)
    column = str(rng.choice(["created_at", "customer_id", "state"]))
    summary = f"{target.name}: migration {int(rng.integers(40, 90))}, rebuilds the index on {column}"
    trigger = ChangeEvent(scene.onset_s - float(rng.uniform(5.0, 40.0)), target.name, "migration", summary)

    def feel(effects: Effects, severity: float) -> Effects:
        effects.slowdown[target.name][:] += (1.6 * severity * scene.course)[:, None]
        effects.pauses[target.name][:] += (0.08 * severity * scene.course)[:, None]
        return effects

    def show(play: Play, rng: np.random.Generator) -> Extra:
        rows = _by_database(play, rng, "rows_read_per_s", usual=900.0, loud={target.name: 6e4 * scene.course})
        return Extra(metrics=tuple(rows), changes=(trigger,))

    return Broken(
        (target.name,),
        "slow-query",
        DEPENDENCY | {"CPU"},
        feel,
        show,
        level=TruthLevel.TRIGGER,
        unseen_level=TruthLevel.TRIGGER,
        trigger=summary,
    )


def throttle_processor(scene: Scene, rng: np.random.Generator) -> Broken:
    """A CPU quota stops one service for part of each period, although its machines are idle."""
    target = pick_part(scene, rng)
    share = scene.course * rng.uniform(0.95, 1.0, len(scene.time_s))

    def feel(effects: Effects, severity: float) -> Effects:
        effects.slowdown[target.name][:] *= 1.0 + (1.2 * severity * share)[:, None]
        return effects

    def show(play: Play, rng: np.random.Generator) -> Extra:
        del play
        found = []
        for part in busy_parts(scene, frozenset({Role.ENTRY, Role.SERVICE}), least=0.0):
            for instance in part.instances:
                ratio = np.abs(wandering(rng, len(share), memory=0.6, size=0.01))
                ratio = ratio + (0.62 * share if part is target else 0.0)
                found.append(level_series(scene, instance, "cpu_throttled_ratio", unit="ratio", value=ratio))
        return Extra(metrics=tuple(found))

    return Broken((target.name,), "cpu-quota", frozenset({"CPU"}), feel, show)


def fill_disk(scene: Scene, rng: np.random.Generator) -> Broken:
    """The disk of a database fills up within an hour; from the onset on, its writes fail."""
    target = pick_part(scene, rng, Role.DATABASE, least=0.2)
    before_s = scene.onset_s - float(scene.time_s[0])
    start = float(rng.uniform(78.0, 86.0))
    used = np.clip(start + (100.0 - start) * (scene.time_s - scene.time_s[0]) / before_s, 0.0, 100.0)
    callers = [scene.system.service(call.caller) for call in scene.system.calls_to(target.name)]

    def feel(effects: Effects, severity: float) -> Effects:
        effects.failing[target.name][:] += (min(0.3 * severity, 0.6) * scene.course)[:, None]
        return effects

    def show(play: Play, rng: np.random.Generator) -> Extra:
        del play
        disks = []
        for part in busy_parts(scene, frozenset({Role.DATABASE}), least=0.0):
            calm = float(rng.uniform(30.0, 60.0)) + 0.0004 * (scene.time_s - scene.time_s[0])
            value = used if part.name == target.name else calm
            disks.append(level_series(scene, part.name, "disk_used_percent", unit="percent", value=value))
        stem = target.name.removesuffix("-db")
        text = f'could not extend file "base/16402/{stem}": No space left on device'
        lines = tuple(
            line for part in callers for line in _lines(scene, part, rng, every_s=12.0, texts=(text,))
        )
        return Extra(metrics=tuple(disks), logs=lines)

    return Broken((target.name,), "disk-full", frozenset({"ERRORS", "DEPENDENCY"}), feel, show)


def _databases(scene: Scene, part: Service) -> list[str]:
    made = scene.system.calls_of(part.name)
    return [c.callee for c in made if scene.system.service(c.callee).role is Role.DATABASE]


def _age(scene: Scene) -> Values:
    return np.where(scene.active, scene.time_s - scene.onset_s, 0.0) * scene.course


def _lines(
    scene: Scene, part: Service, rng: np.random.Generator, *, every_s: float, texts: tuple[str, ...]
) -> tuple[Line, ...]:
    """Error lines of a part's instances during the fault."""
    return tuple(
        Line(at_s, part.instances[int(rng.integers(len(part.instances)))], "ERROR", str(rng.choice(texts)))
        for at_s in scatter_times(scene, rng, every_s=every_s)
    )


def _pools(play: Play, rng: np.random.Generator, *, full: Mapping[str, Values]) -> list[Series]:
    """Connections in use, waiting and allowed, of every service with a database."""
    scene, found = play.scene, []
    for part in scene.system.services:
        if part.role is not Role.SERVICE or not _databases(scene, part):
            continue
        used = np.clip(9.0 + wandering(rng, len(scene.time_s), memory=0.8, size=2.0), 1.0, POOL_SIZE)
        waiting = np.zeros(len(used))
        if part.name in full:
            waiting = np.round(full[part.name])
            used = np.where(scene.active, POOL_SIZE, used)
        for signal, value in (
            ("pool_connections_in_use", np.round(used)),
            ("pool_connections_waiting", waiting),
            ("pool_connections_max", np.full(len(used), POOL_SIZE)),
        ):
            found.append(level_series(scene, part.name, signal, unit=None, value=value))
    return found


def _by_database(
    play: Play, rng: np.random.Generator, signal: str, *, usual: float, loud: Mapping[str, Values]
) -> list[Series]:
    """One signal of every database: usual noise plus the fault's effect."""
    scene = play.scene
    return [
        level_series(
            scene,
            part.name,
            signal,
            unit="s" if signal.endswith("n_s") else None,
            value=usual * rng.gamma(4.0, 0.25, len(scene.time_s)) + loud.get(part.name, 0.0),
        )
        for part in scene.system.services
        if part.role is Role.DATABASE
    ]
