"""A data set of a few incidents that writes down what is asked of it, and diagnoses that answer at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from diagnosis_harness.bench.case import Case, Condition, Diagnosed, Ranked, RunResult, Truth
from diagnosis_harness.kernel.errors import InvalidInput

IDS = ("a", "b", "c", "d")


@dataclass
class Diary:
    """Four incidents; X is always to blame, unless the truths are given."""

    name: str = "diary"
    entries: list[str] = field(default_factory=list)
    truths: Mapping[str, Truth] = field(
        default_factory=lambda: dict.fromkeys(IDS, Truth(entities=("x",), fault_kind="cpu"))
    )
    half_written: str = ""
    damaged: Mapping[str, Exception] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    as_given: bool = False
    unseen: bool = False
    conditions: tuple[Condition, ...] = (Condition.AS_PUBLISHED,)

    def incident_ids(self, condition: Condition = Condition.AS_PUBLISHED) -> Sequence[str]:
        """Four ids under each condition that there is."""
        return IDS if condition in self.conditions else ()

    def export(self, incident_id: str, condition: Condition, target: Path) -> Case:
        """A folder with one file that holds the id."""
        self.entries.append(f"export {incident_id}")
        if incident_id == self.half_written:
            raise InvalidInput(incident_id, "it has no metrics", "write metrics.csv")
        if (trouble := self.damaged.get(incident_id)) is not None:
            raise trouble
        folder, baseline = target / f"folder-{incident_id}", target / "normal"
        for each in (folder, baseline):
            each.mkdir(parents=True, exist_ok=True)
        (folder / "incident.toml").write_text(f"{incident_id} {condition.value}", encoding="utf-8")
        return Case(
            incident_id=incident_id,
            group="g",
            folder=folder,
            baseline=baseline,
            entities=() if self.as_given else ("x", "y"),
            condition=condition,
            unused=self.unused,
            as_given=self.as_given,
            unseen=self.unseen,
        )

    def labels(self, incident_ids: Sequence[str]) -> Mapping[str, Truth]:
        """The truths, also of incidents that were not asked for."""
        self.entries.append("labels")
        if (trouble := self.damaged.get("labels")) is not None:
            raise trouble
        for name in incident_ids:
            if (trouble := self.damaged.get(f"label of {name}")) is not None:
                raise trouble
        return self.truths


def answer(entity: str, *, outcome: str = "SUCCESS", kind: str = "CPU") -> Diagnosed:
    """A run that names one cause, with a confidence of 0.8."""
    named = Ranked(entity=entity, fault_kind=kind, score=1.0, confidence=0.8, decided_by="resource")
    causes = (named,) if outcome == "SUCCESS" else ()
    return Diagnosed(RunResult(outcome, causes, () if causes else (named,), concluded=f"{entity} did it"))


def blame_x(folder: Path, baseline: Path | None) -> Diagnosed:
    """X, whatever the folder."""
    return answer("x")


def blame_by_name(folder: Path, baseline: Path | None) -> Diagnosed:
    """X for the incidents a and c, Y for the others."""
    return answer("x" if folder.name[-1] in "ac" else "y")


def never(folder: Path, baseline: Path | None) -> Diagnosed:
    """Never asked."""
    raise AssertionError(folder)
