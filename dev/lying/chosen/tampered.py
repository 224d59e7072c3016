"""Makes a published document untrue, with every digest recomputed; `verify` must reject it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from dev.lying.recorded import pick

from diagnosis_harness.audit.verification.result import CheckName, CheckResult
from diagnosis_harness.audit.verification.verify import verify
from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.diagnosis.draft import (
    Cause,
    CauseLevel,
    DiagnosisDraft,
    Disproof,
    DisproofResult,
    Hypothesis,
)
from diagnosis_harness.kernel.errors import ContractViolation, DiagnosisHarnessError
from diagnosis_harness.kernel.language import Language, language_of
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.report import words
from diagnosis_harness.report.compose import fault_words
from diagnosis_harness.report.document import ROOT_DIGEST, Candidate, ClaimEntry, plain_json, root_digest
from diagnosis_harness.report.sentence import sentence
from diagnosis_harness.report.timestamps import escape_line

Held = dict[str, Any]
Edit = Callable[[np.random.Generator, Held], Held | None]
_FORM = (CheckName.ROOT_DIGEST, CheckName.SCHEMA, CheckName.BYTE_FORM)
"""Checks that catch a clumsy forger but are not about the content."""


def rewrite(held: Mapping[str, Any]) -> bytes:
    """The document as a file, with matching digests."""
    whole = {**held, ROOT_DIGEST: root_digest(held)}
    return json.dumps(whole, ensure_ascii=False, indent=2).encode() + b"\n"


def objections_to(held: Mapping[str, Any]) -> tuple[bool, tuple[str, ...]]:
    """Whether `verify` rejects it, and the checks that fail."""
    try:
        found = verify(rewrite(held), file="run.json")
    except (DiagnosisHarnessError, ValueError):
        return True, ("UNREADABLE",)
    failed = tuple(check.name.value for check in found.checks if check.result is CheckResult.FAILS)
    return not found.verified, failed


def by_form_alone(failed: tuple[str, ...]) -> bool:
    """Whether `verify` rejects the form only."""
    return set(failed) <= {*(name.value for name in _FORM), "UNREADABLE"}


def as_told(document: Held, draft: DiagnosisDraft, language: Language) -> Held | None:
    """The run's document as if everything had been released as the agent wrote it; None if impossible."""
    held = copy.deepcopy(document)
    names = {claim.claim_id: f"k{place}" for place, claim in enumerate(draft.claims, start=1)}
    try:
        claims = [_entry(replace(c, claim_id=names[c.claim_id]), language) for c in draft.claims if c.refs]
    except (ContractViolation, ValueError, OverflowError):
        return None  # a number or a time that no document can represent
    report = held["report"]
    report["claims"] = claims
    report["causes"] = [
        {
            "entity": cause.entity,
            "fault_kind": cause.fault_kind.value,
            "region": cause.region,
            "score": cause.score,
            "confidence": _confidence(document, cause.entity, cause.score),
            "claim_ids": [names[each] for each in cause.claim_ids if each in names],
            **_level_and_test(document, cause),
        }
        for cause in draft.conclusion
    ]
    concluded = {cause.entity for cause in draft.conclusion}
    if draft.conclusion:
        held["release"] |= {"outcome": "SUCCESS", "fallback_type": None, "failure": None}
        report["next_checks"] = []
        report["candidates"] = [each for each in report["candidates"] if each["entity"] not in concluded]
        report["summary"] = _summary(draft, language)
    elif held["release"]["outcome"] == "FALLBACK":
        report["summary"][-1] = words.VERIFIED_COUNT.render(language, count=len(claims))
    report["missing_info"] = [str(each) for each in draft.missing_info]
    report["missing_names"] = [*draft.missing_names]
    if not draft.conclusion:
        report["candidates"] = [_candidate(each) for each in draft.hypotheses]
    held["trace"] = [
        _calm(line)
        for line in held["trace"]
        if line["name"] not in ("EVIDENCE_REPAIR", "EVIDENCE_GUARD_RECHECK")
    ]
    return held


def _entry(claim: Claim, language: Language) -> dict[str, Any]:
    own = claim.wording if claim.wording and language_of(claim.wording) is language else None
    return dict(plain_json(ClaimEntry.of(claim, sentence=own or sentence(claim, language))))


