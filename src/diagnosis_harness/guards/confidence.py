"""The confidence of a released cause: one formula over what was checked, never an agent's own figure.

    confidence = strength x (1 + margin) / 2 x agreement x repair

- *strength* (0 to 1) is the ranking's own: how far the evidence exceeds what normal operation shows.
- *margin* (0 to 1) is the lead over the next candidate; without any lead half of the strength is left.
- *agreement* is 0.8, 0.9 or 1.0 for one, two, or three and more independent kinds of evidence.
- *repair* is 0.9 when the draft needed EvidenceRepair, else 1.

It orders conclusions by how well they are supported. It is no probability: nobody has counted how often a
cause of confidence 0.7 is right on systems that nobody has seen.
"""

from __future__ import annotations

from diagnosis_harness.tools.evidence import EvidenceItem

_AGREEMENT = {1: 0.8, 2: 0.9}  # by kinds of evidence: one may err by itself, three hardly together
_REPAIRED = 0.9  # something of the draft was wrong, and only what stood without it is left


def confidence_of(ranking: EvidenceItem, *, repaired: bool) -> float:
    """The confidence of a cause that passed every guard, 0 to 1, to two digits.

    `ranking` is the CAUSE_SCORE item that supports the cause; a part that it does not state counts as none.
    """
    kinds = int(ranking.number("modalities"))
    agreement = _AGREEMENT.get(max(kinds, 1), 1.0)
    repair = _REPAIRED if repaired else 1.0
    whole = _share(ranking, "strength") * (1.0 + _share(ranking, "margin")) / 2.0 * agreement * repair
    return round(whole, 2)


def _share(item: EvidenceItem, name: str) -> float:
    return min(1.0, max(0.0, item.number(name)))
