"""A hard world from its kind and a seed; the same two give the same world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np

from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.simulator.alert import first_alert, flapping_alert
from diagnosis_harness.simulator.changes import record_changes
from diagnosis_harness.simulator.effects import effects_of
from diagnosis_harness.simulator.folder import owners_in
from diagnosis_harness.simulator.hard.kind import HardKind
from diagnosis_harness.simulator.hard.machines import place_instances, platform_of, show_machines
from diagnosis_harness.simulator.hard.scene import (
    Broken,
    Extra,
    Known,
    Play,
    Scene,
    TruthLevel,
    WorldTelemetry,
    WorldTruth,
)
from diagnosis_harness.simulator.hard.sight import parts_with_spans
from diagnosis_harness.simulator.logs import write_logs
from diagnosis_harness.simulator.metrics import scrape
from diagnosis_harness.simulator.requests import sample_requests
from diagnosis_harness.simulator.spans import trace_requests
from diagnosis_harness.simulator.system import System, build_system
from diagnosis_harness.simulator.traffic import request_rate
from diagnosis_harness.simulator.world import ATTEMPTS_MAX, EPOCH_S, SAMPLES, STRONGER
from diagnosis_harness.toolbox.ports import AlertInfo

SPANS_SOUGHT = 12_000  # enough for 15 traces a minute of the usual system
SYSTEMS_MAX = 50  # more than half of all drawn systems have an outside provider
SCENES_MAX = 10  # a scene whose fault raises no alert is drawn again
TOO_LATE_S = 120.0  # the alert must fire while the recording continues
LOOKS_GUILTY_S = 600.0
LEVELS = tuple(TruthLevel)


@dataclass(frozen=True, slots=True)
class HardWorld:
    """The telemetry of one world and, separately, the right answer."""

    kind: HardKind
    telemetry: WorldTelemetry
    truth: WorldTruth
    play: Play


@dataclass(frozen=True, slots=True)
class _Telling:
    """The result of the faults at these strengths."""

    play: Play
    extra: Extra
    alert: AlertInfo | None


def simulate_hard(kind: HardKind, *, seed: int) -> HardWorld:
    """A world of that kind; the seed determines everything that the kind leaves open."""
    key = int.from_bytes(sha256(kind.name.encode()).digest()[:6], "big")
    rng = np.random.default_rng([seed, key])
    broken, outcome = _break(kind, rng, turn=seed // 2 + key)  # even and odd seeds both see every base fault
    for _ in range(SCENES_MAX - 1):
        if outcome.alert is not None or not any(one.entities for one in broken):
            break
        broken, outcome = _break(kind, rng, turn=seed // 2 + key)
    seen, truth = _record(kind, outcome, broken, rng)
    known = Known(outcome.play, truth)
    for idea in kind.recorded:
        seen = idea(seen, known, rng)
    return HardWorld(kind, seen, _settle(known, broken, seen, level=kind.level), outcome.play)


def _set_scene(kind: HardKind, rng: np.random.Generator, *, turn: int) -> Scene:
    step_s = kind.time.steps_s[int(rng.integers(len(kind.time.steps_s)))]
    before_s, after_s = rng.uniform(*kind.time.before_s), rng.uniform(*kind.time.after_s)
    start_s = EPOCH_S + step_s * float(rng.integers(0, int(90 * 86_400 / step_s)))
    time_s = start_s + step_s * np.arange(int((before_s + after_s) / step_s), dtype=np.float64)
    onset_s = float(time_s[int(before_s / step_s)]) + float(rng.uniform(0.0, step_s))
    rate = request_rate(time_s, rng)
    system = _draw_system(kind, rng, mean_rate_per_s=float(np.mean(rate)))
    scene = Scene(
        system=system,
        time_s=time_s,
        rate=rate,
        onset_s=onset_s,
        course=kind.course(time_s, onset_s),
        turn=turn,
        nodes=place_instances(system, rng),
    )
    return kind.load(scene, rng)


def _draw_system(kind: HardKind, rng: np.random.Generator, *, mean_rate_per_s: float) -> System:
    for _ in range(SYSTEMS_MAX):
        system = build_system(rng, mean_rate_per_s=mean_rate_per_s)
        if kind.needs is None or any(part.role is kind.needs for part in system.services):
            return system
    raise ValueError(f"no system with a part that is a {kind.needs}")


def _break(kind: HardKind, rng: np.random.Generator, *, turn: int) -> tuple[tuple[Broken, ...], _Telling]:
    """Choose places for the faults, make each strong enough to raise an alert alone, and play them all.

    The result has no alert if one of them raises none, however strong it is.
    """
    scene = _set_scene(kind, rng, turn=turn)
    noise_seed = int(rng.integers(2**32))
    broken: list[Broken] = []
    severities: list[float] = []
    noticed = True
    for breaking in kind.faults:
        one = breaking(replace(scene, taken=frozenset(e for b in broken for e in b.entities)), rng)
        if one.system is not None:
            scene = replace(scene, system=one.system)
        severity, seen = _find_strength(scene, one, float(rng.uniform(0.8, 1.6)), noise_seed=noise_seed)
        noticed = noticed and seen
        broken.append(one)
        severities.append(severity)
    outcome = _play_faults(scene, broken, severities, noise_seed=noise_seed)
    return tuple(broken), outcome if noticed else replace(outcome, alert=None)


def _find_strength(scene: Scene, one: Broken, severity: float, *, noise_seed: int) -> tuple[float, bool]:
    """The strength from this one on at which the fault alone raises an alert in time, and whether it does."""
    if not one.entities:
        return severity, True
    for _ in range(ATTEMPTS_MAX):
        if _in_time(_play_faults(scene, (one,), (severity,), noise_seed=noise_seed).alert, scene):
            return severity, True
        severity *= STRONGER
    return severity, False


def _play_faults(
    scene: Scene, broken: Sequence[Broken], severities: Sequence[float], *, noise_seed: int
) -> _Telling:
    rng = np.random.default_rng(noise_seed)
    effects = effects_of(None, scene.system, scene.time_s, rng)
    for one, severity in zip(broken, severities, strict=True):
        effects = one.feel(effects, severity)
    parts = sample_requests(scene.system, scene.rate, effects, rng, samples=SAMPLES)
    metrics = scrape(parts, effects, scene.time_s, rng)
    play = Play(scene, effects, parts, metrics)
    extra = _join([one.show(play, rng) for one in broken])
    notice = next((one.notice for one in broken if one.notice is not None), None)
    if notice is not None:
        return _Telling(play, extra, notice(play, extra))
    return _Telling(play, extra, first_alert(scene.system, metrics, onset_s=scene.onset_s))


def _join(extras: Sequence[Extra]) -> Extra:
    return Extra(
        metrics=tuple(series for extra in extras for series in extra.metrics),
        logs=tuple(line for extra in extras for line in extra.logs),
        changes=tuple(change for extra in extras for change in extra.changes),
        events=tuple(event for extra in extras for event in extra.events),
        states=tuple(state for extra in extras for state in extra.states),
    )


def _in_time(alert: AlertInfo | None, scene: Scene) -> bool:
    return alert is not None and alert.time_s is not None and alert.time_s < scene.time_s[-1] - TOO_LATE_S


def _record(
    kind: HardKind, outcome: _Telling, broken: Sequence[Broken], rng: np.random.Generator
) -> tuple[WorldTelemetry, WorldTruth]:
    """A complete recording, and the truth."""
    play, extra = outcome.play, outcome.extra
    scene = play.scene
    if kind.with_machines:
        extra = _join([extra, platform_of(play, extra, rng)])
        if not any(series.entity in scene.nodes.values() for series in extra.metrics):
            extra = _join([extra, show_machines(play, rng)])
    window = TimeWindow(float(scene.time_s[0]), float(scene.time_s[-1]))
    spans = trace_requests(scene.system, play.parts, scene.time_s, rng, spans_max=SPANS_SOUGHT)
    lines = write_logs(scene.system, spans, play.effects, scene.time_s, rng=rng)
    changes = (*record_changes(scene.system, None, window, rng, onset_s=scene.onset_s), *extra.changes)
    sound = not any(one.entities for one in broken)
    flapped = flapping_alert(scene.system, play.metrics, after_s=scene.onset_s)
    return WorldTelemetry(
        system=scene.system,
        metrics=tuple(sorted((*play.metrics, *extra.metrics), key=lambda s: (s.entity, s.signal))),
        spans=spans,
        logs=tuple(sorted((*lines, *extra.logs), key=lambda line: (line.time_s, line.entity, line.message))),
        changes=tuple(sorted(changes, key=lambda change: (change.time_s, change.summary))),
        calls=scene.system.edges(),
        owners=owners_in(scene.system),
        alert=outcome.alert or (flapped if sound else None),
        events=tuple(sorted(extra.events, key=lambda event: (event.time_s, event.entity, event.reason))),
        states=tuple(sorted(extra.states, key=lambda state: state.entity)),
    ), _truth(broken, scene.system)


def _truth(broken: Sequence[Broken], system: System) -> WorldTruth:
    entities = tuple(dict.fromkeys(entity for one in broken for entity in one.entities))
    callers = tuple(sorted({call.caller for name in entities for call in system.calls_to(name)}))
    regions = [one.region for one in broken]
    return WorldTruth(
        entities=entities,
        fault=" and ".join(one.fault for one in broken),
        kinds=frozenset(kind for one in broken for kind in one.kinds),
        region=regions[0] if len(regions) == 1 else None,
        scope=callers,
        trigger=next((one.trigger for one in broken if one.trigger is not None), None),
        decoys=tuple(decoy for one in broken for decoy in one.decoys),
    )


def _settle(known: Known, broken: Sequence[Broken], seen: WorldTelemetry, *, level: TruthLevel) -> WorldTruth:
    """The truth, with the level that the finished recording allows and the changes that look guilty."""
    truth, onset_s = known.truth, known.play.scene.onset_s
    traced = set(truth.entities) <= parts_with_spans(seen.spans)
    levels = [level, *(one.level if traced else one.unseen_level for one in broken)]
    guilty = tuple(
        change.summary
        for change in seen.changes
        if -LOOKS_GUILTY_S < change.time_s - onset_s <= 0.0 and change.summary != truth.trigger
    )
    decoys = tuple(dict.fromkeys((*truth.decoys, *guilty)))
    return replace(truth, level=min(levels, key=LEVELS.index), decoys=decoys)
