"""The content of a published claim: everything that the supporting item states.

An agent chooses what to claim and which evidence to cite. Entity, signal, times and numbers come from the
item, at its precision, so that omitting a field cannot hide what was observed.
"""

from __future__ import annotations

from sys import float_info

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, Predicate, Quote
from diagnosis_harness.diagnosis.predicate_rule import Part, rule_of
from diagnosis_harness.guards.support import second_of, subject_of
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.tools.evidence import EvidenceItem


def state_claim(
    predicate: Predicate,
    item: EvidenceItem,
    *,
    claim_id: str,
    refs: tuple[EvidenceRef, ...],
    quotes: tuple[Quote, ...] = (),
    wording: str | None = None,
) -> Claim:
    """The claim with this predicate that the item makes.

    `support.objections` decides whether an item supports one.

    Raises:
        ContractViolation: the predicate has no rule, so no claim can be made with it.
    """
    rule = rule_of(predicate)
    if rule is None:
        raise ContractViolation(f"no rule says what {predicate} takes over from its evidence")
    parts = rule.carries
    numbers = Part.NUMBERS in parts
    return Claim(
        claim_id=claim_id,
        predicate=predicate,
        entity=subject_of(rule, item) or "",
        refs=refs,
        quotes=quotes,
        affected=second_of(rule, item),
        signal=item.signal if Part.SIGNAL in parts else None,
        value=_number(item.value) if numbers else None,
        baseline=_number(item.baseline) if numbers else None,
        unit=item.unit if numbers and not (item.value is None and item.baseline is None) else None,
        direction=item.direction if Part.DIRECTION in parts else None,
        window=item.window if Part.WINDOW in parts else None,
        onset_s=item.onset_s if Part.ONSET in parts else None,
        wording=wording,
    )


def _number(value: float | None) -> float | None:
    """The number, without the sign of a zero; a number too small for its digits becomes zero."""
    return None if value is None else 0.0 if abs(value) < float_info.min else value
