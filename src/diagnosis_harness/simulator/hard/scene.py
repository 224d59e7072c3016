"""Values that the functions of hard kinds share: the scene, its faults, and the recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.simulator.effects import Effects
from diagnosis_harness.simulator.logs import Line
from diagnosis_harness.simulator.requests import PartSample
from diagnosis_harness.simulator.spans import Span
from diagnosis_harness.simulator.system import Role, Service, System
from diagnosis_harness.toolbox.ports import AlertInfo, CallEdge, ChangeEvent, Series

Values = NDArray[np.float64]


class TruthLevel(StrEnum):
    """How much of the truth the recording shows, from nothing to the change that preceded the fault."""

    NOTHING = "NONE"  # nothing is wrong, or the recording does not show what
    SCOPED = "SCOPED"  # "it begins at X or in what X calls": the culprit itself leaves no trace
    LOCALISED = "LOCALISED"  # the part where it starts
    EXPLAINED = "EXPLAINED"  # and what happened there, by evidence of separate origin
    TRIGGER = "TRIGGER"  # and the change or the load that preceded it


@dataclass(frozen=True, slots=True)
class WorldTruth:
    """The right answer of a hard world; returned to the caller, never written to the folder.

    Attributes:
        entities: everything at fault; empty if nothing is broken.
        fault: what is broken, in one or two technical words.
        kinds: the product's fault kinds that are right for it.
        region: the affected instance, call or operation; None if all of the entity is affected.
        level: the highest level that the recording allows.
        scope: the entities that a scoped answer may name: the callers of a culprit without telemetry.
        trigger: the change that caused it, as its summary in the recording.
        decoys: summaries of innocent changes, and entities that look guilty.
    """

    entities: tuple[str, ...]
    fault: str
    kinds: frozenset[str] = frozenset()
    region: str | None = None
    level: TruthLevel = TruthLevel.EXPLAINED
    scope: tuple[str, ...] = ()
    trigger: str | None = None
    decoys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything that is fixed before anything breaks.

    `course` is the strength of the fault in each tick, from 0 to 1. `turn` counts worlds of one kind, so that
    its base faults take turns. `taken` are the parts that already have a fault.
    """

    system: System
    time_s: Values
    rate: Values
    onset_s: float
    course: Values
    turn: int
    nodes: Mapping[str, str]
    """Instance to the machine it runs on."""
    taken: frozenset[str] = frozenset()

    @property
    def since(self) -> NDArray[np.bool_]:
        """The ticks from the onset on."""
        return self.time_s >= self.onset_s

    @property
    def active(self) -> NDArray[np.bool_]:
        """The ticks in which the fault has any strength."""
        return self.course > 0.0


@dataclass(frozen=True, slots=True)
class PlatformEvent:
    """A platform's report about an object: a row of `events.csv`."""

    time_s: float
    entity: str
    kind: str
    reason: str
    message: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class StateRow:
    """The state of an object at the end of the recording: a row of `states.csv`."""

    entity: str
    kind: str
    state: str
    node: str = ""
    restarts: int = 0


@dataclass(frozen=True, slots=True)
class Extra:
    """Telemetry in addition to that of every world."""

    metrics: tuple[Series, ...] = ()
    logs: tuple[Line, ...] = ()
    changes: tuple[ChangeEvent, ...] = ()
    events: tuple[PlatformEvent, ...] = ()
    states: tuple[StateRow, ...] = ()


@dataclass(frozen=True, slots=True)
class Play:
    """What happened: the scene, the effects on requests, and the requests."""

    scene: Scene
    effects: Effects
    parts: Mapping[str, PartSample]
    metrics: tuple[Series, ...]


Feel = Callable[[Effects, float], Effects]
"""Applies a fault of this strength (1 is usual) to the effects."""

Show = Callable[[Play, np.random.Generator], Extra]
"""Returns what the fault adds to the recording besides its effect on requests."""

Notice = Callable[[Play, Extra], AlertInfo | None]
"""Returns the alert that this fault raises, or None if it stays below the threshold."""


