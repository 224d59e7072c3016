"""Simulated faults as a data set: a number of unseen seeds of each kind, and as many healthy worlds.

Even seeds are for development; odd ones are for the published score, and nobody looks at their worlds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from diagnosis_harness.bench.case import Case, Condition, Truth
from diagnosis_harness.bench.datasets.folder import opaque_name
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.simulator.faults import FaultKind, GroundTruth
from diagnosis_harness.simulator.folder import write_folder
from diagnosis_harness.simulator.world import World, simulate

FIRST_SEED = 1000
DEVELOPMENT_SEEDS = range(100)  # used while the analyst was developed; no figure may be based on them

RIGHT_KINDS: Mapping[FaultKind, frozenset[str]] = {
    FaultKind.CPU: frozenset({"CPU"}),
    FaultKind.MEMORY_LEAK: frozenset({"MEMORY"}),
    FaultKind.NETWORK_DELAY: frozenset({"NETWORK"}),
    FaultKind.ERRORS_AFTER_DEPLOY: frozenset({"ERRORS"}),
    FaultKind.SLOW_DEPENDENCY: frozenset({"DEPENDENCY", "LATENCY"}),
    FaultKind.NONE: frozenset(),
}
"""The product's kinds of fault that are right for each; the same as for these faults in the hard kinds."""


@dataclass(frozen=True, slots=True)
class DemoFaults:
    """Worlds of every kind for `seeds` seeds: `first_seed` and every second one after it."""

    seeds: int = 20
    first_seed: int = FIRST_SEED
    name: str = "demo-faults"
    _truths: dict[str, GroundTruth] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise InvalidInput("--seeds", f"{self.seeds} is not a valid number of seeds", "ask for 1 or more")
        if self.first_seed <= DEVELOPMENT_SEEDS[-1]:
            problem = f"{self.first_seed} was used in development"
            raise InvalidInput("--first-seed", problem, f"start at {len(DEVELOPMENT_SEEDS)} or later")

    @property
    def use(self) -> str:
        """What the seeds are for, as shown with every group of scores."""
        return seed_use(self.first_seed)

    def incident_ids(self, condition: Condition = Condition.AS_PUBLISHED) -> tuple[str, ...]:
        """Kind and seed of every world."""
        if condition is not Condition.AS_PUBLISHED:
            return ()
        return tuple(
            f"{kind.value}/{seed}"
            for kind in FaultKind
            for seed in range(self.first_seed, self.first_seed + 2 * self.seeds, 2)
        )

    def export(self, incident_id: str, condition: Condition, target: Path) -> Case:
        """Simulate one world and write its folder; the truth is stored here until the labels are read."""
        world = _world(incident_id)
        folder = target / opaque_name(self.name, incident_id)
        write_folder(world, folder)
        self._truths[incident_id] = world.truth
        return Case(
            incident_id=incident_id,
            group=f"simulated, {self.use}",
            unseen=is_published(self.first_seed),
            folder=folder,
            baseline=None,
            entities=tuple(sorted(part.name for part in world.system.services)),
            owners=_owners(world),
            condition=condition,
            alert_entity=world.alert.entity,
        )

    def labels(self, incident_ids: Sequence[str]) -> Mapping[str, Truth]:
        """The truth of these worlds; one that another process exported is simulated again."""
        return {
            incident_id: _to_truth(
                self._truths[incident_id] if incident_id in self._truths else _world(incident_id).truth
            )
            for incident_id in incident_ids
        }


def is_published(seed: int) -> bool:
    """Whether a seed is for the published score: the odd ones are, and nobody looks at their worlds."""
    return seed % 2 == 1


def seed_use(seed: int) -> str:
    """What the seeds of a run are for; all of them are even or all are odd."""
    return "published seeds" if is_published(seed) else "development seeds"


def _world(incident_id: str) -> World:
    kind, _, seed = incident_id.partition("/")
    return simulate(FaultKind(kind), seed=int(seed))


def _to_truth(truth: GroundTruth) -> Truth:
    return Truth(
        entities=(truth.entity,) if truth.entity else (),
        fault_kind=truth.fault_kind.value,
        region=truth.region,
        kinds=RIGHT_KINDS[truth.fault_kind],
    )


def _owners(world: World) -> dict[str, str]:
    return {
        instance: service.name
        for service in world.system.services
        for instance in service.instances
        if instance != service.name
    }
