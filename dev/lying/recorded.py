"""A recorded run: what an analyst found and truthfully drafted, as a starting point for lies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isclose
from typing import TypeVar

import numpy as np

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.diagnosis.inquiry import Inquiry
from diagnosis_harness.diagnosis.progress import ProgressSnapshot
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.toolbox.ports import SourceSummary
from diagnosis_harness.tools.evidence import EvidenceItem, EvidenceStatus, ItemKind
from diagnosis_harness.tools.invocation import EvidenceRecord

T = TypeVar("T")

SCALES: tuple[dict[str, float], ...] = (
    {"ms": 1e-3, "s": 1.0, "us": 1e-6, "min": 60.0},
    {"bytes": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "MiB": 1024.0**2},
    {"percent": 0.01, "%": 0.01, "ratio": 1.0},
)
"""Units of one kind, with their size."""


@dataclass(frozen=True)
class RecordedRun:
    """One run at the time of its draft.

    Attributes:
        name: where it comes from; for the figures, not for the run.
        run_id: the id its records carry.
        snapshot: records and accepted facts.
        draft: the embedded analyst's own draft, every word of it true.
        tools: names of the tools it could ask.
        sentences: of every true claim by its id, the sentence that code renders.
    """

    name: str
    question: str
    run_id: str
    snapshot: ProgressSnapshot
    draft: DiagnosisDraft
    tools: tuple[str, ...]
    summary: SourceSummary
    inquiry: Inquiry
    sentences: Mapping[str, Mapping[Language, str]]

    @property
    def records(self) -> tuple[EvidenceRecord, ...]:
        """Final records in the order in which they were asked for."""
        return self.snapshot.records

    @cached_property
    def items(self) -> tuple[tuple[EvidenceRef, EvidenceItem], ...]:
        """Every item with its reference."""
        return tuple(
            (EvidenceRef(record.tool_call_id, item.item_id), item)
            for record in self.records
            for item in record.items
        )

    @cached_property
    def item_of(self) -> dict[EvidenceRef, EvidenceItem]:
        """Items by reference."""
        return dict(self.items)

    @cached_property
    def pool(self) -> tuple[Claim, ...]:
        """The true claims of the draft and its assessments, without duplicates."""
        held = {claim.claim_id: claim for claim in (*self.draft.claims, *self.snapshot.facts)}
        return tuple(held.values())

    @cached_property
    def entities(self) -> tuple[str, ...]:
        """Names of the entities in the records."""
        named = {name for _, item in self.items for name in (item.entity, item.peer) if name}
        return tuple(sorted(named))

    @cached_property
    def ranking(self) -> tuple[tuple[EvidenceRef, EvidenceItem], ...]:
        """The last ranking of causes, best first."""
        ranked = [(ref, item) for ref, item in self.items if item.kind is ItemKind.CAUSE_SCORE]
        last = ranked[-1][0].tool_call_id if ranked else ""
        return tuple((ref, item) for ref, item in ranked if ref.tool_call_id == last)

    def having(self, status: EvidenceStatus) -> tuple[EvidenceRecord, ...]:
        """Records of one status."""
        return tuple(record for record in self.records if record.evidence is status)

    def about(self, entity: str) -> Iterator[EvidenceItem]:
        """Items of an entity or of a part of it."""
        return (item for _, item in self.items if entity in (item.entity, item.attributes.get("owner")))

    def wholes(self, entity: str) -> set[str]:
        """The entity, and what it is a part of."""
        owners = {item.attributes.get("owner") for _, item in self.items if item.entity == entity}
        return {entity} | {owner for owner in owners if isinstance(owner, str)}

    def says_number(self, entity: str, signal: str | None, number: float, unit: str | None) -> bool:
        """Whether any item about it has this number, however rounded or scaled; when in doubt, True."""
        return any(
            held is not None and _may_be(number, unit, held, item.unit)
            for item in self.about(entity)
            if signal is None or item.signal == signal
            for held in (item.value, item.baseline)
        )

    def says_instant(self, time_s: float, entity: str | None = None, *, within_s: float = 2.0) -> bool:
        """Whether any item (of the entity) names a time that near, as an onset or an end of a window."""
        items = self.items if entity is None else [(None, item) for item in self.about(entity)]
        return any(
            abs(held - time_s) <= within_s
            for _, item in items
            for held in (item.onset_s, *((item.window.start_s, item.window.end_s) if item.window else ()))
            if held is not None
        )


@dataclass(frozen=True, slots=True)
class Case:
    """A run to lie about, and another run whose findings are not valid here."""

    run: RecordedRun
    other: RecordedRun


def pick(rng: np.random.Generator, things: Sequence[T]) -> T:
    """One of them, all equally likely."""
    return things[int(rng.integers(len(things)))]


def chance(rng: np.random.Generator, share: float) -> bool:
    """True with this probability."""
    return bool(rng.random() < share)


def significant(value: float, digits: int) -> float:
    """A number rounded to so many significant digits."""
    return float(f"{value:.{digits - 1}e}")


def in_units(value: float, unit: str | None) -> Iterator[tuple[float, str | None]]:
    """The same quantity in every unit of its kind, its own first."""
    yield value, unit
    for family in SCALES:
        if unit in family:
            yield from ((value * family[unit] / size, name) for name, size in family.items() if name != unit)


def _may_be(number: float, unit: str | None, held: float, held_unit: str | None) -> bool:
    same = [value for value, name in in_units(held, held_unit) if unit in (name, None)]
    return any(
        number == value or isclose(number, significant(value, digits), rel_tol=1e-9, abs_tol=1e-15)
        for value in same
        for digits in range(1, 16)
    )
