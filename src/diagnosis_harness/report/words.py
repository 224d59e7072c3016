"""Every word of a report that is not a claim's sentence: one form, filled in once for each language.

Texts with `{names}` are templates; both languages use the same names (a test holds them to it).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome


@dataclass(frozen=True, slots=True)
class Headings:
    """Titles of a report's parts."""

    why: str
    nearby: str
    """Changes that no cause rests on."""
    verified: str
    considered: str
    candidates: str
    looked_at: str
    missing: str
    next_checks: str
    evidence: str
    kept: str
    in_flight: str


@dataclass(frozen=True, slots=True)
class CoverageWords:
    """How a report says what was looked at."""

    found: str
    empty: str
    failed: str
    never_asked: str
    nothing_asked: str
    not_used: str
    unread: str
    unsearched: str
    """What was read and counted, and neither searched nor compared."""
    searched: Mapping[str, str]
    """What a call looked into and nothing compares, by the role of the file."""
    not_compared: str
    everything: str
    onset: str
    onset_method: Mapping[str, str]
    """How the onset is known, by the wire value of its method."""
    alert_at: str


@dataclass(frozen=True, slots=True)
class NextWords:
    """How a report says what to do next."""

    look_at: str
    supply: str
    ask_failed: str
    ask_unasked: str
    give_baseline: str
    give_onset: str
    more_time: str
    more_budget: str
    ask_again: str


@dataclass(frozen=True, slots=True)
class Words:
    """One language. Mappings are total over their enums."""

    headings: Headings
    coverage: CoverageWords
    next: NextWords
    outcome: Mapping[ReleaseOutcome, str]
    fallback: Mapping[FallbackType, str]
    stop: Mapping[DiagnosisStopReason, str]
    ended: Mapping[RunState, str]
    """What to say of a run that ended so; empty where the outcome says it already."""
    fault: Mapping[FaultKind, str]
    missing: Mapping[MissingInfo, str]
    missing_name: str
    """A name of the question that no telemetry knows."""
    cause: str
    also_cause: str
    confidence: str
    part: str
    verified_count: str
    kept_count: str
    no_diagnosis: str
    """Of a run that another path answered."""
    score: str
    evidence_for: str
    evidence_against: str
    asked_for: str
    whole_record: str
    window: str
    to: str
    footer: str
    spent: Mapping[str, str]
    """Counters worth a word in the footer, by name."""
    items: str
    more: str
    comma: str
    colon: str
