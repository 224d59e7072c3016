"""Lies about entities: other entities, invented ones, and names that only look like a true one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from dev.lying.forged import Fabrication, ForgedEntry, ForgedText, Place, Told, fields_of
from dev.lying.recorded import Case, RecordedRun, chance, pick
from dev.lying.told import any_claim, tell

from diagnosis_harness.diagnosis.claim import Claim, Predicate
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind

_LOOK_ALIKES = str.maketrans({"a": "а", "e": "е", "o": "о", "p": "р", "c": "с", "i": "і", "-": "‐", "s": "ѕ"})
"""Latin letters and the Cyrillic ones that look the same."""
_INVENTED = ("ledger-shadow", "payments-v2-canary", "幽灵服务", "db-primary-9", "auth-proxy-eu")
_CONTROLS = ("\u202e", "\u200b", "\x00", "\x1b[31m", "\n", "\r", "\t", "\u2066", "\x7f", "\ufeff")


def number_of_another(rng: np.random.Generator, case: Case) -> Told | None:
    """The right number on the wrong entity, with both of them cited."""
    run = case.run
    claim = any_claim(rng, run, "value")
    if claim is None or claim.value is None:
        return None
    ref, item = pick(rng, run.items)
    wrong = item.entity
    if wrong is None or wrong == claim.entity or _is_part(run, wrong, claim.entity):
        return None
    if run.says_number(wrong, claim.signal, claim.value, claim.unit):
        return None
    refs = (*claim.refs, ref) if chance(rng, 0.6) else (ref,)
    quotes = tuple(quote for quote in claim.quotes if quote.ref in refs)
    false = replace(claim, entity=wrong, refs=refs, quotes=quotes)
    return tell(
        rng,
        run,
        false,
        (ForgedEntry(Place.CLAIMS, fields_of(false, "signal", "value", "unit")),),
        instead_of=claim,
    )


def number_of_another_signal(rng: np.random.Generator, case: Case) -> Told | None:
    """The right number and entity under another signal's name."""
    run = case.run
    claim = any_claim(rng, run, "value", "signal")
    if claim is None or claim.value is None:
        return None
    ref, item = pick(rng, run.items)
    wrong = item.signal or "heap_used"
    if wrong == claim.signal or run.says_number(claim.entity, wrong, claim.value, claim.unit):
        return None
    refs = (*claim.refs, ref) if chance(rng, 0.6) else claim.refs
    false = replace(claim, signal=wrong, refs=refs)
    fields = fields_of(false, "signal", "value", "unit")
    return tell(rng, run, false, (ForgedEntry(Place.CLAIMS, fields),), instead_of=claim)


def invent_entity(rng: np.random.Generator, case: Case) -> Told | None:
    """A name that is in no record, or one that only looks like it."""
    claim = any_claim(rng, case.run)
    if claim is None:
        return None
    name = pick(rng, tuple(_strange_names(rng, claim.entity)))
    return _naming(rng, case.run, claim, name)


def control_characters(rng: np.random.Generator, case: Case) -> Told | None:
    """A true name with a character that hides or reverses what is printed."""
    claim = any_claim(rng, case.run)
    if claim is None:
        return None
    field = pick(rng, tuple(_NAMED))
    true = getattr(claim, field) or claim.entity
    at = int(rng.integers(len(true) + 1))
    return _naming(rng, case.run, claim, f"{true[:at]}{pick(rng, _CONTROLS)}{true[at:]}", field=field)


def second_entity(rng: np.random.Generator, case: Case) -> Told | None:
    """The other end of a call, path or effect is replaced."""
    run = case.run
    claim = any_claim(rng, run, "affected") if chance(rng, 0.7) else any_claim(rng, run)
    if claim is None:
        return None
    wrong = pick(rng, run.entities)
    if wrong == claim.affected or any(_is_tied(item, claim, wrong) for _, item in run.items):
        return None
    false = replace(claim, affected=wrong)
    fields = fields_of(false, "signal", "affected")
    return tell(rng, run, false, (ForgedEntry(Place.CLAIMS, fields),), instead_of=claim)


