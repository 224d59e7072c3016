"""The published sentences in English, one small function for each predicate."""

from __future__ import annotations

from typing import assert_never

from diagnosis_harness.diagnosis.claim import Claim, Predicate
from diagnosis_harness.release.measure import measure, measures, times
from diagnosis_harness.release.moment import instant, shown, span
from diagnosis_harness.tools.evidence import Direction

_MOVED = {Direction.UP: "rose", Direction.DOWN: "fell", Direction.FLAT: "stayed level"}
_MOVE = {Direction.UP: "rise", Direction.DOWN: "fall", Direction.FLAT: "level out"}


def sentence(claim: Claim) -> str:
    """The claim in one English sentence."""
    return f"{_said(claim)}."


def _said(claim: Claim) -> str:  # noqa: PLR0911 - one return for each predicate
    name = shown(claim.entity)
    match claim.predicate:
        case Predicate.CHANGED:
            return f"{_subject(claim)} {_movement(claim)}{_when(claim)}"
        case Predicate.BEGAN:
            move = _MOVE[claim.direction] if claim.direction else "differ from normal"
            return f"{_subject(claim)} began to {move}{_when(claim)}"
        case Predicate.CAUSED:
            return f"{name} is the cause{_of(claim)}{_when(claim)}{_detail(claim)}"
        case Predicate.AFFECTED:
            return f"{name} is affected{_when(claim)}, not the cause{_detail(claim)}"
        case Predicate.SATURATED:
            return f"{_subject(claim)} ran at its limit{_when(claim)}{_level(claim)}"
        case Predicate.SLOWED:
            return f"{_slow_part(claim)}{_from_to(claim)}{_when(claim)}"
        case Predicate.CALLS:
            return f"{name} calls {shown(claim.affected or '?')}"
        case Predicate.DEPLOYED:
            kind = f" ({shown(claim.signal)})" if claim.signal else ""
            return f"{name} was changed{kind}{_when(claim)}"
        case Predicate.ABSENT:
            return f"Nothing was found for {_subject(claim)}{_when(claim)}, in the scope that was asked"
        case _:
            assert_never(claim.predicate)


def _subject(claim: Claim) -> str:
    return f"{shown(claim.signal)} of {shown(claim.entity)}" if claim.signal else shown(claim.entity)


def _slow_part(claim: Claim) -> str:
    """What took longer; without a second entity or a signal nobody can say where."""
    name = shown(claim.entity)
    if claim.affected:
        return f"The way from {shown(claim.affected)} to {name} slowed"
    return f"{_subject(claim)} slowed" if claim.signal else f"Time in {name}, or on the way to it, rose"


def _of(claim: Claim) -> str:
    if claim.affected is None or claim.affected == claim.entity:
        return ""
    return f" of what {shown(claim.affected)} shows"


def _movement(claim: Claim) -> str:
    moved = _MOVED[claim.direction] if claim.direction else "changed"
    return f"{moved}{_from_to(claim)}"


def _from_to(claim: Claim) -> str:
    if claim.value is None:
        return "" if claim.baseline is None else f" from {measure(claim.baseline, claim.unit)}"
    if claim.baseline is None:
        preposition = "at" if claim.direction is Direction.FLAT else "to"
        return f" {preposition} {measure(claim.value, claim.unit)}"
    before, now = measures(claim.baseline, claim.value, claim.unit)
    if claim.direction is Direction.FLAT:
        return f" at {now}" if before == now else f" ({before} before, {now} then)"
    factor = times(claim.baseline, claim.value)
    return f" from {before} to {now}" + (f" ({factor} times)" if factor else "")


def _detail(claim: Claim) -> str:
    if claim.signal is None:
        return ""
    return f": its {shown(claim.signal)} {_movement(claim)}"


def _level(claim: Claim) -> str:
    if claim.value is None:
        return ""
    if claim.baseline is None:
        return f": at {measure(claim.value, claim.unit)}"
    before, now = measures(claim.baseline, claim.value, claim.unit)
    return f": at {now}, against {before} before"


def _when(claim: Claim) -> str:
    if claim.onset_s is not None:
        at = claim.predicate in (Predicate.BEGAN, Predicate.DEPLOYED)
        return f" {'at' if at else 'since'} {instant(claim.onset_s)}"
    if claim.window is None:
        return ""
    start, end = span(claim.window)
    return f" between {start} and {end}"
