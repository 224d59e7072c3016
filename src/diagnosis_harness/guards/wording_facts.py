"""What a wording of one claim may contain: names, numbers and times of its supporting item."""

from __future__ import annotations

import re
from dataclasses import dataclass

from diagnosis_harness.diagnosis.claim import Claim, Predicate
from diagnosis_harness.diagnosis.predicate_rule import rule_of
from diagnosis_harness.diagnosis.word_class import WordClass
from diagnosis_harness.guards.support import subject_of
from diagnosis_harness.guards.wording_tokens import token_unit_of
from diagnosis_harness.guards.wording_words import KINDS_OF_CHANGE
from diagnosis_harness.kernel.window import TimeWindow
from diagnosis_harness.tools.evidence import Direction, EvidenceItem

_OWN_NAMES = ("owner", "instance", "region", "without", "change_kind", "version", "operation")
"""Attributes that name the entity itself, a part of it, or what the claim is about."""
_KINDS = ("kind", "fault_kind")
_TIME_UNITS = frozenset({"ns", "us", "ms", "s", "min", "h"})
_PART = re.compile(r"[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that a sentence about one claim may use.

    Attributes:
        names: names that it may contain, in full.
        foreign: names of the item that belong to something else; the sentence must not contain them.
        subjects: the one name that the sentence must contain: the entity of the item, an instance rather
            than its service.
        actors: subjects and the claim's second entity.
        parts: lower-case words of the signal's and kind's own names.
        change: for a recorded change, the class of words that names its kind; None if there is none.
        value, baseline: in `unit`, spelled as in `kernel.quantity`.
    """

    claim: Claim
    names: frozenset[str]
    foreign: frozenset[str]
    subjects: frozenset[str]
    actors: frozenset[str]
    parts: frozenset[str]
    signal: str | None
    change: WordClass | None
    value: float | None
    baseline: float | None
    unit: str
    direction: Direction | None
    window: TimeWindow | None
    onset_s: float | None

    @property
    def is_time(self) -> bool:
        """Whether the value is a duration, so that slower means more."""
        return self.unit in _TIME_UNITS or self.claim.predicate is Predicate.SLOWED


def facts_of(claim: Claim, item: EvidenceItem | None) -> Facts:
    """The facts of a claim and its supporting item; for an absence, those of the claim alone."""
    stated = item.attributes.items() if item else ()
    attributes = {name: value for name, value in stated if isinstance(value, str)}
    own = {attributes[name] for name in _OWN_NAMES if name in attributes}
    rule = rule_of(claim.predicate)
    about = subject_of(rule, item) if rule is not None and item is not None else None
    subjects = {about or claim.entity}
    given = {claim.entity, claim.affected, claim.signal, item.signal if item else None}
    names = {name for name in given | own if name} | subjects
    others = {item.entity, item.peer, attributes.get("explained_by")} if item else set()
    signal = claim.signal or (item.signal if item else None) or ""
    kinds = " ".join(attributes[name] for name in _KINDS if name in attributes)
    return Facts(
        claim=claim,
        names=frozenset(names),
        foreign=frozenset(name for name in others if name and name not in names),
        subjects=frozenset(subjects),
        actors=frozenset(subjects | ({claim.affected} if claim.affected else set())),
        parts=frozenset(_PART.findall(f"{signal} {kinds}".lower())) - {""},
        signal=signal or None,
        change=_kind_of_change(item),
        value=item.value if item else None,
        baseline=item.baseline if item else None,
        unit=token_unit_of(item.unit if item else None),
        direction=claim.direction or (item.direction if item else None),
        window=(item.window if item else None) or claim.window,
        onset_s=claim.onset_s if claim.onset_s is not None else item.onset_s if item else None,
    )


def _kind_of_change(item: EvidenceItem | None) -> WordClass | None:
    kind = str(item.attributes.get("change_kind", "")).lower() if item else ""
    return next((each for each, names in KINDS_OF_CHANGE.items() if kind in names), None)
