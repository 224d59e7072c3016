"""Reads a published document for scoring. Only the published form is read, so any version works."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from diagnosis_harness.bench.case import NamedChange, Ranked, RunResult
from diagnosis_harness.diagnosis.claim import EvidenceRef, Predicate
from diagnosis_harness.diagnosis.draft import CauseLevel
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.citations import number
from diagnosis_harness.report.document import RunDocument, plain_json
from diagnosis_harness.tools.evidence import InvocationStatus, ItemKind

Json = Mapping[str, Any]
"""Published JSON; its fields are read by name."""


def result_of(document: RunDocument) -> RunResult:
    """What a published document states."""
    report: Json = plain_json(document.report)
    ranked = _ranking(document)
    release = document.release
    success = release.outcome is ReleaseOutcome.SUCCESS
    causes = tuple(_to_ranked(cause, ranked) for cause in report["causes"])
    candidates = tuple(_to_ranked(candidate, ranked) for candidate in report["candidates"])
    return RunResult(
        outcome=release.outcome.value,
        causes=causes,
        candidates=candidates,
        failed_tools=tuple(r.tool for r in document.records if r.status is InvocationStatus.ERROR),
        fallback="" if release.fallback_type is None else release.fallback_type.value,
        concluded=_lines([*report["summary"], *_supporting_lines(report)]) if success else "",
        changes=_changes(document),
        nothing_unusual=success
        and any(claim.predicate is Predicate.UNREMARKABLE for claim in document.report.claims),
        reason=_reason(document),
        said=_lines(
            [
                *report["summary"],
                *(claim["sentence"] for claim in report["claims"]),
                *(each.region or "" for each in (*causes, *candidates)),
                *report["next_checks"],
            ]
        ),
        onset="" if document.report.onset is None else document.report.onset.at,
        tool_calls=len(document.records),
        record_bytes=sum(record.size_bytes for record in document.records),
    )


def _supporting_lines(report: Json) -> list[str]:
    """Sentences of the claims that support a cause; of all claims if there is none."""
    wanted = {claim_id for cause in report["causes"] for claim_id in cause["claim_ids"]}
    return [
        str(claim["sentence"])
        for claim in report["claims"]
        if claim["claim_id"] in wanted or not report["causes"]
    ]


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(text for text in texts if text)


def _changes(document: RunDocument) -> tuple[NamedChange, ...]:
    """The changes that claims and candidates cite, from their records; sentences do not identify them."""
    report = document.report
    supporting = {claim_id for cause in report.causes for claim_id in cause.claim_ids}
    triggering = {
        claim_id
        for cause in report.causes
        if cause.level is CauseLevel.TRIGGER
        for claim_id in cause.claim_ids
    }
    changes = _changes_in_records(document)
    claims = sorted(report.claims, key=lambda claim: claim.claim_id not in supporting)
    cited = [
        (ref, claim.claim_id in supporting, claim.claim_id in triggering)
        for claim in claims
        for ref in claim.refs
        if claim.predicate is Predicate.DEPLOYED
    ]
    cited += [
        (ref, False, False)
        for candidate in report.candidates
        for ref in (*candidate.evidence_for, *candidate.evidence_against)
    ]
    named = (
        NamedChange(changes[ref], concluded, as_trigger)
        for ref, concluded, as_trigger in cited
        if ref in changes
    )
    return tuple(dict.fromkeys(named))


def _changes_in_records(document: RunDocument) -> dict[EvidenceRef, str]:
    """Commit and summary of every change in the records."""
    found: dict[EvidenceRef, str] = {}
    for ref, item in number(document, ()).items.items():
        attributes = item.get("attributes")
        if item.get("kind") == ItemKind.CHANGE_EVENT.value and isinstance(attributes, dict):
            parts = (attributes.get("commit"), attributes.get("summary"))
            found[ref] = " ".join(str(part) for part in parts if part)
    return found


def _reason(document: RunDocument) -> str:
    """Why there is no answer: what failed, or else why the run stopped; empty if there is one."""
    release, run = document.release, document.run
    if release.outcome in {ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK}:
        return ""
    stopped = release.stop_reason or (None if run.termination is None else run.termination.reason)
    return release.failure or (str(stopped) if stopped is not None else f"the run ended as {run.state.value}")


def _ranking(document: RunDocument) -> dict[str, Json]:
    """Attributes of each entity's item in the last ranking that contains it."""
    found: dict[str, Json] = {}
    for record in document.records:
        stored: Json = {} if record.stored is None else json.loads(record.stored)
        for item in stored.get("items", ()):
            if item.get("kind") == ItemKind.CAUSE_SCORE.value and item.get("entity"):
                found[item["entity"]] = item.get("attributes") or {}
    return found


def _to_ranked(named: Json, ranking: Mapping[str, Json]) -> Ranked:
    attributes = ranking.get(named["entity"], {})
    return Ranked(
        entity=named["entity"],
        fault_kind=named["fault_kind"],
        region=named["region"],
        score=named["score"],
        confidence=named.get("confidence"),
        level=named.get("level") or "",
        scope=tuple(named.get("scope") or ()),
        decided_by=str(attributes.get("decided_by") or ""),
        margin=attributes.get("margin"),
    )
