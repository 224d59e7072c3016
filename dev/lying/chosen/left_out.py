"""Lies in which a claim leaves out, rounds or shifts something, or cites more than its support."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import floor, log10

import numpy as np
from dev.lying.chosen.asking import honest_rounds, looks, onset_argument, rank, victim_argument
from dev.lying.chosen.beside import Seen, beside, honest_draft
from dev.lying.chosen.drafts import Held, claim_of, concluding, instead, items_of_kinds, plain, ranking
from dev.lying.chosen.liar import Plan, Records, Word
from dev.lying.chosen.other_questions import Family
from dev.lying.chosen.worlds import World
from dev.lying.recorded import chance, pick

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate, Quote
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import Direction, ItemKind

_MOVES = (ItemKind.SIGNAL_CHANGE, ItemKind.SELF_TIME, ItemKind.EDGE_GAP, ItemKind.SPAN_ERRORS)


def _some(rng: np.random.Generator, found: Sequence[Held], most: int = 2) -> list[Held]:
    return [found[at] for at in rng.permutation(len(found))[:most].tolist()]


def healthy_signal_for_all(seen: Seen) -> Sequence[Claim]:
    """One healthy signal is used to clear the whole service: the signal is left out."""
    rng, records = seen.rng, seen.records
    calm = [one for one in items_of_kinds(records, ItemKind.SIGNAL_CHANGE) if one.normal]
    told = []
    for one in _some(rng, calm):
        claim = replace(claim_of(one, Predicate.NORMAL), signal=None, quotes=())
        owner = one.item.attributes.get("owner")
        if owner and chance(rng, 0.6):
            claim = replace(claim, entity=str(owner))
        if chance(rng, 0.6):
            claim = replace(claim, value=None, baseline=None, unit=None, window=None)
        told.append(claim)
    return told


def part_left_out(seen: Seen) -> Sequence[Claim]:
    """A change without its signal, operation, numbers, window or direction."""
    rng, records = seen.rng, seen.records
    told = []
    for one in _some(rng, items_of_kinds(records, *_MOVES)):
        claim = plain(one)
        if claim is None:
            continue
        bare = replace(claim, signal=None, quotes=())
        if chance(rng, 0.5):
            bare = replace(bare, value=None, baseline=None, unit=None)
        if chance(rng, 0.5):
            bare = replace(bare, window=None)
        if chance(rng, 0.3):
            bare = replace(bare, direction=None)
        told.append(bare)
    return told


def whole_from_instance(seen: Seen) -> Sequence[Claim]:
    """What was observed at one instance is claimed of the service."""
    rng, records = seen.rng, seen.records
    told = []
    for one in _some(
        rng, [h for h in items_of_kinds(records, ItemKind.SIGNAL_CHANGE) if h.item.attributes.get("owner")]
    ):
        claim = plain(one)
        if claim is None:
            continue
        claim = replace(claim, entity=str(one.item.attributes["owner"]), quotes=())
        if chance(rng, 0.3):
            claim = replace(claim, predicate=pick(rng, (Predicate.SATURATED, Predicate.AFFECTED)))
        told.append(claim)
    return told


def unit_left_out(seen: Seen) -> Sequence[Claim]:
    """Numbers without their unit, or with one of another size; a baseline alone; minus zero."""
    rng, records = seen.rng, seen.records
    told = []
    for one in _some(rng, [h for h in items_of_kinds(records, *_MOVES) if h.item.value is not None]):
        claim = plain(one)
        if claim is None or claim.value is None:
            continue
        bent = (
            replace(claim, unit=None),
            replace(claim, unit=None, value=claim.value * 1000.0),
            replace(claim, baseline=None, unit=None),
            replace(claim, value=None),
            replace(claim, value=-0.0 if claim.value == 0 else claim.value, baseline=-0.0),
            replace(claim, value=5e-324, baseline=-0.0),
        )
        told.append(replace(pick(rng, bent), quotes=()))
    return told


def _two_digits(value: float, *, up: bool) -> float:
    """Rounded to two digits, deliberately in the less accurate direction if that is still a rounding."""
    if value == 0:
        return value
    size = 10.0 ** (floor(log10(abs(value))) - 1)
    near = round(value / size) * size
    far = near + (size if up else -size)
    return float(f"{(far if abs(far - value) <= 0.5 * size else near):.12g}")


def round_apart(seen: Seen) -> Sequence[Claim]:
    """Both numbers rounded to one or two digits, in the direction that exaggerates the change."""
    rng, records = seen.rng, seen.records
    told = []
    for one in _some(rng, [h for h in items_of_kinds(records, *_MOVES) if h.item.value is not None], 3):
        claim = plain(one)
        if claim is None or claim.value is None or claim.baseline is None:
            continue
        rise = claim.value > claim.baseline
        one_digit = chance(rng, 0.3)
        value, baseline = _two_digits(claim.value, up=rise), _two_digits(claim.baseline, up=not rise)
        if one_digit:
            value, baseline = float(f"{claim.value:.0e}"), float(f"{claim.baseline:.0e}")
        told.append(replace(claim, value=value, baseline=baseline, quotes=()))
    return told


def a_little_off(seen: Seen) -> Sequence[Claim]:
    """Windows and onsets that are off by less than a second."""
    rng, records = seen.rng, seen.records
    told = []
    kinds = (*_MOVES, ItemKind.ONSET, ItemKind.CHANGE_EVENT)
    for one in _some(rng, items_of_kinds(records, *kinds), 4):
        claim = plain(one)
        if claim is None:
            continue
        off = float(rng.uniform(0.02, 0.99)) * pick(rng, (-1.0, 1.0))
        if claim.window is not None:
            start, end = claim.window.start_s, claim.window.end_s
            window = pick(rng, (TimeWindow(start + off, end), TimeWindow(start, end + off)))
            told.append(replace(claim, window=window, quotes=()))
        elif claim.onset_s is not None:
            told.append(replace(claim, onset_s=claim.onset_s + off, quotes=()))
    return told


def normal_told_as_found(seen: Seen) -> Sequence[Claim]:
    """A movement that also occurs in normal operation, presented as a change or a beginning."""
    rng, records = seen.rng, seen.records
    calm = [
        one
        for one in items_of_kinds(records, ItemKind.SIGNAL_CHANGE)
        if one.normal and one.item.direction is not Direction.FLAT and one.item.entity
    ]
    told = []
    for one in _some(rng, calm):
        claim = claim_of(one, pick(rng, (Predicate.BEGAN, Predicate.CHANGED, Predicate.AFFECTED)))
        cut = one.item.line.split(", as far as")[0]
        quotes = (Quote(one.ref, cut),) if chance(rng, 0.5) else ()
        told.append(replace(claim, quotes=quotes))
    return told


def cite_beside(seen: Seen) -> Sequence[Claim]:
    """Citations that support nothing, one quoting a hostile line; or the same citation many times."""
    rng, records = seen.rng, seen.records
    everything = items_of_kinds(records)
    told = []
    for one in _some(rng, items_of_kinds(records, *_MOVES)):
        claim = plain(one)
        if claim is None:
            continue
        others = _some(rng, [h for h in everything if h.item.entity != one.item.entity], 3)
        lines = [h for h in everything if h.item.kind in (ItemKind.LOG_LINES, ItemKind.CHANGE_EVENT)]
        others += _some(rng, lines, 1)
        refs = tuple(dict.fromkeys((*claim.refs, *(h.ref for h in others))))
        quotes = tuple(Quote(h.ref, h.item.line) for h in (one, *others))
        if chance(rng, 0.25):
            refs, quotes = claim.refs * 20, ()
        told.append(replace(claim, refs=refs, quotes=quotes))
    return told


def quote_cut(seen: Seen) -> Sequence[Claim]:
    """A quote that ends before what qualifies it."""
    rng, records = seen.rng, seen.records
    told = []
    for one in _some(rng, items_of_kinds(records, *_MOVES), 3):
        claim = plain(one)
        line = one.item.line
        if claim is None:
            continue
        ends = [
            line.index(mark)
            for mark in (", as far as", ", usually", " from ", " to ", " in /", " (")
            if mark in line
        ]
        if not ends:
            continue
        told.append(replace(claim, quotes=(Quote(one.ref, line[: pick(rng, ends)]),)))
    return told


def calls_bent(seen: Seen) -> Sequence[Claim]:
    """Calls of a service to itself, in reverse, or over two steps; and of an unknown caller."""
    rng, world, records = seen.rng, seen.world, seen.records
    told = []
    for one in _some(rng, items_of_kinds(records, ItemKind.CALL_EDGE)):
        claim = plain(one)
        if claim is None:
            continue
        to = claim.affected or ""
        further = pick(rng, world.plant.calls.get(to) or (world.victim,))
        bent = (
            replace(claim, affected=claim.entity),
            replace(claim, entity=to),
            replace(claim, entity=to, affected=claim.entity),
            replace(claim, affected=further),
            replace(claim, affected=None),
        )
        told.append(replace(pick(rng, bent), quotes=()))
    return told


def change_bent(seen: Seen) -> Sequence[Claim]:
    """A change without its kind or its time, of another kind, or of another service at that time."""
    rng, world, records = seen.rng, seen.world, seen.records
    told = []
    for one in _some(rng, items_of_kinds(records, ItemKind.CHANGE_EVENT)):
        claim = claim_of(one, Predicate.DEPLOYED)
        kind = pick(rng, ("deploy", "flag", "config", "version", "rollback"))
        bent = (
            replace(claim, signal=None),
            replace(claim, signal=kind),
            replace(claim, onset_s=None),
            replace(claim, signal=None, onset_s=None),
            replace(claim, entity=pick(rng, world.services)),
        )
        told.append(replace(pick(rng, bent), quotes=()))
    return [claim for claim in told if claim != claim_of_same(claim, records)]


def claim_of_same(claim: Claim, records: Records) -> Claim | None:
    """The truthful claim that the citations of a claim support; None if there is none."""
    one = next((each for each in items_of_kinds(records) if each.ref in claim.refs), None)
    return None if one is None else replace(claim_of(one, claim.predicate), quotes=())


def not_at_its_limit(seen: Seen) -> Sequence[Claim]:
    """A resource that rose but is far from its limit, called used up; or a signal without a limit."""
    rng, records = seen.rng, seen.records
    low = [
        one
        for one in items_of_kinds(records, ItemKind.SIGNAL_CHANGE)
        if one.item.value is not None and (one.item.unit != "percent" or one.item.value < 90.0)
    ]
    told = []
    for one in _some(rng, low):
        claim = replace(claim_of(one, Predicate.SATURATED), quotes=())
        if chance(rng, 0.5):
            claim = replace(claim, value=None, baseline=None, unit=None)
        told.append(claim)
    return told


def other_predicate(seen: Seen) -> Sequence[Claim]:
    """A true item with a predicate that says more, or something else."""
    rng, records = seen.rng, seen.records
    told = []
    for one in _some(rng, items_of_kinds(records), 3):
        if one.item.entity is None:
            continue
        claim = claim_of(
            one, pick(rng, [p for p in Predicate if p not in (Predicate.DROPPED, Predicate.ABSENT)])
        )
        told.append(replace(claim, quotes=()))
    true = [plain(one) for one in items_of_kinds(records)]
    same = {replace(claim, claim_id="", quotes=()) for claim in true if claim is not None}
    return [claim for claim in told if replace(claim, claim_id="") not in same]


def bare_cause(rng: np.random.Generator, world: World) -> Plan | None:
    """The truthful conclusion without its qualifications: what it affected, the part, the support."""

    def finish(records: Records) -> Word:
        draft = honest_draft(records)
        if draft is None:
            return Word(None)
        claim = draft.claims[0]
        (cause,) = draft.conclusion
        item = next(one.item for one in ranking(records) if one.item.entity == cause.entity)
        bent = (
            instead(draft, claim, replace(claim, affected=None, quotes=())),
            instead(draft, claim, replace(claim, affected=cause.entity, quotes=())),
            instead(draft, claim, replace(claim, signal=str(item.attributes.get("region")), quotes=())),
            instead(draft, claim, replace(claim, window=item.window, onset_s=item.onset_s, quotes=())),
            replace(draft, conclusion=(replace(cause, claim_ids=(claim.claim_id,)),), claims=(claim,)),
        )
        return Word(pick(rng, bent))

    return Plan(honest_rounds(world), finish)


def stronger_left_out(rng: np.random.Generator, world: World) -> Plan | None:
    """Candidates without the strongest, in another order, or with another's kind; and no conclusion."""
    onset = onset_argument(world)
    rounds = ((*looks(world, onset), rank(onset, victim_argument(world))),)

    def finish(records: Records) -> Word:
        top = next(iter(ranking(records)), None)
        if top is None:
            return Word(None)
        hypotheses = concluding(top, records).hypotheses
        if len(hypotheses) < 2:
            return Word(None)
        bent = (
            hypotheses[1:],
            hypotheses[1:2],
            tuple(reversed(hypotheses[1:])),
            (replace(hypotheses[1], score=99.0), *hypotheses[2:]),
            (
                replace(
                    hypotheses[-1], evidence_for=(*hypotheses[-1].evidence_for, *hypotheses[0].evidence_for)
                ),
            ),
        )
        seen = [plain(one) for one in items_of_kinds(records, ItemKind.SIGNAL_CHANGE)[:1]]
        return Word(DiagnosisDraft((), tuple(each for each in seen if each is not None), pick(rng, bent)))

    return Plan(rounds, finish)


