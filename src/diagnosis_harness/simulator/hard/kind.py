"""One hard kind: a row of the catalog, composed of ideas."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.simulator.hard.courses import Course, at_once
from diagnosis_harness.simulator.hard.loads import Load, usual_load
from diagnosis_harness.simulator.hard.scene import Breaking, RecordingIdea, TruthLevel
from diagnosis_harness.simulator.system import Role


class Origin(StrEnum):
    """Where a kind comes from; each is reported apart."""

    REVIEW = "review"  # from a review of what the simulator's first five kinds cannot show
    FIELD = "field"  # what engineers meet
    HEALTHY = "healthy"  # nothing is wrong; the three ways to ask


@dataclass(frozen=True, slots=True)
class RecordingTime:
    """Seconds recorded before and after the onset, each between two limits, and the steps to draw from."""

    before_s: tuple[float, float] = (3600.0, 5400.0)
    after_s: tuple[float, float] = (660.0, 900.0)
    steps_s: tuple[float, ...] = (15.0, 20.0, 30.0)


@dataclass(frozen=True, slots=True)
class HardKind:
    """A kind of world.

    Attributes:
        name: as the command line knows it.
        summary: one line of what is broken, or what the recording lacks.
        faults: what breaks, each at a place of its own; those that break nothing make a sound world.
        recorded: what becomes of the recording, one idea after the other.
        level: the most that the recording allows to know, whatever the fault.
        needs: parts of this role must be in the system.
        with_machines: whether machines, states and events of a platform are recorded.
    """

    name: str
    summary: str
    faults: tuple[Breaking, ...]
    recorded: tuple[RecordingIdea, ...] = ()
    origin: Origin = Origin.REVIEW
    load: Load = usual_load
    course: Course = at_once
    time: RecordingTime = RecordingTime()
    level: TruthLevel = TruthLevel.TRIGGER
    needs: Role | None = None
    with_machines: bool = False
