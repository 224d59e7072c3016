"""Compare the published diagnosis of a simulated incident with what was injected."""

from __future__ import annotations

from diagnosis_harness.cli.words import phrases
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.simulator.faults import GroundTruth


def is_right(document: RunDocument, truth: GroundTruth) -> bool:
    """Whether the first cause is the injected one, or no cause is named and nothing was injected."""
    causes = document.report.causes
    if truth.entity is None:
        return _has_answer(document) and not causes
    return _has_answer(document) and bool(causes) and causes[0].entity == truth.entity


def verdict_lines(document: RunDocument, truth: GroundTruth, language: Language) -> tuple[str, str]:
    """What was injected, and how the published answer compares with it."""
    if truth.entity is None:
        return phrases.INJECTED_NONE.in_(language), _judge_healthy(document, language)
    place = f"{truth.entity} ({truth.region})" if truth.region else truth.entity
    return phrases.INJECTED.render(language, kind=truth.fault_kind.value, entity=place), _judge_fault(
        document, truth.entity, language
    )


def _judge_healthy(document: RunDocument, language: Language) -> str:
    if document.report.causes:
        return phrases.WRONG.render(language, named=document.report.causes[0].entity)
    return phrases.RIGHT_NONE.in_(language) if _has_answer(document) else phrases.NO_ANSWER.in_(language)


def _judge_fault(document: RunDocument, entity: str, language: Language) -> str:
    if not _has_answer(document):
        return phrases.NO_ANSWER.in_(language)
    if document.report.causes:
        named = document.report.causes[0].entity
        return (phrases.RIGHT if named == entity else phrases.WRONG).render(
            language, entity=entity, named=named
        )
    ranked = [candidate.entity for candidate in document.report.candidates]
    if entity in ranked:
        return phrases.CANDIDATE.render(language, entity=entity, place=ranked.index(entity) + 1)
    return phrases.WRONG_NONE.in_(language)


def _has_answer(document: RunDocument) -> bool:
    return document.release.outcome in (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)
