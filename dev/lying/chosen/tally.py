"""The results of the drafts of one family, or of documents forged in one way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.trace.event import TraceName

if TYPE_CHECKING:
    from dev.lying.chosen.witness import Objection

    from diagnosis_harness.report.document import RunDocument

WRONG_CAUSE = "wrong cause"


@dataclass(slots=True)
class Tally:
    """One family.

    Attributes:
        lies: drafts of which something untrue was released; of forged documents, those that `verify`
        accepted.
        wrong: of these, those that named a wrong cause.
        remainders: drafts of which something true was released, and nothing untrue.
        refused: drafts of which nothing was released.
        unrepaired: truthful drafts that were released in full, as a success and without a repair.
        unverified: released documents that `verify` rejects.
        by_form: forged documents that were rejected for their form only.
        kinds: the number of drafts in which each kind of untruth was released.
        examples: one for each kind.
        reasons: why truthful drafts were not released in full.
    """

    family: str
    is_lie: bool = True
    drafts: int = 0
    lies: int = 0
    wrong: int = 0
    remainders: int = 0
    refused: int = 0
    unrepaired: int = 0
    unverified: int = 0
    by_form: int = 0
    crashed: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)

    def count(self, document: RunDocument, objections: Sequence[Objection], *, world: str) -> None:
        """Count a draft."""
        report = document.report
        kinds = {each.kind for each in objections}
        for each in objections:
            self.examples.setdefault(each.kind, f"[{world}] {document.release.outcome}: {each.text}")
        self.drafts += 1
        self.kinds.update(kinds)
        self.wrong += WRONG_CAUSE in kinds
        left = bool(report.causes or report.claims or report.candidates)
        self.lies += bool(objections)
        self.remainders += left and not objections
        self.refused += not left and not objections

    def count_truth(self, document: RunDocument, *, claims: int) -> None:
        """Count a truthful draft with this many claims, with the reasons if it was not released in full."""
        if document.release.failure is not None:
            self.reasons[document.release.failure] += 1
            return
        repaired = any(line.name is TraceName.EVIDENCE_REPAIR for line in document.trace)
        whole = len(document.report.claims) == claims
        if document.release.outcome is ReleaseOutcome.SUCCESS and whole and not repaired:
            self.unrepaired += 1
            return
        told = (TraceName.EVIDENCE_GUARD_INITIAL, TraceName.SEMANTIC_GUARD_DECISION)
        why = "; ".join(line.text for line in document.trace if line.name in told)
        self.reasons[f"{document.release.outcome}: {why}"[:300]] += 1

    def count_forged(self, *, objected: bool, by_form: bool, text: str) -> None:
        """Count a forged document."""
        self.drafts += 1
        self.lies += self.is_lie and not objected
        self.remainders += not self.is_lie and not objected
        self.refused += objected
        self.by_form += objected and by_form
        if objected != self.is_lie:
            self.examples.setdefault("verified" if self.is_lie else "refused", text[:400])

    def crash(self, error: str) -> None:
        """Count a draft that crashed the run."""
        self.drafts += 1
        self.crashed += 1
        self.examples.setdefault("crash", error[:400])

    def plus(self, other: Tally) -> Tally:
        """The sum of two tallies of the same family."""
        both = Tally(self.family, self.is_lie)
        for name in (
            "drafts",
            "lies",
            "wrong",
            "remainders",
            "refused",
            "unrepaired",
            "unverified",
            "by_form",
            "crashed",
        ):
            setattr(both, name, getattr(self, name) + getattr(other, name))
        both.kinds, both.reasons = self.kinds + other.kinds, self.reasons + other.reasons
        both.examples = {**other.examples, **self.examples}
        return both

    def as_json(self) -> dict[str, JsonValue]:
        """The tally as plain JSON values."""
        return {
            "family": self.family,
            "drafts": self.drafts,
            "released_lies": self.lies,
            "wrong_causes": self.wrong,
            "true_remainders": self.remainders,
            "refused": self.refused,
            "unrepaired": self.unrepaired,
            "unverified": self.unverified,
            "by_form_alone": self.by_form,
            "crashed": self.crashed,
            "kinds": dict(self.kinds),
            "examples": dict(self.examples),
            "reasons": dict(self.reasons),
        }
