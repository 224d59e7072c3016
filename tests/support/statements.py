"""What a policy may say of what it was shown: true, false, and in every way unsound.

The tool behind it finds `FOUND`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from diagnosis_harness.diagnosis.claim import WHOLE_RECORD, Claim, EvidenceRef, Predicate
from diagnosis_harness.diagnosis.collection import InformationGain
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.policy import PolicyView
from diagnosis_harness.diagnosis.progress import Assessment
from diagnosis_harness.testing.evidence import WINDOW, cause_claim, cause_item, change_claim, change_item
from diagnosis_harness.tools.spec import ToolFindings

FOUND = ToolFindings((cause_item(), change_item("i1", "payment"), change_item("i2", "checkout")), WINDOW, 2)
FALSE, INVENTED, EVERYTHING = 9.9, 3.2, "everything"
"""A number without evidence; a true one that only a repairer ever states; an entity outside the question."""
LIES = ("number", "other run", "also unknown", "absence", "denial", "failed call")
"""Ways to say too much; "absence" and "also unknown" are in part or whole true."""
WAYS_TO_ASSESS = ("gained", "no gain", "none", "not due", "other record")
"""Only the first two are sound."""


def refs_of(view: PolicyView) -> list[tuple[str, str]]:
    """Every call that the policy has seen, and whether it found something."""
    found = [
        (r.tool_call_id, "found" if r.items else "nothing" if r.projection else "error") for r in view.records
    ]
    return [*found, ("t-of-another-run", "found")]


def true_claims(view: PolicyView) -> tuple[Claim, ...]:
    """What the first record that found something supports, or nothing."""
    for call_id, what in refs_of(view)[:-1]:
        if what == "found":
            return (
                cause_claim(cause_item(), tool_call_id=call_id, claim_id="cause"),
                change_claim(change_item("i1", "payment"), tool_call_id=call_id, claim_id="change"),
            )
    return ()


def make_claims(view: PolicyView, lies: frozenset[str]) -> tuple[Claim, ...]:
    """True claims, and each lie asked for; a claim that must never leave is named `false`."""
    change = change_claim(change_item("i1", "payment"), tool_call_id="t1", claim_id="false-number")
    claims = list(truth := true_claims(view))
    if "number" in lies and truth:
        claims.append(replace(truth[1], claim_id="false-number", value=FALSE, quotes=()))
    if "other run" in lies:
        claims.append(
            replace(change, claim_id="false-run", refs=(EvidenceRef("t-of-another-run", "i1"),), quotes=())
        )
    if "also unknown" in lies and truth:  # true of one reference, and cites one that does not exist as well
        claims.append(replace(truth[1], claim_id="mixed", refs=(EvidenceRef("t9", "i1"), *truth[1].refs)))
    for call_id, what in refs_of(view)[:-1]:
        ref = EvidenceRef(call_id, WHOLE_RECORD)
        if what == "nothing" and "absence" in lies:
            claims.append(Claim(f"absent-{call_id}", Predicate.ABSENT, "payment", (ref,)))
        if what == "nothing" and "denial" in lies:
            claims.append(Claim(f"false-denial-{call_id}", Predicate.ABSENT, EVERYTHING, (ref,)))
        if what == "error" and "failed call" in lies:
            claims.append(Claim(f"false-error-{call_id}", Predicate.ABSENT, "payment", (ref,)))
    return tuple(claims)


def assess(view: PolicyView, how: str) -> tuple[Assessment, ...]:
    """Sound assessments of what is due, or unsound ones."""
    fact = change_claim(change_item("i1", "payment"), tool_call_id="t9", claim_id="false-other-record")
    if how == "not due":
        return (Assessment("t-of-another-run", InformationGain.NO_GAIN),)
    if how == "none":
        return ()
    made = []
    for call_id in sorted(view.due):
        if how == "gained":
            fact = change_claim(
                change_item("i1", "payment"), tool_call_id=call_id, claim_id=f"fact-{call_id}"
            )
        gain = InformationGain.NO_GAIN if how == "no gain" else InformationGain.GAINED
        made.append(Assessment(call_id, gain, () if how == "no gain" else (fact,)))
    return tuple(made)


def must_not_leave(claim: Claim) -> bool:
    """Whether a claim is one of the lies, by what it says."""
    return claim.value in {FALSE, INVENTED} or claim.entity == EVERYTHING


def _drops(draft: DiagnosisDraft) -> DiagnosisDraft:
    return replace(draft, claims=tuple(c for c in draft.claims if c.claim_id in {"cause", "change"}))


def _invents(draft: DiagnosisDraft) -> DiagnosisDraft:
    change = change_claim(change_item("i1", "payment"), tool_call_id="t1", claim_id="invented")
    return replace(draft, claims=(*draft.claims, replace(change, value=INVENTED)))


MENDS: dict[str, Callable[[DiagnosisDraft], DiagnosisDraft]] = {
    "nothing": lambda draft: draft,
    "drops": _drops,
    "invents": _invents,
}
"""What a repairer may make of a draft; the last one is none of its business."""
