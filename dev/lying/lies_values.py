"""Lies about numbers, units, times and directions."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import numpy as np
from dev.lying.forged import ForgedEntry, ForgedWindow, Place, Told, fields_of
from dev.lying.recorded import Case, RecordedRun, chance, in_units, pick
from dev.lying.told import any_claim, tell

from diagnosis_harness.diagnosis.claim import Claim, Predicate
from diagnosis_harness.kernel.window import TimeWindow, utc_text
from diagnosis_harness.tools.evidence import Direction, ItemKind

_FAR = (0.001, 0.01, 0.1, 0.5, 2.0, 3.0, 10.0, 100.0, 1000.0, -1.0)
_SHIFTS_S = (-86_400.0, -3_600.0, -600.0, -61.0, 61.0, 600.0, 3_600.0, 86_400.0)


def _telling(
    rng: np.random.Generator, run: RecordedRun, claim: Claim, *, field: str, number: float
) -> Told | None:
    """A claim with another value or baseline, unless some item has that number too."""
    if run.says_number(claim.entity, claim.signal, number, claim.unit):
        return None
    false = replace(claim, value=number) if field == "value" else replace(claim, baseline=number)
    fields = fields_of(false, "signal", "affected", "unit", field)
    return tell(rng, run, false, (ForgedEntry(Place.CLAIMS, fields),), instead_of=claim)


def value_near(rng: np.random.Generator, case: Case) -> Told | None:
    """One digit is changed, or two are swapped."""
    field = pick(rng, ("value", "baseline"))
    claim = any_claim(rng, case.run, field)
    if claim is None:
        return None
    number = getattr(claim, field)
    written = f"{number:.{int(rng.integers(2, 7)) - 1}e}"
    digits = [at for at in range(written.index("e")) if written[at].isdigit()]
    at = pick(rng, digits)
    if at + 1 in digits and chance(rng, 0.2):
        near = f"{written[:at]}{written[at + 1]}{written[at]}{written[at + 2 :]}"
    else:
        near = f"{written[:at]}{(int(written[at]) + int(rng.integers(1, 10))) % 10}{written[at + 1 :]}"
    return _telling(rng, case.run, claim, field=field, number=float(near))


def value_far(rng: np.random.Generator, case: Case) -> Told | None:
    """Another order of magnitude, another sign, another item's number, or none of this world."""
    field = pick(rng, ("value", "baseline"))
    claim = any_claim(rng, case.run, field)
    if claim is None:
        return None
    kind = int(rng.integers(4))
    if kind == 0:
        number = getattr(claim, field) * pick(rng, _FAR)
    elif kind == 1:
        number = pick(rng, [item.value for _, item in case.run.items if item.value is not None] or [1.0])
    elif kind == 2:
        number = float(rng.integers(1, 10_000))
    else:
        number = pick(rng, (float("nan"), float("inf"), -float("inf"), 1e308, 5e-324))
    if isnan(number):
        false = replace(claim, value=number)
        fields = fields_of(false, "signal", "affected") | {"value": None, "baseline": claim.baseline}
        return tell(rng, case.run, false, (ForgedEntry(Place.CLAIMS, fields),), instead_of=claim)
    return _telling(rng, case.run, claim, field=field, number=number)


def unit(rng: np.random.Generator, case: Case) -> Told | None:
    """The right digits in another unit."""
    claim = any_claim(rng, case.run, "value")
    if claim is None or not claim.value:
        return None
    wrong = pick(
        rng, ("s", "ms", "us", "min", "h", "percent", "ratio", "bytes", "MB", "GB", "cores", "furlongs", None)
    )
    if wrong == claim.unit or any(
        name == wrong and value == claim.value for value, name in in_units(claim.value, claim.unit)
    ):
        return None
    if case.run.says_number(claim.entity, claim.signal, claim.value, wrong) and wrong is not None:
        return None
    false = replace(claim, unit=wrong)
    if chance(rng, 0.15):  # a unit of no number is a statement too
        false = replace(false, value=None, baseline=None, unit=wrong or "furlongs")
    fields = fields_of(false, "signal", "affected", "value", "unit")
    return tell(rng, case.run, false, (ForgedEntry(Place.CLAIMS, fields),), instead_of=claim)


