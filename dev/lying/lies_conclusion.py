"""Lies about the cause: its entity, kind of fault, part, strength and support."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import isfinite

import numpy as np
from dev.lying.forged import Fabrication, ForgedEntry, ForgedRef, ForgedSupport, Place, Told, fields_of
from dev.lying.recorded import Case, RecordedRun, chance, pick
from dev.lying.told import concluding, tell

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, FaultKind, Predicate, Quote
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft, Hypothesis
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind

_SEEN = (ItemKind.SIGNAL_CHANGE, ItemKind.SELF_TIME, ItemKind.SPAN_ERRORS)


def cause_claim(ref: EvidenceRef, item: EvidenceItem, *, entity: str, affected: str | None) -> Claim:
    """A claim that `entity` is the cause, which cites a ranking item."""
    return Claim(f"caused-{entity}", Predicate.CAUSED, entity, (ref,), (Quote(ref, item.line),), affected)


def observations_of(run: RecordedRun, entity: str) -> tuple[Claim, ...]:
    """True claims about what rose at an entity, made from its items; three at most."""
    rose = [
        (ref, item)
        for ref, item in run.items
        if item.kind in _SEEN and item.entity == entity and item.direction is Direction.UP and not item.peer
        and "without" not in item.attributes
    ]  # fmt: skip
    words = {
        ItemKind.SIGNAL_CHANGE: Predicate.CHANGED,
        ItemKind.SELF_TIME: Predicate.SLOWED,
        ItemKind.SPAN_ERRORS: Predicate.FAILED,
    }
    return tuple(
        Claim(
            f"seen-{ref.tool_call_id}-{ref.item_id}",
            words[item.kind],
            entity,
            (ref,),
            (Quote(ref, item.line),),
            signal=item.signal,
            value=item.value,
            baseline=item.baseline,
            unit=item.unit,
            direction=item.direction,
            window=item.window,
        )
        for ref, item in rose[:3]
    )


def _fault_kind(item: EvidenceItem) -> FaultKind:
    return FaultKind(str(item.attributes.get("fault_kind", FaultKind.UNKNOWN)))


def _region(item: EvidenceItem) -> str | None:
    region = item.attributes.get("region")
    return str(region) if region else None


def cause_and_victim(rng: np.random.Generator, case: Case) -> Told | None:
    """The affected entity is named as the cause of its own cause; every reference is valid."""
    run = case.run
    told = [(ref, item) for ref, item in run.ranking[:3] if item.peer and item.peer != item.entity]
    if not told:
        return None
    ref, item = pick(rng, told)
    victim, culprit = item.peer or "", item.entity or ""
    if any(each.entity == victim and each.peer == culprit for _, each in run.ranking):
        return None
    if run.ranking[0][1].entity == victim:
        return None
    observed = observations_of(run, victim)
    own = [each for each in run.ranking if each[1].entity == victim]
    false = cause_claim(ref, item, entity=victim, affected=culprit)
    if own and chance(rng, 0.5):
        false = replace(false, refs=(own[0][0], ref), quotes=())
    claims = (false, *observed)
    kind = _fault_kind(item)
    cause = Cause(victim, kind, tuple(claim.claim_id for claim in claims), _region(item), item.score)
    forged = [
        ForgedEntry(Place.CAUSES, {"entity": victim}),
        ForgedEntry(Place.CLAIMS, fields_of(false, "affected")),
    ]
    return Told(concluding(run.draft, cause, claims), tuple(forged))


def invent_cause(rng: np.random.Generator, case: Case) -> Told | None:
    """A cause that no ranking of the run names."""
    run = case.run
    ranked = {item.entity for _, item in run.ranking}
    free = [name for name in (*run.entities, *case.other.entities, "ledger-shadow") if name not in ranked]
    if not free or not run.items:
        return None
    entity = pick(rng, free)
    ref, item = run.ranking[0] if run.ranking else run.items[0]
    false = cause_claim(ref, item, entity=entity, affected=item.peer)
    claims = (false, *observations_of(run, entity))
    cause = Cause(
        entity, pick(rng, tuple(FaultKind)), tuple(claim.claim_id for claim in claims), score=item.score
    )
    both = chance(rng, 0.3) and run.draft.conclusion
    draft = concluding(run.draft, cause, claims)
    if both:
        draft = replace(draft, conclusion=(*run.draft.conclusion, cause))
    forged = (ForgedEntry(Place.CAUSES, {"entity": entity}), ForgedEntry(Place.CLAIMS, fields_of(false)))
    return Told(draft, forged)


def smuggle_conclusion(rng: np.random.Generator, case: Case) -> Told | None:
    """A second cause, or an acquittal of the first, is among the claims but in no conclusion."""
    run = case.run
    if len(run.ranking) < 2 or not run.draft.conclusion:
        return None
    concluded = run.draft.conclusion[0].entity
    if chance(rng, 0.6):
        ref, item = pick(rng, run.ranking[1:])
        if item.entity == concluded or item.entity is None:
            return None
        false = cause_claim(ref, item, entity=item.entity, affected=item.peer)
        return tell(rng, run, false, (ForgedEntry(Place.CLAIMS, fields_of(false)),))
    seen = (
        observations_of(run, concluded) if chance(rng, 0.6) else observations_of(run, pick(rng, run.entities))
    )
    if not seen or seen[0].predicate is not Predicate.CHANGED:
        return None
    victims = {item.peer for _, item in run.ranking}
    if victims & run.wholes(seen[0].entity):
        return None
    false = replace(seen[0], predicate=Predicate.AFFECTED)
    return tell(rng, run, false, (ForgedEntry(Place.CLAIMS, fields_of(false)),))


def fault_kind(rng: np.random.Generator, case: Case) -> Told | None:
    """The right entity with another kind of fault, perhaps that of another candidate."""
    run = case.run
    if not run.draft.conclusion:
        return None
    cause = run.draft.conclusion[0]
    held = {_fault_kind(item) for _, item in run.ranking if item.entity == cause.entity}
    wrong = pick(rng, [kind for kind in FaultKind if kind not in held])
    false = replace(cause, fault_kind=wrong)
    forged = ForgedEntry(Place.CAUSES, {"entity": cause.entity, "fault_kind": wrong.value})
    return Told(_lend(rng, run, false, lambda item: _fault_kind(item) is wrong), (forged,))


def region(rng: np.random.Generator, case: Case) -> Told | None:
    """The right entity with a part that the ranking does not name, perhaps that of another candidate."""
    run = case.run
    if not run.draft.conclusion:
        return None
    cause = run.draft.conclusion[0]
    held = {_region(item) for _, item in run.ranking if item.entity == cause.entity}
    names = [name for _, item in run.ranking if (name := _region(item)) and name not in held]
    wrong = pick(rng, (*names, "GET /admin/export", "heap", f"{cause.entity}->ledger-shadow"))
    false = replace(cause, region=wrong)
    forged = ForgedEntry(Place.CAUSES, {"entity": cause.entity, "region": wrong})
    return Told(_lend(rng, run, false, lambda item: _region(item) == wrong), (forged,))


def _lend(
    rng: np.random.Generator, run: RecordedRun, false: Cause, fits: Callable[[EvidenceItem], bool]
) -> DiagnosisDraft:
    """The draft with a false cause whose claim also cites another candidate's ranking, where one fits."""
    claims = run.draft.claims
    lending = [ref for ref, item in run.ranking if item.entity != false.entity and fits(item)]
    if lending and chance(rng, 0.7):
        extra = pick(rng, lending)
        claims = tuple(
            replace(claim, refs=(*claim.refs, extra)) if claim.predicate is Predicate.CAUSED else claim
            for claim in claims
        )
    conclusion = (false, *run.draft.conclusion) if chance(rng, 0.2) else (false,)
    return replace(run.draft, claims=claims, conclusion=conclusion)