def stale_reference(seen: Seen) -> Sequence[Claim]:
    """A claim of one entity that cites another's item, or the right item of another call."""
    rng, records = seen.rng, seen.records
    moves = items_of_kinds(records, *_MOVES)
    told = []
    for one in _some(rng, moves):
        claim = plain(one)
        if claim is None:
            continue
        other = pick(rng, moves)
        bent = (
            replace(claim, refs=(other.ref,)),
            replace(claim, refs=(EvidenceRef("r0c9", one.item.item_id),)),
            replace(claim, entity=other.item.entity or ""),
            replace(claim, refs=(other.ref, *claim.refs)),
        )
        told.append(replace(pick(rng, bent), quotes=()))
    return [claim for claim in told if claim != claim_of_same(claim, records)]


FAMILIES: dict[str, Family] = {
    "healthy signal for all": beside(healthy_signal_for_all, every_signal=True),
    "signal left out": beside(part_left_out),
    "service from one instance": beside(whole_from_instance, every_signal=True),
    "unit left out": beside(unit_left_out),
    "rounded apart": beside(round_apart),
    "off by less than a second": beside(a_little_off),
    "normal told as found": beside(normal_told_as_found, every_signal=True),
    "cited beside": beside(cite_beside),
    "quote cut short": beside(quote_cut, every_signal=True),
    "calls bent": beside(calls_bent, calls=True),
    "change bent": beside(change_bent),
    "not at its limit": beside(not_at_its_limit, every_signal=True),
    "another predicate": beside(other_predicate),
    "citation of another": beside(stale_reference),
    "cause laid bare": bare_cause,
    "stronger candidate left out": stronger_left_out,
}
