"""A draft together with its fabrications, which the generator knows and the release does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef
from diagnosis_harness.diagnosis.draft import DiagnosisDraft
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.window import TimeWindow, utc_text


class Place(StrEnum):
    """A part of the report that holds entries."""

    CLAIMS = "claims"
    CAUSES = "causes"
    CANDIDATES = "candidates"


@dataclass(frozen=True, slots=True)
class ForgedText:
    """A text that is in no evidence. No string of the report may contain it."""

    text: str


@dataclass(frozen=True, slots=True)
class ForgedRef:
    """A citation of something that does not exist in the run, or is not about the claim that cites it."""

    ref: EvidenceRef
    by: Mapping[str, JsonValue] | None = None
    """Forbidden only in an entry with these fields; None forbids it anywhere."""


@dataclass(frozen=True, slots=True)
class ForgedQuote:
    """A quote that is not in the cited line."""

    ref: EvidenceRef
    text: str


@dataclass(frozen=True, slots=True)
class ForgedEntry:
    """A false statement: no entry at the place may have all of these fields, as the document writes them."""

    place: Place
    fields: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ForgedSupport:
    """A cause of this entity that is supported by a claim with these fields, which is not about it."""

    entity: str
    fields: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ForgedWindow:
    """A report window that is not the incident's in any evidence."""

    start: str
    end: str


@dataclass(frozen=True, slots=True)
class ForgedLack:
    """Something that exists, listed as missing in any of the report's words for it."""

    words: tuple[str, ...]


Fabrication: TypeAlias = (
    ForgedText | ForgedRef | ForgedQuote | ForgedEntry | ForgedSupport | ForgedWindow | ForgedLack
)


@dataclass(frozen=True, slots=True)
class Told:
    """What an agent submits: a draft, and facts of its assessments. Truthful if nothing is forged."""

    draft: DiagnosisDraft
    forged: tuple[Fabrication, ...] = ()
    facts: tuple[Claim, ...] = ()


def fields_of(claim: Claim, *names: str) -> dict[str, JsonValue]:
    """Fields of a claim as the document writes them: predicate, entity, and those that are named."""
    held: dict[str, JsonValue] = {"predicate": claim.predicate.value, "entity": claim.entity}
    for name in names:
        match name:
            case "onset_at":
                held[name] = None if claim.onset_s is None else utc_text(claim.onset_s)
            case "window":
                held[name] = window_as_json(claim.window)
            case "direction":
                held[name] = None if claim.direction is None else claim.direction.value
            case _:
                held[name] = getattr(claim, name)
    return held


def window_as_json(window: TimeWindow | None) -> JsonValue:
    """A window as the document writes it."""
    return None if window is None else {"start": utc_text(window.start_s), "end": utc_text(window.end_s)}