def score(rng: np.random.Generator, case: Case) -> Told | None:
    """A strength that no ranking gave: of the cause, or of a candidate."""
    run = case.run
    held = [item.score for _, item in run.ranking if item.score is not None]
    wrong = pick(rng, (99.9, 1e6, -5.0, 0.999, float("inf"), float("nan"), (held[0] if held else 1.0) * 10))
    if wrong in held:
        return None
    if run.draft.conclusion and chance(rng, 0.5):
        cause = replace(run.draft.conclusion[0], score=wrong)
        forged: Fabrication = ForgedEntry(Place.CAUSES, {"score": _json(wrong)})
        return Told(replace(run.draft, conclusion=(cause,)), (forged,))
    if not run.draft.hypotheses:
        return None
    place = int(rng.integers(len(run.draft.hypotheses)))
    hypotheses = tuple(
        replace(each, score=wrong) if at == place else each for at, each in enumerate(run.draft.hypotheses)
    )
    forged = ForgedEntry(Place.CANDIDATES, {"score": _json(wrong)})
    return Told(replace(run.draft, hypotheses=hypotheses), (forged,))


def _json(number: float) -> float | str:
    """A value that no document can represent must not match None either."""
    return number if isfinite(number) else str(number)


def borrow_support(rng: np.random.Generator, case: Case) -> Told | None:
    """The cause is supported by a true statement about another entity."""
    run = case.run
    if not run.draft.conclusion:
        return None
    cause = run.draft.conclusion[0]
    parts = {item.entity for item in run.about(cause.entity)} | {cause.entity}
    others = [name for name in run.entities if name not in parts]
    seen = [claim for name in others for claim in observations_of(run, name)[:1]]
    if not seen:
        return None
    lent = pick(rng, seen)
    ids = (*cause.claim_ids, lent.claim_id)
    if chance(rng, 0.4):
        ids = (cause.claim_ids[0], lent.claim_id)
    draft = replace(run.draft, claims=(*run.draft.claims, lent), conclusion=(replace(cause, claim_ids=ids),))
    fields = fields_of(lent, "signal", "value")
    return Told(draft, (ForgedSupport(cause.entity, fields),))


