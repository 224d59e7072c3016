"""The effects of a fault on the parts it hits, in addition to the usual noise.

Every fault writes into `Effects`, which the requests read; nothing else distinguishes a world with a fault
from a healthy one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.simulator.faults import Fault, FaultKind
from diagnosis_harness.simulator.system import Role, Service, System


@dataclass(frozen=True, slots=True)
class Effects:
    """Effects on requests, by part, as arrays of (ticks, instances); by call as arrays of (ticks,).

    `slowdown` multiplies own time, `stolen` is the share of the processor that others use, `failing` the
    probability that a request fails (only of `failing_operation`, if given), `heap` the used share of memory,
    `pauses` the mean extra wait per request in seconds, `delay_s` the added time on the way to a callee.

    Hard kinds also use `demand`, a factor on how often a call is made (more than one call per request only
    adds load), `extra_load`, requests per second at a part from outside the calls, and `unreached`: the
    probability that a call ends before it reaches its callee, and the seconds until it is given up.
    """

    slowdown: Mapping[str, NDArray[np.float64]]
    stolen: Mapping[str, NDArray[np.float64]]
    failing: Mapping[str, NDArray[np.float64]]
    heap: Mapping[str, NDArray[np.float64]]
    pauses: Mapping[str, NDArray[np.float64]]
    delay_s: Mapping[tuple[str, str], NDArray[np.float64]]
    restarts: tuple[tuple[float, str], ...]
    """(time, instance) of every restart."""
    failing_operation: tuple[str, int] | None = None
    demand: dict[tuple[str, str], NDArray[np.float64]] = field(default_factory=dict)
    extra_load: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    unreached: dict[tuple[str, str], tuple[NDArray[np.float64], float]] = field(default_factory=dict)


def effects_of(
    fault: Fault | None, system: System, time_s: NDArray[np.float64], rng: np.random.Generator
) -> Effects:
    """The effects in every tick: usual noise, busy neighbours, and the fault."""
    shape = {part.name: (len(time_s), len(part.instances)) for part in system.services}
    effects = Effects(
        slowdown={name: np.ones(size) for name, size in shape.items()},
        stolen={name: np.zeros(size) for name, size in shape.items()},
        failing={part.name: np.full(shape[part.name], part.error_rate) for part in system.services},
        heap={part.name: _usual_heap(shape[part.name], rng) for part in system.services},
        pauses={name: np.zeros(size) for name, size in shape.items()},
        delay_s={(call.caller, call.callee): np.zeros(len(time_s)) for call in system.calls},
        restarts=(),
    )
    _busy_neighbours(effects, system, rng)
    if fault is None:
        return effects
    target = system.service(fault.target)
    match fault.kind:
        case FaultKind.CPU:
            _eat_processor(effects, fault, time_s, rng)
        case FaultKind.MEMORY_LEAK:
            return replace(effects, restarts=_leak(effects, fault, target, time_s, rng=rng))
        case FaultKind.NETWORK_DELAY:
            _delay_calls(effects, fault, time_s, rng)
        case FaultKind.ERRORS_AFTER_DEPLOY:
            return _fail_requests(effects, fault, time_s)
        case FaultKind.SLOW_DEPENDENCY:
            # Locks and slow disks delay every answer without using the processor.
            extra_s = max(0.09, 4.0 * target.service_time_s) * fault.severity
            effects.pauses[fault.target][time_s >= fault.onset_s, :] += extra_s
        case FaultKind.NONE:
            pass
    return effects


def _eat_processor(
    effects: Effects, fault: Fault, time_s: NDArray[np.float64], rng: np.random.Generator
) -> None:
    since = time_s >= fault.onset_s
    ramp = since * np.clip((time_s - fault.onset_s) / 45.0, 0.4, 1.0)
    taken = min(0.55 + 0.18 * fault.severity, 0.93)
    for index in fault.instances:
        effects.stolen[fault.target][:, index] += ramp * taken * rng.uniform(0.96, 1.0, len(time_s))


def _delay_calls(
    effects: Effects, fault: Fault, time_s: NDArray[np.float64], rng: np.random.Generator
) -> None:
    since = time_s >= fault.onset_s
    added_s = 0.12 * fault.severity * rng.uniform(0.9, 1.1, len(time_s))
    for (caller, callee), delay_s in effects.delay_s.items():
        if callee == fault.target and fault.caller in {None, caller}:
            delay_s[since] += added_s[since]


def _fail_requests(effects: Effects, fault: Fault, time_s: NDArray[np.float64]) -> Effects:
    since = time_s >= fault.onset_s
    rate = min(0.22 * fault.severity, 0.75)
    if fault.operation is None:
        effects.failing[fault.target][since, :] += rate
        return effects
    effects.failing[fault.target][since, :] += min(2.0 * rate, 0.9)
    return replace(effects, failing_operation=(fault.target, fault.operation))


def _leak(
    effects: Effects, fault: Fault, target: Service, time_s: NDArray[np.float64], *, rng: np.random.Generator
) -> tuple[tuple[float, str], ...]:
    """Let memory rise to the limit, restart the instance, and repeat a little faster; return the restarts."""
    restarts: list[tuple[float, str]] = []
    for index in fault.instances:
        heap = effects.heap[fault.target][:, index]
        life_s = rng.uniform(300.0, 480.0)
        begin_s = fault.onset_s
        start = float(heap[time_s < fault.onset_s][-1])
        while begin_s < time_s[-1]:
            inside = (time_s >= begin_s) & (time_s < begin_s + life_s)
            heap[inside] = start + (0.985 - start) * ((time_s[inside] - begin_s) / life_s) ** 0.8
            begin_s += life_s
            if begin_s < time_s[-1]:
                restarts.append((float(begin_s), target.instances[index]))
                down = (time_s >= begin_s) & (time_s < begin_s + 30.0)
                effects.failing[fault.target][down, index] = 0.4
                effects.slowdown[fault.target][down, index] *= 2.0
            start, life_s = 0.3, life_s * 0.85
        pressure = np.clip((heap - 0.72) / 0.27, 0.0, 1.0) * (time_s >= fault.onset_s)
        effects.pauses[fault.target][:, index] += 0.35 * fault.severity * pressure**1.5
        effects.stolen[fault.target][:, index] += 0.3 * pressure**2
    return tuple(sorted(restarts))


def _usual_heap(size: tuple[int, int], rng: np.random.Generator) -> NDArray[np.float64]:
    """A sawtooth of ordinary collections between a third and a bit over half of the memory."""
    ticks, instances = size
    period = rng.uniform(25.0, 70.0, instances)
    phase = rng.uniform(0.0, 1.0, instances)
    low = rng.uniform(0.32, 0.45, instances)
    tooth = (np.arange(ticks)[:, None] / period + phase) % 1.0
    return np.asarray(low + 0.12 * tooth + rng.normal(0.0, 0.005, size), dtype=np.float64)


def _busy_neighbours(effects: Effects, system: System, rng: np.random.Generator) -> None:
    """Bursts of batch jobs beside some instances, including faulty ones, before and after the onset."""
    able = [part for part in system.services if part.role is Role.SERVICE]
    for position in rng.permutation(len(able))[: int(rng.integers(1, 4))]:
        part = able[int(position)]
        stolen = effects.stolen[part.name]
        index = int(rng.integers(stolen.shape[1]))
        every, length = int(rng.integers(30, 70)), int(rng.integers(2, 5))
        for begin in range(int(rng.integers(0, every)), len(stolen), every):
            stolen[begin : begin + length, index] += rng.uniform(0.1, 0.3)
