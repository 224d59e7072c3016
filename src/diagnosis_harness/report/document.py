"""The run document: the question, how the run ended, what was released, and every byte it rests on.

The document is the published value: the terminal report is drawn from it, `--json` prints it, and its schema
is `docs/reference/run-document.schema.json`. So it holds wire values only: times are ISO 8601 text in UTC
(`kernel.window.utc_text`), and the JSON has exactly the fields of these classes, followed by a digest over
all of them. `report.document_file` writes it and `report.reading` reads it back.

A document keeps the version it was written in: fields that this version lacks are neither read nor written
(`report.version`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from math import isfinite
from typing import TYPE_CHECKING

from diagnosis_harness.diagnosis.claim import Claim, EvidenceRef, FaultKind, Predicate, Quote
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.harness.termination import CancellationReason, RunState
from diagnosis_harness.kernel.canonical import canonical_json, digest
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.report.cause_entry import CauseEntry
from diagnosis_harness.report.inquiry_entry import InquiryEntry
from diagnosis_harness.report.ranking_entry import RankingEntry
from diagnosis_harness.report.trace_line import TraceLine
from diagnosis_harness.report.version import READABLE, SCHEMA_VERSION, is_optional, since, version_has
from diagnosis_harness.report.window import Window
from diagnosis_harness.tools.evidence import Direction, EvidenceStatus, InvocationStatus
from diagnosis_harness.tools.invocation import EvidenceRecord

if TYPE_CHECKING:  # exists for type checkers alone
    from _typeshed import DataclassInstance

MISSING: frozenset[str] = frozenset(MissingInfo)
ROOT_DIGEST = "root_digest"
"""The field that protects all others; it is computed and never stored."""


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter of the budget.

    Attributes:
        name: `llm_calls`, `tool_calls`, `input_tokens`, `output_tokens`, `total_tokens` or `run_bytes`.
        tool: the tool whose calls are counted, if it is one tool's counter. limit: None if this counter has
            no limit of its own.
    """

    name: str
    used: int
    limit: int | None
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class InFlight:
    """A call in flight when the run was stopped: `llm`, or a tool by its name."""

    name: str
    tool_call_id: str | None


@dataclass(frozen=True, slots=True)
class Termination:
    """How the run ended; the first end is kept."""

    reason: CancellationReason | None
    """None exactly with SUCCESS."""
    at: str


@dataclass(frozen=True, slots=True)
class Run:
    """The run itself. `limit_s` is the time it was given, from start to deadline."""

    session_id: str
    run_id: str
    question: str
    language: Language
    state: RunState
    termination: Termination | None
    started_at: str
    duration_s: float
    limit_s: float
    usage: tuple[Counter, ...]
    usage_estimated: bool = False
    """Whether some of the tokens are estimated, since a provider did not report them."""
    in_flight: tuple[InFlight, ...] = ()
    onset_at: str | None = None
    """The onset stated with the question, if any; the queries used it."""


@dataclass(frozen=True, slots=True)
class Release:
    """What was released.

    Attributes:
        fallback_type: exists exactly with FALLBACK.
        stop_reason: why collecting was stopped, if it was. failure: with FAILED, what went wrong, as one
            sentence in the run's language.
    """

    outcome: ReleaseOutcome
    fallback_type: FallbackType | None = None
    stop_reason: DiagnosisStopReason | None = None
    failure: str | None = None

    def __post_init__(self) -> None:
        if (self.outcome is ReleaseOutcome.FALLBACK) != (self.fallback_type is not None):
            raise ContractViolation("a release has a fallback type exactly when it is a fallback")