def hypothesis(rng: np.random.Generator, case: Case) -> Told | None:
    """A candidate that no ranking names, or with a kind, part or evidence that is not its own."""
    run = case.run
    if not run.draft.hypotheses:
        return None
    true = pick(rng, run.draft.hypotheses)
    false, forged = _false_candidate(rng, case, true)
    others = tuple(each for each in run.draft.hypotheses if each is not true)
    at = int(rng.integers(len(others) + 1))
    draft = replace(run.draft, hypotheses=(*others[:at], false, *others[at:]))
    if chance(rng, 0.4):
        draft = replace(draft, conclusion=())
    return Told(draft, (forged,))


def _false_candidate(
    rng: np.random.Generator, case: Case, true: Hypothesis
) -> tuple[Hypothesis, Fabrication]:
    run = case.run
    ranked = {item.entity for _, item in run.ranking}
    match int(rng.integers(5)):
        case 0:
            free = [name for name in (*case.other.entities, "ledger-shadow") if name not in ranked]
            name = pick(rng, free or ["ledger-shadow"])
            return replace(true, entity=name), ForgedEntry(Place.CANDIDATES, {"entity": name})
        case 1:
            held = {_fault_kind(item) for _, item in run.ranking if item.entity == true.entity}
            kind = pick(rng, [each for each in FaultKind if each not in held])
            fields = {"entity": true.entity, "fault_kind": kind.value}
            return replace(true, fault_kind=kind), ForgedEntry(Place.CANDIDATES, {**fields})
        case 2:
            part = pick(rng, ("GET /admin/export", "heap", "幽灵"))
            return replace(true, region=part), ForgedEntry(Place.CANDIDATES, {"region": part})
        case 3:
            ref = EvidenceRef(pick(rng, ("t99", "t1")), "ghost-1")
            return replace(true, evidence_for=(*true.evidence_for, ref)), ForgedRef(ref)
        case _:
            return _with_foreign_evidence(rng, run, true)


def _with_foreign_evidence(
    rng: np.random.Generator, run: RecordedRun, true: Hypothesis
) -> tuple[Hypothesis, Fabrication]:
    """An item about another entity is cited as evidence for it."""
    own = {true.entity} | {item.entity for item in run.about(true.entity)}
    # What explains a candidate better is cited against it, by our own code; so are its instances.
    better = {item.attributes.get("explained_by") for _, item in run.ranking if item.entity == true.entity}
    own |= {str(name) for name in better if name is not None}
    foreign = [
        ref
        for ref, item in run.items
        if item.kind in (*_SEEN, ItemKind.CAUSE_SCORE)
        and own.isdisjoint((item.entity, item.peer, item.attributes.get("owner")))
    ]
    ref = pick(rng, foreign) if foreign else EvidenceRef("failed1", "c1")
    by = {"entity": true.entity, "fault_kind": true.fault_kind.value}
    return replace(true, evidence_for=(*true.evidence_for, ref)), ForgedRef(ref, by={**by})


def wrong_cause(rng: np.random.Generator, case: Case) -> Told | None:
    """No fabrication: another candidate of the ranking is concluded, on facts that are all true."""
    run = case.run
    first = run.ranking[0][1].entity if run.ranking else None
    others = [(ref, item) for ref, item in run.ranking[1:6] if item.entity and item.entity != first]
    if not others:
        return None
    ref, item = pick(rng, others)
    entity = item.entity or ""
    claims = (cause_claim(ref, item, entity=entity, affected=item.peer), *observations_of(run, entity))
    cause = Cause(entity, _fault_kind(item), tuple(c.claim_id for c in claims), _region(item), item.score)
    draft = concluding(run.draft, cause, claims)
    true = {claim.claim_id for claim in run.draft.claims if claim.predicate is Predicate.CAUSED}
    draft = replace(draft, claims=tuple(claim for claim in draft.claims if claim.claim_id not in true))
    return Told(draft, (ForgedEntry(Place.CAUSES, {"entity": entity}),))
