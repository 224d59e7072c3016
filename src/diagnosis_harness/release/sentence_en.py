"""The published sentences in English, one small function for each predicate."""

from __future__ import annotations

from collections.abc import Callable

from diagnosis_harness.diagnosis.claim import Claim, Predicate
from diagnosis_harness.release.measure import measure, measures, times
from diagnosis_harness.release.moment import instant, shown, span
from diagnosis_harness.tools.evidence import Direction

_MOVED = {Direction.UP: "rose", Direction.DOWN: "fell", Direction.FLAT: "stayed level"}
_MOVE = {Direction.UP: "rise", Direction.DOWN: "fall", Direction.FLAT: "level out"}


def sentence(claim: Claim) -> str:
    """The claim in one English sentence."""
    return f"{_SAID[claim.predicate](claim)}."


def _changed(claim: Claim) -> str:
    return f"{_subject(claim)} {_movement(claim)}{_when(claim)}"


def _began(claim: Claim) -> str:
    move = _MOVE[claim.direction] if claim.direction else "differ from normal"
    return f"{_subject(claim)} began to {move}{_when(claim)}"


def _normal(claim: Claim) -> str:
    return f"{_subject(claim)} moved no further than it normally does{_when(claim)}{_level(claim)}"


def _failed(claim: Claim) -> str:
    return f"{_failing(claim)}{_from_to(claim)}{_when(claim)}"


def _dropped(claim: Claim) -> str:
    without = shown(claim.affected or "?")
    share = f"The share of {_subject(claim)} that ends without {without} rose"
    return f"{share}{_from_to(claim)}{_when(claim)}"


def _caused(claim: Claim) -> str:
    return f"{shown(claim.entity)} is the cause{_of(claim)}{_when(claim)}{_detail(claim)}"


def _affected(claim: Claim) -> str:
    return f"{shown(claim.entity)} is affected{_when(claim)}, not the cause{_detail(claim)}"


def _saturated(claim: Claim) -> str:
    return f"{_subject(claim)} ran at its limit{_when(claim)}{_level(claim)}"


def _slowed(claim: Claim) -> str:
    return f"{_slow_part(claim)}{_from_to(claim)}{_when(claim)}"


def _calls(claim: Claim) -> str:
    return f"{shown(claim.entity)} calls {shown(claim.affected or '?')}"


def _deployed(claim: Claim) -> str:
    kind = f" ({shown(claim.signal)})" if claim.signal else ""
    return f"{shown(claim.entity)} was changed{kind}{_when(claim)}"


def _absent(claim: Claim) -> str:
    return f"Nothing was found for {_subject(claim)}{_when(claim)}, in the scope that was asked"


def _subject(claim: Claim) -> str:
    return f"{shown(claim.signal)} of {shown(claim.entity)}" if claim.signal else shown(claim.entity)


def _slow_part(claim: Claim) -> str:
    """What took longer; without a second entity or a signal nobody can say where."""
    name = shown(claim.entity)
    if claim.affected:
        return f"The way from {shown(claim.affected)} to {name} slowed"
    return f"{_subject(claim)} slowed" if claim.signal else f"Time in {name}, or on the way to it, rose"


def _failing(claim: Claim) -> str:
    """Whose failures rose: the entity's own, or those of calls on the way to it."""
    if claim.affected:
        return f"The share of calls from {shown(claim.affected)} to {_subject(claim)} that fail rose"
    return f"The share of {_subject(claim)} that fails rose"


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


_SAID: dict[Predicate, Callable[[Claim], str]] = {
    Predicate.CHANGED: _changed,
    Predicate.BEGAN: _began,
    Predicate.NORMAL: _normal,
    Predicate.FAILED: _failed,
    Predicate.DROPPED: _dropped,
    Predicate.CAUSED: _caused,
    Predicate.AFFECTED: _affected,
    Predicate.SATURATED: _saturated,
    Predicate.SLOWED: _slowed,
    Predicate.CALLS: _calls,
    Predicate.DEPLOYED: _deployed,
    Predicate.ABSENT: _absent,
}