def _candidate(told: Hypothesis) -> dict[str, Any]:
    return dict(
        plain_json(
            Candidate(
                told.entity,
                told.fault_kind,
                told.region,
                told.score,
                told.evidence_for,
                told.evidence_against,
            )
        )
    )


def _summary(draft: DiagnosisDraft, language: Language) -> list[str]:
    return [
        (words.ALSO_CAUSE.in_(language) if place else words.CAUSE.in_(language)).format(
            entity=escape_line(cause.entity),
            fault=fault_words(cause.fault_kind, cause.region, language=language),
        )
        for place, cause in enumerate(draft.conclusion)
    ]


def _calm(line: dict[str, Any]) -> dict[str, Any]:
    """A trace line without its objections."""
    if line["name"] in ("EVIDENCE_GUARD_INITIAL", "SEMANTIC_GUARD_DECISION") and line["status"] == "REJECTED":
        return {**line, "status": "SUCCEEDED", "text": "verdict=SUPPORTED reasons=[]"}
    return line


def _level_and_test(document: Held, cause: Cause) -> Held:
    """Level, scope and test: as the agent states them, or as released for this cause, or else the weakest."""
    released = next((each for each in document["report"]["causes"] if each["entity"] == cause.entity), None)
    if cause.level is not None or released is None:
        level = cause.level or CauseLevel.LOCALISED
        test = plain_json(cause.disproof or Disproof(DisproofResult.NOT_TESTED))
        return {"level": level.value, "scope": list(cause.scope), "disproof": test}
    return {name: released[name] for name in ("level", "scope", "disproof")}


def _confidence(document: Held, entity: str, score: float | None) -> float | None:
    """By the product's formula, from whichever stored ranking has this score."""
    for record in document["records"]:
        for item in json.loads(record["stored"] or '{"items":[]}')["items"]:
            if item["kind"] == "CAUSE_SCORE" and item["entity"] == entity and item.get("score") == score:
                more = item["attributes"]
                agreement = {1: 0.8, 2: 0.9}.get(max(int(more["modalities"]), 1), 1.0)
                share = [min(1.0, max(0.0, float(more[name] or 0.0))) for name in ("strength", "margin")]
                return round(share[0] * (1.0 + share[1]) / 2.0 * agreement, 2)
    return None


# ---------------------------------------------------------------- edits of an honest document


def _claim(rng: np.random.Generator, held: Held, *predicates: str) -> dict[str, Any] | None:
    found = [c for c in held["report"]["claims"] if not predicates or c["predicate"] in predicates]
    return pick(rng, found) if found else None


def signal_dropped(rng: np.random.Generator, held: Held) -> Held | None:
    """The signal is removed from a field and from its sentence."""
    claim = _claim(rng, held, "CHANGED", "NORMAL", "FAILED", "SLOWED")
    if claim is None or not claim["signal"]:
        return None
    for text in (f"{claim['signal']} of ", f" 的 {claim['signal']}"):
        claim["sentence"] = claim["sentence"].replace(text, "")
    claim["signal"] = None
    return held


def number_changed(rng: np.random.Generator, held: Held) -> Held | None:
    """A value is changed in the field and in the sentence."""
    claim = _claim(rng, held, "CHANGED", "SLOWED", "AFFECTED", "FAILED")
    if claim is None or claim["value"] is None:
        return None
    claim["value"] = claim["value"] * pick(rng, (1.02, 10.0, 0.5))
    return held


def window_shifted(rng: np.random.Generator, held: Held) -> Held | None:
    """A window is shifted, by less than a second or by an hour."""
    claim = _claim(rng, held, "CHANGED", "SLOWED", "AFFECTED", "NORMAL")
    if claim is None or claim["window"] is None:
        return None
    from diagnosis_harness.kernel.window import parse_utc

    off = pick(rng, (0.4, -0.3, 3_600.0))
    claim["window"] = {name: utc_text(parse_utc(at) + off) for name, at in claim["window"].items()}
    return held


def sentence_changed(rng: np.random.Generator, held: Held) -> Held | None:
    """A sentence says something else, in words that the product uses."""
    claim = _claim(rng, held, "CHANGED", "SLOWED", "AFFECTED", "CAUSED", "DEPLOYED")
    if claim is None:
        return None
    old = claim["sentence"]
    swaps = (
        ("rose from", "is usually"),
        ("is the cause", "is usually the cause"),
        ("rose", "fell"),
        ("上升", "下降"),
        ("从", "通常从"),
        ("was changed (deploy)", "was changed (flag)"),
        ("between", "before"),
    )
    found = [old.replace(a, b) for a, b in swaps if a in old]
    if not found:
        return None
    claim["sentence"] = pick(rng, found)
    return held


