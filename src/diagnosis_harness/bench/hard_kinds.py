"""Hard kinds of simulated incidents as a data set. Seeds of one run are all even or all odd.

Even seeds are for development; odd ones are for the published score, and nobody looks at their worlds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from diagnosis_harness.bench.case import Case, Condition, Truth
from diagnosis_harness.bench.demo_faults import is_published, seed_use
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.simulator.hard.catalog import HARD_KINDS
from diagnosis_harness.simulator.hard.play import HardWorld, simulate_hard
from diagnosis_harness.simulator.hard.scene import TruthLevel
from diagnosis_harness.simulator.hard.writing import hard_folder_name, write_hard_folder

FIRST_DEVELOPMENT_SEED, FIRST_PUBLISHED_SEED = 1000, 1001


@dataclass(frozen=True, slots=True)
class HardKinds:
    """Worlds of every hard kind for `seeds` seeds: `first_seed` and every second one after it."""

    seeds: int = 5
    first_seed: int = FIRST_DEVELOPMENT_SEED
    name: str = "hard-kinds"
    _truths: dict[str, Truth] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise InvalidInput("--seeds", f"{self.seeds} is not a valid number of seeds", "ask for 1 or more")
        if self.first_seed < 0:
            raise InvalidInput("--first-seed", f"{self.first_seed} is below zero", "start at 0 or later")

    @property
    def use(self) -> str:
        """What the seeds are for, as shown with every group of scores."""
        return seed_use(self.first_seed)

    def incident_ids(self, condition: Condition = Condition.AS_PUBLISHED) -> tuple[str, ...]:
        """Kind and seed of every world. What is stated is part of the kind: no other conditions."""
        if condition is not Condition.AS_PUBLISHED:
            return ()
        last = self.first_seed + 2 * self.seeds
        return tuple(f"{kind}/{seed}" for kind in HARD_KINDS for seed in range(self.first_seed, last, 2))

    def export(self, incident_id: str, condition: Condition, target: Path) -> Case:
        """Simulate one world and write its folder; the truth is stored here until the labels are read."""
        world = _simulate(incident_id)
        kind, _, seed = incident_id.partition("/")
        folder = target / hard_folder_name(kind, int(seed))
        write_hard_folder(world, folder)
        self._truths[incident_id] = truth_of_world(world)
        seen = world.telemetry
        return Case(
            incident_id=incident_id,
            group=f"{world.kind.origin.value} kinds, {self.use}",
            folder=folder,
            baseline=None,
            entities=_blamable(world),
            owners=dict(seen.owners),
            condition=condition,
            onset_s=world.play.scene.onset_s,
            alert_entity=None if seen.alert is None else seen.alert.entity,
            unseen=is_published(self.first_seed),
            unused=("states",) if seen.states else (),  # they have states, but no times
        )

    def labels(self, incident_ids: Sequence[str]) -> Mapping[str, Truth]:
        """The truth of these worlds; one that another process exported is simulated again."""
        return {
            incident_id: self._truths.get(incident_id) or truth_of_world(_simulate(incident_id))
            for incident_id in incident_ids
        }


def truth_of_world(world: HardWorld) -> Truth:
    """The truth of a world in the words of the bench; scores are split by the name of the kind."""
    truth = world.truth
    entities = {*_blamable(world), *(part.name for part in world.play.scene.system.services)}
    return Truth(
        entities=truth.entities,
        fault_kind=world.kind.name,
        region=truth.region,
        kinds=truth.kinds,
        level=truth.level.value,
        scope=truth.scope if truth.level is TruthLevel.SCOPED else (),
        trigger=() if truth.trigger is None else (truth.trigger,),
        without_trigger=truth.trigger is None,
        decoys=tuple(decoy for decoy in truth.decoys if decoy not in entities),
        decoy_entities=tuple(decoy for decoy in truth.decoys if decoy in entities),
    )


def _simulate(incident_id: str) -> HardWorld:
    kind, _, seed = incident_id.partition("/")
    return simulate_hard(HARD_KINDS[kind], seed=int(seed))


def _blamable(world: HardWorld) -> tuple[str, ...]:
    """Services in the recording, and other entities with metrics, such as machines and queues."""
    seen = world.telemetry
    names = {edge.caller for edge in seen.calls} | {edge.callee for edge in seen.calls}
    names |= {seen.owners.get(series.entity, series.entity) for series in seen.metrics}
    names |= {seen.owners.get(line.entity, line.entity) for line in seen.logs}
    names |= {change.entity for change in seen.changes if change.entity is not None}
    return tuple(sorted(names))
