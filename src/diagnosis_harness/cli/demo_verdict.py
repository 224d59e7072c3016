"""Compare the published diagnosis of a simulated incident with what was injected."""

from __future__ import annotations

from diagnosis_harness.cli.phrases import Phrases
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.simulator.faults import GroundTruth


def is_right(document: RunDocument, truth: GroundTruth) -> bool:
    """Whether the first cause is the injected one, or no cause is named and nothing was injected."""
    causes = document.report.causes
    if truth.entity is None:
        return _has_answer(document) and not causes
    return _has_answer(document) and bool(causes) and causes[0].entity == truth.entity


def verdict_lines(document: RunDocument, truth: GroundTruth, phrases: Phrases) -> tuple[str, str]:
    """What was injected, and how the published answer compares with it."""
    if truth.entity is None:
        return phrases.injected_none, _judge_healthy(document, phrases)
    place = f"{truth.entity} ({truth.region})" if truth.region else truth.entity
    return phrases.injected.format(kind=truth.fault_kind.value, entity=place), _judge_fault(
        document, truth.entity, phrases
    )


def _judge_healthy(document: RunDocument, phrases: Phrases) -> str:
    if document.report.causes:
        return phrases.wrong.format(named=document.report.causes[0].entity)
    return phrases.right_none if _has_answer(document) else phrases.no_answer


def _judge_fault(document: RunDocument, entity: str, phrases: Phrases) -> str:
    if not _has_answer(document):
        return phrases.no_answer
    if document.report.causes:
        named = document.report.causes[0].entity
        return (phrases.right if named == entity else phrases.wrong).format(entity=entity, named=named)
    ranked = [candidate.entity for candidate in document.report.candidates]
    if entity in ranked:
        return phrases.candidate.format(entity=entity, place=ranked.index(entity) + 1)
    return phrases.wrong_none


def _has_answer(document: RunDocument) -> bool:
    return document.release.outcome in (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)
