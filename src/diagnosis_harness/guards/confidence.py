"""Computes the confidence of a released cause from what was checked, never from an agent's own figure.

    confidence = strength x (1 + margin) / 2 x agreement x repair

- *strength* (0 to 1) comes from the ranking: how far the evidence exceeds normal operation.
- *margin* (0 to 1) is the lead over the next candidate; without any lead, half of the strength remains.
- *agreement* is 0.8, 0.9 or 1.0 for one, two, or three and more independent kinds of evidence.
- *repair* is 0.9 if the draft needed EvidenceRepair, else 1.

It orders conclusions by how well they are supported. It is not a probability: how often a cause of
confidence 0.7 is right has not been measured on unseen systems.
"""

from __future__ import annotations

from diagnosis_harness.tools.evidence import EvidenceItem

_AGREEMENT = {1: 0.8, 2: 0.9}  # by kinds of evidence: one kind alone may be wrong, three together rarely are
_REPAIRED = 0.9  # part of the draft was wrong, and only what was supported without it remains


def confidence_of(ranking: EvidenceItem, *, repaired: bool) -> float:
    """The confidence, 0 to 1, of a cause that passed every guard, rounded to two digits.

    `ranking` is the CAUSE_SCORE item that supports the cause; a factor that it does not state counts as zero.
    """
    kinds = int(ranking.number("modalities"))
    agreement = _AGREEMENT.get(max(kinds, 1), 1.0)
    repair = _REPAIRED if repaired else 1.0
    whole = _share(ranking, "strength") * (1.0 + _share(ranking, "margin")) / 2.0 * agreement * repair
    return round(whole, 2)


def _share(item: EvidenceItem, name: str) -> float:
    return min(1.0, max(0.0, item.number(name)))
