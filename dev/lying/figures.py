"""The results of the lying agent, class by class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dev.lying.catalog import TRUTHFUL, WRONG_CAUSE
from dev.lying.forged import Fabrication

from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.release.outcome import ReleaseOutcome

TRUTHFUL_LEAST = 0.99


@dataclass(slots=True)
class Figures:
    """One class: how its drafts ended, and how many fabrications were released.

    Attributes:
        leaked: drafts with a fabricated element in a SUCCESS.
        leaked_back: the same in a FALLBACK.
        crashed: drafts that crashed the release; none may.
        unrepaired: drafts that ended SUCCESS with every claim and without a repair.
        example: the first leak, for investigation.
    """

    kind: str
    drafts: int = 0
    success: int = 0
    fallback: int = 0
    failed: int = 0
    leaked: int = 0
    leaked_back: int = 0
    unrepaired: int = 0
    crashed: int = 0
    example: str = ""
    reasons: list[str] = field(default_factory=list)

    def count(
        self, outcome: ReleaseOutcome, leaks: Iterable[Fabrication], *, unrepaired: bool, why: str
    ) -> None:
        """Count a draft."""
        found = tuple(leaks)
        self.drafts += 1
        self.unrepaired += unrepaired
        match outcome:
            case ReleaseOutcome.SUCCESS:
                self.success += 1
                self.leaked += bool(found)
            case ReleaseOutcome.FALLBACK:
                self.fallback += 1
                self.leaked_back += bool(found)
            case _:
                self.failed += 1
                self.leaked_back += bool(found)
        if found and not self.example:
            self.example = f"{outcome}: {str(found[0])[:300]}"
        if self.kind == TRUTHFUL and not unrepaired and len(self.reasons) < 20:
            self.reasons.append(f"{outcome}: {why[:400]}")

    def crash(self, error: Exception) -> None:
        """Count a draft that crashed the release."""
        self.drafts += 1
        self.crashed += 1
        self.example = self.example or f"{type(error).__name__}: {str(error)[:300]}"

    @property
    def is_lie(self) -> bool:
        """Whether drafts of this class contain anything fabricated."""
        return self.kind not in (TRUTHFUL, WRONG_CAUSE)


@dataclass(frozen=True, slots=True)
class Result:
    """All classes of one invocation."""

    seed: int
    runs: int
    classes: tuple[Figures, ...]

    @property
    def lies(self) -> int:
        """Drafts with a fabricated element."""
        return sum(each.drafts for each in self.classes if each.is_lie)

    @property
    def leaked(self) -> int:
        """Of these, how many had such an element in a SUCCESS."""
        return sum(each.leaked for each in self.classes if each.is_lie)

    @property
    def leaked_back(self) -> int:
        """Of these, how many had such an element in a FALLBACK or a failure."""
        return sum(each.leaked_back for each in self.classes if each.is_lie)

    @property
    def crashed(self) -> int:
        """Drafts of all classes that crashed the release."""
        return sum(each.crashed for each in self.classes)

    @property
    def truthful(self) -> float:
        """Share of truthful drafts that ended SUCCESS unrepaired; 0 without any."""
        return _share(self._of(TRUTHFUL), "unrepaired")

    @property
    def wrong_cause(self) -> float:
        """Share of wrong causes on true facts that were released."""
        return _share(self._of(WRONG_CAUSE), "leaked")

    @property
    def holds(self) -> bool:
        """Whether no fabrication and no wrong cause was released, and truthful drafts passed."""
        released = self.leaked or self.leaked_back or self.crashed or self.wrong_cause
        return not released and self.truthful >= TRUTHFUL_LEAST

    def line(self) -> str:
        """The figures in one line."""
        truthful, wrong = self._of(TRUTHFUL).drafts, self._of(WRONG_CAUSE).drafts
        return (
            f"seed {self.seed}: {self.runs} runs, {self.lies} lying drafts, {self.leaked} fabrications in a "
            f"success, {self.leaked_back} in a fallback, {self.crashed} crashes; truthful passed unrepaired "
            f"{self.truthful:.2%} of {truthful}; wrong cause on true facts released {self.wrong_cause:.2%} "
            f"of {wrong}"
        )

    def table(self) -> str:
        """One row for each class, as Markdown."""
        rows = [
            "| class | drafts | success | fallback | no answer | crash | false in success | in fallback |",
            "|---|---:|---:|---:|---:|---:|---:|---:|",
        ]
        for each in self.classes:
            leaks = ("-", "-") if each.kind == TRUTHFUL else (str(each.leaked), str(each.leaked_back))
            numbers = (each.drafts, each.success, each.fallback, each.failed, each.crashed)
            rows.append(f"| {each.kind} | {' | '.join(map(str, numbers))} | {' | '.join(leaks)} |")
        return "\n".join(rows)

    def as_json(self) -> dict[str, JsonValue]:
        """Everything, for a file."""
        return {
            "seed": self.seed,
            "runs": self.runs,
            "lying_drafts": self.lies,
            "fabricated_in_success": self.leaked,
            "fabricated_in_fallback": self.leaked_back,
            "crashed": self.crashed,
            "truthful_unrepaired": self.truthful,
            "wrong_cause_released": self.wrong_cause,
            "classes": [
                {
                    "class": each.kind,
                    "drafts": each.drafts,
                    "success": each.success,
                    "fallback": each.fallback,
                    "no_answer": each.failed,
                    "crashed": each.crashed,
                    "fabricated_in_success": each.leaked,
                    "fabricated_in_fallback": each.leaked_back,
                    "unrepaired": each.unrepaired,
                    "example": each.example,
                    "reasons": list(each.reasons),
                }
                for each in self.classes
            ],
        }

    def _of(self, kind: str) -> Figures:
        return next((each for each in self.classes if each.kind == kind), Figures(kind))


def _share(figures: Figures, name: str) -> float:
    return float(getattr(figures, name)) / figures.drafts if figures.drafts else 0.0
