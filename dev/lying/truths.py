"""Truthful drafts, as varied as an honest agent's: rounding, units, words, order and amount."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
from dev.lying.forged import Told
from dev.lying.recorded import Case, RecordedRun, chance, in_units, pick, significant

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, Claim, EvidenceRef, Predicate
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import Direction, EvidenceStatus

_ROSE = {Direction.UP: ("rose", "上升"), Direction.DOWN: ("fell", "下降"), Direction.FLAT: ("stayed", "保持")}


def truthful(rng: np.random.Generator, case: Case) -> Told | None:
    """The analyst's own conclusion in other words; None if it concluded nothing."""
    run = case.run
    if not run.draft.conclusion:
        return None
    claims = [_vary(rng, claim) for claim in _choose(rng, run)]
    if chance(rng, 0.3):
        claims += [_vary(rng, claim) for claim in _more(rng, run)]
    if chance(rng, 0.2) and (absent := _absence(rng, run)) is not None:
        claims.append(absent)
    if chance(rng, 0.4):
        claims = [claims[at] for at in rng.permutation(len(claims)).tolist()]
    names = {claim.claim_id for claim in claims}
    conclusion = tuple(
        replace(cause, claim_ids=tuple(each for each in cause.claim_ids if each in names))
        for cause in run.draft.conclusion
    )
    hypotheses = run.draft.hypotheses[: int(rng.integers(len(run.draft.hypotheses) + 1))]
    draft = replace(run.draft, claims=tuple(claims), conclusion=conclusion, hypotheses=hypotheses)
    if chance(rng, 0.2):
        draft = _silent(rng, draft)
    return Told(draft)


def _choose(rng: np.random.Generator, run: RecordedRun) -> list[Claim]:
    """Some of the claims: the cause, one observation of it, and any of the others."""
    cause = run.draft.conclusion[0]
    own = [claim for claim in run.draft.claims if claim.claim_id in cause.claim_ids[1:]]
    needed = {cause.claim_ids[0], pick(rng, own).claim_id}
    return [claim for claim in run.draft.claims if claim.claim_id in needed or chance(rng, 0.7)]


def _more(rng: np.random.Generator, run: RecordedRun) -> list[Claim]:
    """The draft with one or two facts that it left out."""
    held = {claim.claim_id for claim in run.draft.claims}
    conclusions = (Predicate.CAUSED, Predicate.AFFECTED)
    rest = [c for c in run.snapshot.facts if c.claim_id not in held and c.predicate not in conclusions]
    return [rest[at] for at in rng.permutation(len(rest))[:2].tolist()]


def _vary(rng: np.random.Generator, claim: Claim) -> Claim:
    """The same statement with other digits, units or words, or in part."""
    if claim.value is not None or claim.baseline is not None:
        claim = _in_another_unit(rng, claim) if chance(rng, 0.3) else claim
        digits = int(rng.integers(2, 7))
        claim = replace(
            claim,
            value=None if claim.value is None else significant(claim.value, digits),
            baseline=None if claim.baseline is None else significant(claim.baseline, digits),
        )
    if claim.predicate is Predicate.CHANGED and chance(rng, 0.2):
        claim = replace(claim, window=None)
    if claim.predicate is Predicate.CHANGED and chance(rng, 0.2):
        claim = replace(claim, baseline=None)
    if chance(rng, 0.3):
        claim = replace(claim, quotes=())
    if chance(rng, 0.5):
        claim = replace(claim, wording=_wording(rng, claim))
    return claim


def _in_another_unit(rng: np.random.Generator, claim: Claim) -> Claim:
    unit = pick(rng, [name for _, name in in_units(1.0, claim.unit)])

    def convert(value: float | None) -> float | None:
        return None if value is None else {u: v for v, u in in_units(value, claim.unit)}[unit]

    return replace(claim, value=convert(claim.value), baseline=convert(claim.baseline), unit=unit)


def _wording(rng: np.random.Generator, claim: Claim) -> str | None:
    """The claim in the agent's own words, English or Chinese; None if there are none for it."""
    if claim.predicate is Predicate.CAUSED and claim.affected:
        return pick(
            rng,
            (
                f"{claim.entity} caused what {claim.affected} shows",
                f"{claim.entity} 导致 {claim.affected} 异常",
            ),
        )
    if claim.value is None or claim.signal is None or claim.direction is None:
        return None
    english, chinese = _ROSE[claim.direction]
    value = f"{claim.value:g} {claim.unit or ''}".strip()
    return pick(
        rng,
        (
            f"{claim.signal} of {claim.entity} {english} to {value}",
            f"{claim.entity} {claim.signal} {english} to {value}",
            f"{claim.entity} 的 {claim.signal} {chinese}到 {value}",
        ),
    )


def _absence(rng: np.random.Generator, run: RecordedRun) -> Claim | None:
    """An absence of what a record searched for in its window; None if it searched nothing."""
    records = [
        record
        for record in run.having(EvidenceStatus.NO_EVIDENCE)
        if {"entity", "text"} <= json.loads(record.scope).keys()
        and record.projection is not None
        and record.projection.looked_at
    ]
    if not records:
        return None
    record = pick(rng, records)
    scope = json.loads(record.scope)
    window = record.projection.window if record.projection else None
    if window is not None and chance(rng, 0.5):
        window = TimeWindow(window.start_s, window.start_s + 0.5 * window.duration_s)
    ref = EvidenceRef(record.tool_call_id, WHOLE_RECORD)
    return Claim(
        "absent-true", Predicate.ABSENT, scope["entity"], (ref,), signal=scope["text"], window=window
    )


def _silent(rng: np.random.Generator, draft: DiagnosisDraft) -> DiagnosisDraft:
    """The claim without what an agent may omit."""
    return replace(
        draft,
        window=None if chance(rng, 0.5) else draft.window,
        conclusion=tuple(
            replace(cause, score=None, region=None if chance(rng, 0.5) else cause.region)
            for cause in draft.conclusion
        ),
    )