def citation_added(rng: np.random.Generator, held: Held) -> Held | None:
    """Add a citation that supports nothing, with its line as a quote; or repeat a citation."""
    claim = _claim(rng, held)
    if claim is None:
        return None
    items = [
        (record["tool_call_id"], item)
        for record in held["records"]
        for item in json.loads(record["stored"] or '{"items":[]}')["items"]
        if item.get("entity") not in (claim["entity"], claim["affected"])
    ]
    if not items or rng.random() < 0.2:
        claim["refs"] = claim["refs"] * 2
        return held
    call, item = pick(rng, items)
    ref = {"tool_call_id": call, "item_id": item["item_id"]}
    claim["refs"] = [*claim["refs"], ref]
    claim["quotes"] = [*claim["quotes"], {"ref": ref, "text": item["line"]}]
    return held


def quote_cut(rng: np.random.Generator, held: Held) -> Held | None:
    """A quote ends before its qualifier."""
    found = [(c, q) for c in held["report"]["claims"] for q in c["quotes"] if " from " in q["text"]]
    if not found:
        return None
    _, quote = pick(rng, found)
    quote["text"] = quote["text"].split(" from ")[0]
    return held


def candidates_changed(rng: np.random.Generator, held: Held) -> Held | None:
    """The strongest candidate is removed, or the order is reversed."""
    candidates = held["report"]["candidates"]
    if len(candidates) < 2:
        return None
    held["report"]["candidates"] = candidates[1:] if rng.random() < 0.6 else list(reversed(candidates))
    return held


def missing_added(rng: np.random.Generator, held: Held) -> Held | None:
    """Something that exists, or an empty text, is listed as missing."""
    held["report"]["missing_info"] = [
        *held["report"]["missing_info"],
        pick(rng, ("metrics", "permission", "incident recording")),
    ]
    return held


def onset_changed(rng: np.random.Generator, held: Held) -> Held | None:
    """The onset is changed, or attributed to another source."""
    onset = held["report"]["onset"]
    if onset is None:
        return None
    if rng.random() < 0.5:
        others = [m for m in ("given", "stated", "alert", "estimated") if m != str(onset["method"]).lower()]
        onset["method"] = pick(rng, others)
    else:
        onset["at"] = "2024-01-01T00:20:00Z"
    return held


def cause_exchanged(rng: np.random.Generator, held: Held) -> Held | None:
    """The cause is replaced by another service everywhere in the report."""
    causes = held["report"]["causes"]
    others = [each["entity"] for each in held["report"]["candidates"]]
    if not causes or not others:
        return None
    old, new = (
        json.dumps(each, ensure_ascii=False)[1:-1] for each in (causes[0]["entity"], pick(rng, others))
    )
    held["report"] = json.loads(json.dumps(held["report"], ensure_ascii=False).replace(old, new))
    return held


def ranking_hidden(_: np.random.Generator, held: Held) -> Held | None:
    """The ranking that supports a conclusion is removed from the records."""
    if not held["report"]["causes"]:
        return None
    gone = {r["tool_call_id"] for r in held["records"] if r["tool"] == "rank_causes"}
    held["records"] = [r for r in held["records"] if r["tool_call_id"] not in gone]
    for name in ("asked", "empty", "failed"):
        held["report"]["coverage"][name] = [
            each for each in held["report"]["coverage"][name] if each["tool_call_id"] not in gone
        ]
    return held


def question_changed(_: np.random.Generator, held: Held) -> Held | None:
    """The same answer to another question: another stated onset."""
    if held["run"].get("onset_at") is None or not held["report"]["causes"]:
        return None
    held["run"]["onset_at"] = "2024-01-01T00:20:00Z"
    return held


EDITS: Mapping[str, Edit] = {
    "signal dropped": signal_dropped,
    "number changed": number_changed,
    "window shifted": window_shifted,
    "sentence changed": sentence_changed,
    "citation added": citation_added,
    "quote cut": quote_cut,
    "candidates changed": candidates_changed,
    "missing added": missing_added,
    "onset changed": onset_changed,
    "cause exchanged": cause_exchanged,
    "ranking hidden": ranking_hidden,
    "question changed": question_changed,
}
