"""Reads a published document for scoring. Only the published form is read, so any version works."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from diagnosis_harness.bench.case import Ranked, RunResult
from diagnosis_harness.release.outcome import ReleaseOutcome
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
        concluded=_lines([*report["summary"], *_bearing(report)]) if success else "",
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


def _bearing(report: Json) -> list[str]:
    """Sentences of the claims that support a cause; without a cause, of all claims."""
    wanted = {claim_id for cause in report["causes"] for claim_id in cause["claim_ids"]}
    return [
        str(claim["sentence"])
        for claim in report["claims"]
        if claim["claim_id"] in wanted or not report["causes"]
    ]


def _lines(texts: Iterable[str]) -> str:
    return "\n".join(text for text in texts if text)


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
