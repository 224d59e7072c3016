"""Compare the published diagnosis of a simulated incident with what was injected."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.cli.words import phrases
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.simulator.faults import GroundTruth
from diagnosis_harness.simulator.hard.play import HardWorld


@dataclass(frozen=True, slots=True)
class Injected:
    """What was broken: its kind and everything at fault; `entities` is empty if the system was healthy."""

    kind: str
    entities: tuple[str, ...]
    region: str | None = None


def usual_injection(truth: GroundTruth) -> Injected:
    """The fault in a world of the five usual kinds, or in a healthy one."""
    entities = () if truth.entity is None else (truth.entity,)
    return Injected(truth.fault_kind.value, entities, truth.region)


def hard_injection(world: HardWorld) -> Injected:
    """The fault in a world of a hard kind."""
    return Injected(world.kind.name, world.truth.entities, world.truth.region)


def is_right(document: RunDocument, injected: Injected) -> bool:
    """Whether the first cause was injected, or no cause is named and nothing was injected."""
    causes = document.report.causes
    if not injected.entities:
        return _has_answer(document) and not causes
    return _has_answer(document) and bool(causes) and causes[0].entity in injected.entities


def verdict_lines(document: RunDocument, injected: Injected, language: Language) -> tuple[str, str]:
    """What was injected, and how the published answer compares with it."""
    if not injected.entities:
        return phrases.INJECTED_NONE.in_(language), _judge_healthy(document, language)
    names = phrases.NAMES_BETWEEN.in_(language).join(injected.entities)
    place = f"{names} ({injected.region})" if injected.region else names
    return phrases.INJECTED.render(language, kind=injected.kind, entity=place), _judge_fault(
        document, injected.entities, language
    )


def _judge_healthy(document: RunDocument, language: Language) -> str:
    if document.report.causes:
        return phrases.WRONG.render(language, named=document.report.causes[0].entity)
    return phrases.RIGHT_NONE.in_(language) if _has_answer(document) else phrases.NO_ANSWER.in_(language)


def _judge_fault(document: RunDocument, entities: tuple[str, ...], language: Language) -> str:
    if not _has_answer(document):
        return phrases.NO_ANSWER.in_(language)
    if document.report.causes:
        named = document.report.causes[0].entity
        return (phrases.RIGHT if named in entities else phrases.WRONG).render(
            language, entity=named, named=named
        )
    for place, candidate in enumerate(document.report.candidates, start=1):
        if candidate.entity in entities:
            return phrases.CANDIDATE.render(language, entity=candidate.entity, place=place)
    return phrases.WRONG_NONE.in_(language)


def _has_answer(document: RunDocument) -> bool:
    return document.release.outcome in (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)