def window(rng: np.random.Generator, case: Case) -> Told | None:
    """A span of time that no item has, or that of another item."""
    claim = any_claim(rng, case.run, "value")
    if claim is None:
        return None
    looked = [item.window for item in case.run.about(claim.entity) if item.window is not None]
    if not looked:
        return None
    start_s, end_s = looked[0].start_s, looked[0].end_s
    start_s += pick(rng, (0.0, *_SHIFTS_S))
    end_s += pick(rng, (0.0, *_SHIFTS_S))
    if end_s < start_s or any(_near(start_s, end_s, each) for each in looked):
        return None
    false = replace(claim, window=TimeWindow(start_s, end_s), onset_s=None)
    fields = fields_of(false, "signal", "affected", "window")
    return tell(rng, case.run, false, (ForgedEntry(Place.CLAIMS, fields),), instead_of=claim)


def onset(rng: np.random.Generator, case: Case) -> Told | None:
    """A time at which nothing is known to have begun."""
    claim = any_claim(rng, case.run)
    if claim is None or claim.predicate is Predicate.CALLS:
        return None
    known = [item.onset_s for item in case.run.about(claim.entity) if item.onset_s is not None]
    if not known:
        return None
    moment = pick(rng, known) + pick(rng, (*_SHIFTS_S, -5.0, 5.0))
    if case.run.says_instant(moment, claim.entity):
        return None
    false = replace(claim, onset_s=moment)
    fields = fields_of(false, "signal", "affected", "onset_at")
    return tell(rng, case.run, false, (ForgedEntry(Place.CLAIMS, fields),), instead_of=claim)


def direction(rng: np.random.Generator, case: Case) -> Told | None:
    """The direction is reversed, or value and baseline are swapped."""
    claim = any_claim(rng, case.run, "value", "direction")
    if claim is None:
        return None
    if chance(rng, 0.4) and claim.baseline is not None and claim.value is not None:
        kept = case.run.says_number(claim.entity, claim.signal, claim.value, claim.unit)
        if claim.value == claim.baseline or not kept or _is_mirrored(case.run, claim):
            return None
        false = replace(claim, value=claim.baseline, baseline=claim.value, direction=None)
        fields = fields_of(false, "signal", "affected", "value", "baseline", "unit")
    else:
        false = replace(claim, direction=pick(rng, [way for way in Direction if way is not claim.direction]))
        fields = fields_of(false, "signal", "affected", "direction", "value")
    return tell(rng, case.run, false, (ForgedEntry(Place.CLAIMS, fields),), instead_of=claim)


def draft_window(rng: np.random.Generator, case: Case) -> Told | None:
    """The report's own window is one in which nothing was judged."""
    judged = [
        item.window
        for _, item in case.run.items
        if item.window is not None and item.kind is not ItemKind.INVENTORY
    ]
    if not judged:
        return None
    recorded = [item.window for _, item in case.run.items if item.kind is ItemKind.INVENTORY and item.window]
    base = pick(rng, recorded or judged)
    start_s, end_s = base.start_s, base.end_s
    if not recorded or chance(rng, 0.8):
        base = pick(rng, judged)
        start_s, end_s = base.start_s + pick(rng, _SHIFTS_S), base.end_s + pick(rng, (0.0, *_SHIFTS_S))
    if end_s < start_s or any(_near(start_s, end_s, each) for each in judged):
        return None
    false = TimeWindow(start_s, end_s)
    draft = replace(case.run.draft, window=false)
    if chance(rng, 0.3):
        draft = replace(draft, conclusion=())
    return Told(draft, (ForgedWindow(utc_text(start_s), utc_text(end_s)),))


def _near(start_s: float, end_s: float, held: TimeWindow) -> bool:
    return abs(start_s - held.start_s) < 2.0 and abs(end_s - held.end_s) < 2.0


def _is_mirrored(run: RecordedRun, claim: Claim) -> bool:
    """Whether some item truthfully says the opposite."""
    return any(
        item.signal == claim.signal and item.value is not None and item.baseline is not None
        and item.value < item.baseline
        for item in run.about(claim.entity)
    ) and any(
        item.signal == claim.signal and item.value is not None and item.baseline is not None
        and item.value > item.baseline
        for item in run.about(claim.entity)
    )  # fmt: skip
