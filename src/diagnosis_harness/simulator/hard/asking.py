"""How the question is asked: with a sparse or late alert, a wrong onset, or nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diagnosis_harness.simulator.hard.scene import Known, WorldTelemetry
from diagnosis_harness.toolbox.ports import AlertInfo

OFF_S, LATE_S = 1800.0, 1500.0


def alert_without_fields(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """An alert that is a time and a sentence without a name in it."""
    del known, rng
    at_s = None if seen.alert is None else seen.alert.time_s
    return replace(seen, alert=AlertInfo(time_s=at_s, summary="users report that pages do not load as usual"))


def alert_on_a_stranger(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """An alert on an entity that stands in no other file."""
    del known
    stranger = f"edge-lb-{int(rng.integers(10, 99))}"
    if seen.alert is None:
        return seen
    return replace(seen, alert=replace(seen.alert, entity=stranger, summary=f"{stranger} is above its limit"))


def onset_early(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Somebody says that it began half an hour before it did; there is no alert."""
    del rng
    return replace(seen, alert=None, onset_s=known.play.scene.onset_s - OFF_S)


def onset_late(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Somebody says that it began half an hour after it did; there is no alert."""
    del rng
    return replace(seen, alert=None, onset_s=known.play.scene.onset_s + OFF_S)


def alert_late(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """The alert fires 25 minutes after the onset."""
    del rng
    if seen.alert is None:
        return seen
    return replace(seen, alert=replace(seen.alert, time_s=known.play.scene.onset_s + LATE_S))


def onset_only(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Somebody names a time, and there is no alert."""
    del rng
    return replace(seen, alert=None, onset_s=known.play.scene.onset_s)


def nothing_stated(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Neither alert nor time."""
    del known, rng
    return replace(seen, alert=None)
