"""One hard kind: a row of the catalog, composed of functions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.simulator.hard.courses import Course, at_once
from diagnosis_harness.simulator.hard.loads import Load, usual_load
from diagnosis_harness.simulator.hard.scene import Breaking, RecordingIdea, TruthLevel
from diagnosis_harness.simulator.system import Role


class Origin(StrEnum):
    """Where a kind comes from; each origin is reported separately."""

    REVIEW = "review"  # from a review of cases that the simulator's first five kinds do not cover
    FIELD = "field"  # faults that engineers report from practice
    HEALTHY = "healthy"  # nothing is wrong; three ways to ask


@dataclass(frozen=True, slots=True)
class RecordingTime:
    """Ranges of the seconds recorded before and after the onset, and possible steps."""

    before_s: tuple[float, float] = (3600.0, 5400.0)
    after_s: tuple[float, float] = (660.0, 900.0)
    steps_s: tuple[float, ...] = (15.0, 20.0, 30.0)


@dataclass(frozen=True, slots=True)
class HardKind:
    """A kind of world.

    Attributes:
        name: as the command line knows it.
        summary: one line of what is broken, or what the recording lacks.
        faults: what breaks, each at its own place; if none breaks anything, the world is healthy.
        recorded: changes to the recording, applied in order.
        level: the most that the recording allows to conclude, whatever the fault.
        needs: a role that the system must have.
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
