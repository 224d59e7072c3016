"""Simulates a sample of requests at every tick through the call graph, callees before callers.

Sample `j` of a caller uses one sample of each callee. So the same numbers give quantiles, error rates and,
for the few requests that are traced, consistently nested spans.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.simulator.effects import Effects
from diagnosis_harness.simulator.queueing import utilisation, waiting_time_s
from diagnosis_harness.simulator.system import Call, Service, System

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class CallSample:
    """One call of every sampled request, arrays of (ticks, samples); `picked` is the callee's sample."""

    call: Call
    picked: NDArray[np.int64]
    made: Flags
    elapsed_s: Floats
    network_s: Floats
    timed_out: Flags


@dataclass(frozen=True, slots=True)
class PartSample:
    """Sampled requests at one part.

    Arrays are (ticks, samples), except `load` (requests per second) and `busy` (share): (ticks, instances).
    Sample `j` was served by instance `j % instances`.
    """

    service: Service
    own_s: Floats
    total_s: Floats
    failed: Flags
    failed_itself: Flags
    operation: NDArray[np.int64]
    calls: tuple[CallSample, ...]
    load: Floats
    busy: Floats

    def instance_of(self, sample: int) -> str:
        """The instance that served a sample."""
        return self.service.instances[sample % len(self.service.instances)]


def sample_requests(
    system: System, rate: Floats, effects: Effects, rng: np.random.Generator, *, samples: int
) -> dict[str, PartSample]:
    """Every part's samples by name, for the entry's request rate at each tick."""
    loads = _loads(system, rate, effects)
    done: dict[str, PartSample] = {}
    for service in reversed(system.services):
        done[service.name] = _sample_part(
            service,
            system.calls_of(service.name),
            loads[service.name],
            effects,
            rng=rng,
            done=done,
            samples=samples,
        )
    return done


def _loads(system: System, rate: Floats, effects: Effects) -> dict[str, Floats]:
    """Requests per second at every part; one that fails by itself makes no calls."""
    loads = {service.name: np.zeros(len(rate)) for service in system.services}
    loads[system.entry.name] = rate.copy()
    for name, extra in effects.extra_load.items():
        loads[name] += extra
    for service in system.services:
        sound = 1.0 - np.clip(effects.failing[service.name].mean(axis=1), 0.0, 1.0)
        for call in system.calls_of(service.name):
            arriving = loads[service.name] * sound * call.probability
            if (demand := effects.demand.get((call.caller, call.callee))) is not None:
                arriving = arriving * demand
            if (lost := effects.unreached.get((call.caller, call.callee))) is not None:
                arriving = arriving * (1.0 - lost[0])
            loads[call.callee] += arriving
    return loads


def _sample_part(  # noqa: PLR0913 - it also needs the samples of the callees
    service: Service,
    calls_made: Sequence[Call],
    load: Floats,
    effects: Effects,
    *,
    rng: np.random.Generator,
    done: Mapping[str, PartSample],
    samples: int,
) -> PartSample:
    ticks, count = len(load), len(service.instances)
    share = rng.dirichlet(np.full(count, 400.0))  # load balancers distribute almost evenly
    per_instance = load[:, None] * share[None, :]
    stolen = np.clip(effects.stolen[service.name], 0.0, 0.95)
    service_time_s = service.service_time_s * effects.slowdown[service.name] / (1.0 - stolen)
    busy = utilisation(per_instance, service_time_s, service.servers)
    wait_s = waiting_time_s(service_time_s, busy, service.servers)

    served_by = np.arange(samples) % count
    shape = (ticks, samples)
    scatter = np.exp(rng.normal(-0.5 * service.spread**2, service.spread, shape))
    own_s = service_time_s[:, served_by] * scatter
    own_s += (wait_s + effects.pauses[service.name])[:, served_by] * rng.exponential(1.0, shape)
    operation = rng.integers(0, len(service.operations), shape)
    failed_itself = rng.random(shape) < effects.failing[service.name][:, served_by]
    if effects.failing_operation is not None and effects.failing_operation[0] == service.name:
        # In the new version only one operation fails; the others keep a little of the usual noise.
        usual = rng.random(shape) < service.error_rate
        failed_itself = np.where(operation == effects.failing_operation[1], failed_itself, usual)
    own_s = np.where(failed_itself, 0.5 * own_s, own_s)

    total_s, alive = own_s.copy(), ~failed_itself
    calls: list[CallSample] = []
    for call in calls_made:
        made = alive & (rng.random(shape) < _probability(call, effects))
        sampled = _sample_call(call, made, done[call.callee], effects, rng=rng)
        total_s += np.where(made, sampled.elapsed_s, 0.0)
        if call.required:
            alive &= ~(made & (sampled.timed_out | done[call.callee].failed[:, sampled.picked]))
        calls.append(sampled)
    return PartSample(
        service=service,
        own_s=own_s,
        total_s=total_s,
        failed=~alive,
        failed_itself=failed_itself,
        operation=operation,
        calls=tuple(calls),
        load=per_instance,
        busy=busy,
    )


def _probability(call: Call, effects: Effects) -> float | Floats:
    """The probability of the call: one number, or (ticks, 1) if demand changes; above one means always."""
    demand = effects.demand.get((call.caller, call.callee))
    return call.probability if demand is None else call.probability * demand[:, None]


def _sample_call(
    call: Call, made: Flags, callee: PartSample, effects: Effects, *, rng: np.random.Generator
) -> CallSample:
    ticks, samples = made.shape
    picked = (np.arange(samples) + int(rng.integers(samples))) % samples
    network_s = call.network_s * np.exp(rng.normal(0.0, 0.4, (ticks, samples)))
    network_s += effects.delay_s[call.caller, call.callee][:, None] * rng.uniform(0.8, 1.2, (ticks, samples))
    needed_s = network_s + callee.total_s[:, picked]
    elapsed_s, timed_out = np.minimum(needed_s, call.timeout_s), needed_s > call.timeout_s
    if (lost := effects.unreached.get((call.caller, call.callee))) is not None:
        unreached = rng.random((ticks, samples)) < lost[0][:, None]
        spent_s = np.minimum(lost[1] * rng.uniform(0.8, 1.2, (ticks, samples)), call.timeout_s)
        network_s = np.where(unreached, np.inf, network_s)  # the request never reaches the callee
        elapsed_s, timed_out = np.where(unreached, spent_s, elapsed_s), timed_out | unreached
    return CallSample(
        call=call, picked=picked, made=made, elapsed_s=elapsed_s, network_s=network_s, timed_out=timed_out
    )