def feel_nothing(effects: Effects, severity: float) -> Effects:
    """Change no effects."""
    del severity
    return effects


def show_nothing(play: Play, rng: np.random.Generator) -> Extra:
    """Add nothing to the recording."""
    del play, rng
    return Extra()


@dataclass(frozen=True, slots=True)
class Broken:
    """One fault at its place. `system` replaces the scene's if the fault needs parts that it lacks.

    `unseen_level` is the level of truth if no span shows the culprit.
    """

    entities: tuple[str, ...]
    fault: str
    kinds: frozenset[str]
    feel: Feel = feel_nothing
    show: Show = show_nothing
    notice: Notice | None = None
    region: str | None = None
    level: TruthLevel = TruthLevel.EXPLAINED
    unseen_level: TruthLevel = TruthLevel.EXPLAINED
    trigger: str | None = None
    decoys: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    system: System | None = None


Breaking = Callable[[Scene, np.random.Generator], Broken]
"""Chooses the place of a fault in the scene, and defines its effects."""


@dataclass(frozen=True, slots=True)
class WorldTelemetry:
    """What was recorded; each `RecordingIdea` takes one and returns another.

    `onset_s` is the stated onset; `with_status` records errors in spans. Empty parts get no file.
    """

    system: System
    metrics: tuple[Series, ...]
    spans: tuple[Span, ...]
    logs: tuple[Line, ...]
    changes: tuple[ChangeEvent, ...]
    calls: tuple[CallEdge, ...]
    owners: Mapping[str, str]
    alert: AlertInfo | None
    events: tuple[PlatformEvent, ...] = ()
    states: tuple[StateRow, ...] = ()
    onset_s: float | None = None
    with_status: bool = True


@dataclass(frozen=True, slots=True)
class Known:
    """What a `RecordingIdea` may use: what happened, and the truth."""

    play: Play
    truth: WorldTruth

    @property
    def culprits(self) -> frozenset[str]:
        """The entities at fault and all their instances."""
        names = set(self.truth.entities)
        for service in self.play.scene.system.services:
            if service.name in names:
                names |= set(service.instances)
        return frozenset(names)


RecordingIdea = Callable[[WorldTelemetry, Known, np.random.Generator], WorldTelemetry]
"""Changes a recording: removes, distorts, or rewrites parts of it."""


def busy_parts(scene: Scene, roles: frozenset[Role], *, least: float = 0.3) -> list[Service]:
    """The parts of these roles that get enough of the entry's requests, the busiest first."""
    visits = scene.system.visits()
    able = [part for part in scene.system.services if part.role in roles and part.name not in scene.taken]
    able.sort(key=lambda part: -visits[part.name])
    busy = [part for part in able if visits[part.name] >= least]
    return busy or able[:1]


def pick_part(
    scene: Scene, rng: np.random.Generator, role: Role = Role.SERVICE, *, least: float = 0.3
) -> Service:
    """One of the busy parts of a role.

    Raises:
        ValueError: the system has none.
    """
    found = busy_parts(scene, frozenset({role}), least=least)
    if not found:
        raise ValueError(f"no part is a {role.value}")
    return found[int(rng.integers(len(found)))]


def level_series(scene: Scene, entity: str, signal: str, *, unit: str | None, value: Values) -> Series:
    """A series over all ticks of the scene."""
    return Series(entity=entity, signal=signal, unit=unit, time_s=scene.time_s, value=value)


def scatter_times(
    scene: Scene, rng: np.random.Generator, *, every_s: float, when: NDArray[np.bool_] | None = None
) -> list[float]:
    """Random times, one per `every_s` seconds of the ticks with the fault, or of the ticks in `when`."""
    ticks = scene.time_s[scene.active if when is None else when]
    if not len(ticks):
        return []
    count = max(1, int((ticks[-1] - ticks[0]) / every_s))
    chosen = np.sort(rng.choice(len(ticks), size=min(count, len(ticks)), replace=False))
    tick_s = float(scene.time_s[1] - scene.time_s[0])
    return [float(ticks[index] + rng.uniform(0.0, tick_s)) for index in chosen]
