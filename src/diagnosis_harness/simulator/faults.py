"""Draws the fault of a world from a seed: one kind of a closed set, at one place."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from diagnosis_harness.simulator.system import Role, Service, System


class FaultKind(StrEnum):
    """The simulated faults; `none` is a healthy world whose alert only flapped."""

    CPU = "cpu"  # something else uses the processor of one or all instances
    MEMORY_LEAK = (
        "memory-leak"  # memory rises, collections slow the service, it restarts, and memory rises again
    )
    NETWORK_DELAY = "network-delay"  # the network to a service is slow, the service itself is not
    ERRORS_AFTER_DEPLOY = "errors-after-deploy"  # one operation fails in a new version
    SLOW_DEPENDENCY = "slow-dependency"  # a database, cache or outside provider answers late
    NONE = "none"


@dataclass(frozen=True, slots=True)
class GroundTruth:
    """What was broken; returned to the caller, never written to the folder.

    `entity` is None for a healthy world. `region` is the affected instance, call (`caller->callee`) or
    operation; None if all of the entity is affected.
    """

    entity: str | None
    fault_kind: FaultKind
    region: str | None


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. `instances` are the affected indexes; `caller` limits a network delay to one call."""

    kind: FaultKind
    target: str
    onset_s: float
    severity: float
    instances: tuple[int, ...]
    caller: str | None = None
    operation: int | None = None


def choose_fault(
    kind: FaultKind, system: System, rng: np.random.Generator, *, onset_s: float
) -> Fault | None:
    """A fault of that kind at a part with enough requests; None for `none`."""
    if kind is FaultKind.NONE:
        return None
    target = _choose_target(kind, system, rng)
    count = len(target.instances)
    hit = tuple(range(count)) if rng.random() < 0.5 else (int(rng.integers(count)),)
    caller = None
    if kind is FaultKind.NETWORK_DELAY and rng.random() < 0.5:
        visits = system.visits()
        calls = system.calls_to(target.name)
        caller = max(calls, key=lambda call: visits[call.caller] * call.probability).caller
    return Fault(
        kind=kind,
        target=target.name,
        onset_s=onset_s,
        severity=float(rng.uniform(0.8, 1.6)),
        instances=hit,
        caller=caller,
        operation=int(rng.integers(len(target.operations))) if rng.random() < 0.6 else None,
    )


def _choose_target(kind: FaultKind, system: System, rng: np.random.Generator) -> Service:
    wanted = {Role.SERVICE}
    if kind is FaultKind.SLOW_DEPENDENCY:
        wanted = {Role.DATABASE, Role.EXTERNAL} | ({Role.CACHE} if rng.random() < 0.3 else set())
    # Errors behind calls that are not required never reach the entry.
    visits = system.visits(required=kind is FaultKind.ERRORS_AFTER_DEPLOY)
    able = [part for part in system.services if part.role in wanted]
    busy = [part for part in able if visits[part.name] >= 0.3]
    return busy[int(rng.integers(len(busy)))] if busy else max(able, key=lambda part: visits[part.name])


def truth_of(fault: Fault | None, system: System) -> GroundTruth:
    """The right diagnosis of this world."""
    if fault is None:
        return GroundTruth(entity=None, fault_kind=FaultKind.NONE, region=None)
    target = system.service(fault.target)
    region: str | None = None
    if fault.kind is FaultKind.NETWORK_DELAY and fault.caller is not None:
        region = f"{fault.caller}->{fault.target}"
    elif fault.kind is FaultKind.ERRORS_AFTER_DEPLOY and fault.operation is not None:
        region = target.operations[fault.operation]
    elif fault.kind in {FaultKind.CPU, FaultKind.MEMORY_LEAK} and len(fault.instances) < len(
        target.instances
    ):
        region = target.instances[fault.instances[0]]
    return GroundTruth(entity=fault.target, fault_kind=fault.kind, region=region)
