"""The analyst's draft: a conclusion where one candidate stands out, and the facts in a reader's order."""

from __future__ import annotations

from diagnosis_harness.diagnosis.claim import Claim, FaultKind, Predicate
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft, Hypothesis
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.players.embedded.claims import claim_of, plain_claim
from diagnosis_harness.players.embedded.reading import Found, Reading, is_harm
from diagnosis_harness.players.embedded.standing import stands_out
from diagnosis_harness.tools.evidence import ItemKind

_DIRECT = (ItemKind.SIGNAL_CHANGE, ItemKind.SELF_TIME, ItemKind.EDGE_GAP, ItemKind.SPAN_ERRORS)
DIRECT_CLAIMS = 3
HYPOTHESES = 5


def draft_from(reading: Reading) -> DiagnosisDraft | None:
    """The draft that the records give; None when they say nothing at all."""
    candidates = reading.candidates()
    direct = _direct_claims(reading, candidates[0]) if candidates else ()
    concluded = bool(candidates) and bool(direct) and stands_out(candidates[0].item)
    caused = claim_of(candidates[0].record, candidates[0].item, Predicate.CAUSED) if concluded else None
    claims = _ordered(caused, direct, _context_claims(reading))
    missing = _missing(reading)
    if not claims and not missing and not candidates:
        return None
    cause = _cause(candidates[0], caused, direct) if caused else None
    return DiagnosisDraft(
        conclusion=(cause,) if cause else (),
        claims=claims,
        hypotheses=tuple(_hypothesis(reading, found) for found in candidates[:HYPOTHESES]),
        missing_info=missing,
        window=_window(reading),
    )


def _cause(found: Found, caused: Claim, direct: tuple[Claim, ...]) -> Cause:
    item = found.item
    region = item.attributes.get("region")
    return Cause(
        entity=item.entity or "",
        fault_kind=FaultKind(str(item.attributes.get("fault_kind", FaultKind.UNKNOWN))),
        claim_ids=(caused.claim_id, *(claim.claim_id for claim in direct)),
        region=str(region) if region else None,
        score=item.score,
    )


def _direct_claims(reading: Reading, found: Found) -> tuple[Claim, ...]:
    """What was observed of a candidate itself: its strongest harms, at most one for each signal."""
    claims: dict[tuple[str | None, str | None], Claim] = {}
    for each in reading.about(found.item.entity or "", *_DIRECT):
        if is_harm(each.item) and (claim := plain_claim(each.record, each.item)) is not None:
            claims.setdefault((claim.entity, claim.signal), claim)
    return tuple(claims.values())[:DIRECT_CLAIMS]


def _context_claims(reading: Reading) -> tuple[Claim, ...]:
    """When it began, what the alerting entity shows, and which changes were made: one claim for each."""
    firsts = [reading.of_kind(kind)[:1] for kind in (ItemKind.ONSET, ItemKind.CHANGE_EVENT)]
    plain = [plain_claim(found.record, found.item) for first in firsts for found in first]
    chosen = [claim for claim in plain if claim is not None]
    for candidate in reading.candidates()[:1]:
        affected = candidate.item.peer
        harmed = [
            each for each in reading.about(affected or "", ItemKind.SIGNAL_CHANGE) if is_harm(each.item)
        ]
        if affected and affected != candidate.item.entity and harmed:
            chosen.append(claim_of(harmed[0].record, harmed[0].item, Predicate.AFFECTED))
    return tuple(chosen)


def _ordered(
    caused: Claim | None, direct: tuple[Claim, ...], context: tuple[Claim, ...]
) -> tuple[Claim, ...]:
    claims = {claim.claim_id: claim for claim in (*([caused] if caused else []), *direct, *context)}
    return tuple(claims.values())


def _hypothesis(reading: Reading, found: Found) -> Hypothesis:
    item = found.item
    own = [each for each in reading.about(item.entity or "", *_DIRECT) if is_harm(each.item)]
    explained_by = item.attributes.get("explained_by")
    against = reading.about(str(explained_by), *_DIRECT)[:1] if explained_by else ()
    region = item.attributes.get("region")
    return Hypothesis(
        entity=item.entity or "",
        fault_kind=FaultKind(str(item.attributes.get("fault_kind", FaultKind.UNKNOWN))),
        score=item.score or 0.0,
        evidence_for=(found.ref, *(each.ref for each in own[:DIRECT_CLAIMS])),
        evidence_against=tuple(each.ref for each in against),
        region=str(region) if region else None,
    )


def _missing(reading: Reading) -> tuple[str, ...]:
    """What the inventory says is not there and would have helped."""
    lacking = [found.item.attributes.get("missing") for found in reading.of_kind(ItemKind.INVENTORY)]
    return tuple(dict.fromkeys(str(each) for each in lacking if each))


def _window(reading: Reading) -> TimeWindow | None:
    candidates = reading.candidates()
    return candidates[0].item.window if candidates else None