@dataclass(frozen=True, slots=True)
class ClaimEntry:
    """A passed claim: its data, and the sentence that code rendered from it in the run's language."""

    claim_id: str
    sentence: str
    predicate: Predicate
    entity: str
    affected: str | None
    signal: str | None
    value: float | None
    baseline: float | None
    unit: str | None
    direction: Direction | None
    window: Window | None
    onset_at: str | None
    refs: tuple[EvidenceRef, ...]
    quotes: tuple[Quote, ...]

    def __post_init__(self) -> None:
        if not self.refs:
            raise ContractViolation(f"claim {self.claim_id} cites nothing and cannot be published")

    @classmethod
    def of(cls, claim: Claim, *, sentence: str) -> ClaimEntry:
        """The claim as the document writes it; the agent's own wording is not carried."""
        return cls(
            claim_id=claim.claim_id,
            sentence=sentence,
            predicate=claim.predicate,
            entity=claim.entity,
            affected=claim.affected,
            signal=claim.signal,
            value=claim.value,
            baseline=claim.baseline,
            unit=claim.unit,
            direction=claim.direction,
            window=Window.of(claim.window),
            onset_at=None if claim.onset_s is None else utc_text(claim.onset_s),
            refs=claim.refs,
            quotes=claim.quotes,
        )


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible cause that is not proven; it never carries a confidence.

    A `score` of zero or below means that nothing about it stood out from normal operation: it was compared
    and is listed at its place of the ranking, without evidence for it.
    """

    entity: str
    fault_kind: FaultKind
    region: str | None
    score: float
    evidence_for: tuple[EvidenceRef, ...]
    evidence_against: tuple[EvidenceRef, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One query to a source, and its result.

    Attributes:
        scope: the normalised request as canonical JSON text, as in the record.
        items: findings in the stored record. error_code: why it failed, if it did.
    """

    tool_call_id: str
    tool: str
    scope: str
    window: Window | None
    evidence_status: EvidenceStatus | None
    items: int
    error_code: str | None = None


@dataclass(frozen=True, slots=True)
class NotUsed:
    """A file that nothing in this report rests on, or that was only searched, and why."""

    name: str
    role: str | None
    note: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """What was examined, and what was not. Every call is in exactly one of the first three."""

    asked: tuple[Asked, ...]
    """Calls that found something."""
    empty: tuple[Asked, ...]
    """Calls that found nothing in their scope and window; this says nothing about anything else."""
    failed: tuple[Asked, ...]
    never_asked: tuple[str, ...]
    """Tools of this run that were not called."""
    not_used: tuple[NotUsed, ...]
    """Files that nothing in this report rests on."""
    not_compared: tuple[NotUsed, ...]
    """Files that a call searched or listed, with findings, and that no tool compares with normal."""


@dataclass(frozen=True, slots=True)
class OnsetUsed:
    """The onset that this run used.

    Attributes:
        method: `given` with the question, `carried` from the one before, `stated` by the source, the time
            of the `alert`, or `estimated`.
        alert_at: the time of the alert, if known and different.
    """

    at: str
    method: str
    alert_at: str | None


@dataclass(frozen=True, slots=True)
class Report:
    """The content. Causes exist only with SUCCESS; `summary` and `next_checks` are in the run's language."""

    summary: tuple[str, ...]
    causes: tuple[CauseEntry, ...]
    claims: tuple[ClaimEntry, ...]
    candidates: tuple[Candidate, ...]
    window: Window | None
    onset: OnsetUsed | None
    coverage: Coverage
    missing_info: tuple[str, ...]
    """Of `diagnosis.missing.MissingInfo`; version 2 held phrases in the run's language."""
    next_checks: tuple[str, ...]
    missing_names: tuple[str, ...] = field(default=(), metadata=since("3"))
    """Names of the question that no telemetry knows."""
    rankings: tuple[RankingEntry, ...] = field(default=(), metadata=since("3"))

    def __post_init__(self) -> None:
        known = {claim.claim_id for claim in self.claims}
        for cause in self.causes:
            if not cause.claim_ids or not known.issuperset(cause.claim_ids):
                raise ContractViolation(f"cause {cause.entity} rests on claims that the report does not hold")


