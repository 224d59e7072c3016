"""Changes what is stated about an incident: a sparse or late alert, a wrong onset, or nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diagnosis_harness.simulator.hard.scene import Known, WorldTelemetry
from diagnosis_harness.toolbox.ports import AlertInfo

OFF_S, LATE_S = 1800.0, 1500.0


def alert_without_fields(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """An alert with only a time and a sentence that names nothing."""
    del known, rng
    at_s = None if seen.alert is None else seen.alert.time_s
    return replace(seen, alert=AlertInfo(time_s=at_s, summary="users report that pages do not load as usual"))


def alert_on_a_stranger(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """An alert about an entity that is in no other file."""
    del known
    stranger = f"edge-lb-{int(rng.integers(10, 99))}"
    if seen.alert is None:
        return seen
    return replace(seen, alert=replace(seen.alert, entity=stranger, summary=f"{stranger} is above its limit"))


def onset_early(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """The stated onset is half an hour too early; there is no alert."""
    del rng
    return replace(seen, alert=None, onset_s=known.play.scene.onset_s - OFF_S)


def onset_late(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """The stated onset is half an hour too late; there is no alert."""
    del rng
    return replace(seen, alert=None, onset_s=known.play.scene.onset_s + OFF_S)


def alert_late(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """The alert fires 25 minutes after the onset."""
    del rng
    if seen.alert is None:
        return seen
    return replace(seen, alert=replace(seen.alert, time_s=known.play.scene.onset_s + LATE_S))


def onset_only(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """The onset is stated, and there is no alert."""
    del rng
    return replace(seen, alert=None, onset_s=known.play.scene.onset_s)


def nothing_stated(seen: WorldTelemetry, known: Known, rng: np.random.Generator) -> WorldTelemetry:
    """Neither an alert nor an onset is stated."""
    del known, rng
    return replace(seen, alert=None)
