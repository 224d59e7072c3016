"""Places a false claim as an agent would: instead of a true one, beside it, or in an assessment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from dev.lying.forged import Fabrication, Told
from dev.lying.recorded import RecordedRun, chance, pick

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.draft import Cause, DiagnosisDraft


def tell(
    rng: np.random.Generator,
    run: RecordedRun,
    false: Claim,
    forged: Sequence[Fabrication],
    *,
    instead_of: Claim | None = None,
) -> Told:
    """The truthful draft with a false claim in it: in place of the one it was made from, or as one more.

    Half of the added ones are named as support of the concluded cause; some are also a fact of an assessment,
    and some drafts conclude nothing.
    """
    draft = run.draft
    replaced = instead_of is not None and instead_of in draft.claims and chance(rng, 0.5)
    if replaced:
        claims = tuple(false if claim == instead_of else claim for claim in draft.claims)
    else:
        false = replace(false, claim_id=f"more-{int(rng.integers(1000))}")
        place = int(rng.integers(len(draft.claims) + 1))
        claims = (*draft.claims[:place], false, *draft.claims[place:])
    conclusion = () if chance(rng, 0.1) else draft.conclusion
    if not replaced and chance(rng, 0.5):
        conclusion = tuple(
            replace(cause, claim_ids=(*cause.claim_ids, false.claim_id)) for cause in conclusion
        )
    facts = (replace(false, claim_id="fact-1"),) if chance(rng, 0.3) else ()
    return Told(replace(draft, claims=claims, conclusion=conclusion), tuple(forged), facts)


def any_claim(rng: np.random.Generator, run: RecordedRun, *having: str) -> Claim | None:
    """A true claim that holds all of these fields; of the draft more often than of the facts."""
    own = [claim for claim in run.draft.claims if all(getattr(claim, name) is not None for name in having)]
    pool = [claim for claim in run.pool if all(getattr(claim, name) is not None for name in having)]
    if own and chance(rng, 0.6):
        return pick(rng, own)
    return pick(rng, pool) if pool else None


def concluding(draft: DiagnosisDraft, cause: Cause, claims: Sequence[Claim]) -> DiagnosisDraft:
    """The draft with another conclusion, and its claims before those that do not name a cause."""
    rest = [claim for claim in draft.claims if claim.claim_id not in {each.claim_id for each in claims}]
    return replace(draft, conclusion=(cause,), claims=(*claims, *rest))