@dataclass(frozen=True, slots=True)
class RecordEntry:
    """One tool call's canonical record.

    Attributes:
        scope: the normalised request as canonical JSON text; equal scopes asked for the same.
        window: what was looked at.
        digest: `sha256:` and the hexadecimal SHA-256 of the UTF-8 bytes of `stored`; None without any.
        stored: the stored bytes, which are canonical JSON, as text; hash it to compare it with the digest.
    """

    tool_call_id: str
    tool: str
    caller: str
    scope: str
    window: Window | None
    status: InvocationStatus
    evidence_status: EvidenceStatus | None
    error_code: str | None
    started_at: str
    duration_s: float | None
    size_bytes: int
    digest: str | None
    stored: str | None

    @classmethod
    def of(cls, record: EvidenceRecord) -> RecordEntry:
        """The record as the document writes it."""
        projection = record.projection
        finished_s = record.finished_s
        return cls(
            tool_call_id=record.tool_call_id,
            tool=record.tool_name,
            caller=record.caller,
            scope=record.scope,
            window=Window.of(projection.window) if projection else None,
            status=record.invocation,
            evidence_status=record.evidence,
            error_code=record.error_code,
            started_at=utc_text(record.started_s),
            duration_s=None if finished_s is None else round(finished_s - record.started_s, 6),
            size_bytes=record.size_bytes,
            digest=record.digest,
            stored=projection.stored.decode() if projection else None,
        )


@dataclass(frozen=True, slots=True)
class RunDocument:
    """Everything that is published of one run.

    Raises:
        ContractViolation: there are causes without SUCCESS, or a citation of no READY record of this
        document.
    """

    run: Run
    release: Release
    report: Report
    records: tuple[RecordEntry, ...]
    trace: tuple[TraceLine, ...] = ()
    inquiry: InquiryEntry | None = field(default=None, metadata=since("3"))
    """What the run was asked; None if no diagnosis was started."""
    schema_version: str = SCHEMA_VERSION

    def __post_init__(self) -> None:
        if self.report.causes and self.release.outcome is not ReleaseOutcome.SUCCESS:
            raise ContractViolation("only a success names causes")
        citable = {r.tool_call_id for r in self.records if r.status is InvocationStatus.READY}
        cited = {ref.tool_call_id for claim in self.report.claims for ref in claim.refs}
        cited |= {
            ref.tool_call_id
            for candidate in self.report.candidates
            for ref in (*candidate.evidence_for, *candidate.evidence_against)
        }
        if self.schema_version != READABLE[0] and not MISSING.issuperset(self.report.missing_info):
            raise ContractViolation("missing_info holds a value that is not of MissingInfo")
        if cited - citable:
            raise ContractViolation(f"cited, but not a READY record of this run: {sorted(cited - citable)}")

    def as_json(self) -> dict[str, JsonValue]:
        """The document as plain JSON values, in the order of the fields, followed by its root digest."""
        content = plain_json(self, version=self.schema_version)
        return {**content, ROOT_DIGEST: root_digest(content)}


def root_digest(content: Mapping[str, JsonValue]) -> str:
    """The digest over the canonical JSON of a document without its root digest.

    Raises:
        ValueError: the value cannot be written as canonical JSON.
    """
    return digest(canonical_json({name: value for name, value in content.items() if name != ROOT_DIGEST}))


def plain_json(value: DataclassInstance, *, version: str = SCHEMA_VERSION) -> dict[str, JsonValue]:
    """One part of a document of a version as JSON values, in the order of its fields.

    `report.reading` reads it back.
    """
    return {
        each.name: _plain(getattr(value, each.name), version)
        for each in fields(value)
        if version_has(version, each)
        and not (is_optional(version, each) and getattr(value, each.name) is None)
    }


def _plain(value: object, version: str) -> JsonValue:
    if is_dataclass(value) and not isinstance(value, type):
        return plain_json(value, version=version)
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, version) for key, inner in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(inner, version) for inner in value]
    if isinstance(value, str):
        return str(value)  # an enum's wire value, as a plain string
    if isinstance(value, float) and not isfinite(value):
        raise ContractViolation("JSON has no number that is not finite")
    if value is None or isinstance(value, (bool, int, float)):
        return value
    raise ContractViolation(f"{type(value).__name__} does not belong in a run document")