def predicate(rng: np.random.Generator, case: Case) -> Told | None:
    """The right entity and numbers with a predicate that says something else."""
    run = case.run
    claim = any_claim(rng, run)
    if claim is None:
        return None
    wrong = pick(rng, [each for each in Predicate if each is not claim.predicate])
    if wrong is Predicate.CHANGED or any(
        _may_say(item, claim, wrong, run.wholes(claim.entity)) for _, item in run.items
    ):
        return None
    keeps = chance(rng, 0.5)
    false = replace(
        claim,
        predicate=wrong,
        direction=claim.direction if keeps else None,
        affected=claim.affected if keeps else None,
        onset_s=claim.onset_s if keeps else None,
    )
    fields = fields_of(false, "signal", "value")
    return tell(rng, run, false, (ForgedEntry(Place.CLAIMS, fields),), instead_of=claim)


def _may_say(item: EvidenceItem, claim: Claim, wrong: Predicate, wholes: set[str]) -> bool:
    """Whether an item might support the wrong predicate after all, so that it is not a lie."""
    if not wholes.intersection((item.entity, item.peer, item.attributes.get("owner"))):
        return False
    if wrong in _OF_KINDS:
        return item.kind in _OF_KINDS[wrong]
    signal = claim.signal in (None, item.signal)
    match wrong:
        case Predicate.NORMAL:
            moved = item.attributes.get("as_far") == 0 and item.value != item.baseline
            return signal and item.kind is ItemKind.SIGNAL_CHANGE and not moved
        case Predicate.BEGAN:
            return item.onset_s is not None
        case Predicate.SATURATED:
            return signal and _is_at_limit(item)
        case Predicate.AFFECTED:
            return item.kind is ItemKind.CAUSE_SCORE and item.peer in wholes
        case _:
            return False


_OF_KINDS = {
    Predicate.SLOWED: (ItemKind.SELF_TIME, ItemKind.EDGE_GAP),
    Predicate.FAILED: (ItemKind.SPAN_ERRORS,),
    Predicate.DROPPED: (ItemKind.SPAN_ERRORS,),
    Predicate.CALLS: (ItemKind.CALL_EDGE,),
    Predicate.DEPLOYED: (ItemKind.CHANGE_EVENT,),
    Predicate.CAUSED: (ItemKind.CAUSE_SCORE,),
}
"""Kinds of items of which any may support such a claim."""


def _is_at_limit(item: EvidenceItem) -> bool:
    if item.value is None:
        return False
    share = {"percent": 0.01, "%": 0.01, "ratio": 1.0}.get(item.unit or "")
    return share is not None and item.value * share >= 0.8


_NAMED: dict[str, Callable[[Claim, str], Claim]] = {
    "entity": lambda claim, name: replace(claim, entity=name),
    "affected": lambda claim, name: replace(claim, affected=name),
    "signal": lambda claim, name: replace(claim, signal=name),
    "unit": lambda claim, name: replace(claim, unit=name),
}


def _naming(
    rng: np.random.Generator, run: RecordedRun, claim: Claim, name: str, *, field: str = "entity"
) -> Told:
    false = _NAMED[field](claim, name)
    forged: list[Fabrication] = [ForgedEntry(Place.CLAIMS, {field: name})]
    if all(name.strip() not in each for each in run.entities):
        forged.append(ForgedText(name))
    told = tell(rng, run, false, forged, instead_of=claim)
    if field == "entity" and told.draft.conclusion and chance(rng, 0.2):
        cause = replace(told.draft.conclusion[0], entity=name)
        told = replace(told, draft=replace(told.draft, conclusion=(cause,)))
    return told


def _strange_names(rng: np.random.Generator, name: str) -> Iterator[str]:
    yield pick(rng, _INVENTED)
    yield f"{name}-{int(rng.integers(90, 100))}"
    yield name[:-1] + ("x" if name[-1] != "x" else "y")
    if name.translate(_LOOK_ALIKES) != name:
        yield name.translate(_LOOK_ALIKES)
    if name.swapcase() != name:
        yield name.swapcase()
    yield f"{name} "


def _is_part(run: RecordedRun, one: str, other: str) -> bool:
    owners = {(item.entity, item.attributes.get("owner")) for _, item in run.items}
    return (one, other) in owners or (other, one) in owners


def _is_tied(item: EvidenceItem, claim: Claim, other: str) -> bool:
    """Whether an item ties the claim's entity to the other one in any way."""
    ends = {item.entity, item.peer, item.attributes.get("owner"), item.attributes.get("without")}
    return claim.entity in ends and other in ends
