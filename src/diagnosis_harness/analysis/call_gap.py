"""Decides which end of a call is charged with the time that passes between the two ends.

A slow path to an entity shows on the calls to it. An entity whose own network is slow shows on all calls
that it makes, whichever callee answers. So the part that all calls of a caller have in common is charged to
the caller, and the rest to the callee.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from diagnosis_harness.analysis.clue import Clue, Modality


@dataclass(frozen=True, slots=True)
class GapCharge:
    """A score charged to an entity, and the call (or `caller->*`) that shows it."""

    entity: str
    region: str
    z: float


def charge_gaps(scores: Mapping[tuple[str, str], float]) -> list[GapCharge]:
    """Turn scores by (caller, callee) into charges: the common part to the caller, the rest to the callee."""
    by_caller: dict[str, list[float]] = {}
    for (caller, _), z in scores.items():
        by_caller.setdefault(caller, []).append(z)
    # The lower median: of two calls the smaller score, so a single slow callee never looks like a common
    # cause.
    common = {
        caller: max(0.0, sorted(found)[(len(found) - 1) // 2]) if len(found) > 1 else 0.0
        for caller, found in by_caller.items()
    }
    charges = [
        GapCharge(callee, f"{caller}->{callee}", max(0.0, z - common[caller]))
        for (caller, callee), z in sorted(scores.items())
    ]
    charges += [GapCharge(caller, f"{caller}->*", z) for caller, z in sorted(common.items()) if z > 0]
    return charges


def gap_clues(
    charges: list[GapCharge], *, noise: float, null_windows: int, untraced: Collection[str] = ()
) -> list[Clue]:
    """Turn the charges into clues.

    For an untraced entity, time spent inside it and time on the way are not separable.
    """
    return [
        Clue(
            one.entity,
            Modality.EDGE_GAP,
            one.z,
            noise,
            one.region,
            "DEPENDENCY" if one.entity in untraced else "NETWORK",
            null_windows=null_windows,
        )
        for one in charges
    ]
