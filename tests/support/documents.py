"""Run documents made by hand, one for each way in which a run can end."""

from __future__ import annotations

from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import (
    WHOLE_RECORD,
    Claim,
    EvidenceRef,
    FaultKind,
    Predicate,
    Quote,
)
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.diagnosis.draft import Cause, Hypothesis
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.harness.termination import CancellationReason, RunState
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import TimeWindow, utc_text
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.release.result import ReleaseContent
from diagnosis_harness.report.compose import compose
from diagnosis_harness.report.document import (
    Counter,
    InFlight,
    RecordEntry,
    Release,
    Run,
    RunDocument,
    Termination,
)
from diagnosis_harness.report.inquiry_entry import InquiryEntry
from diagnosis_harness.report.material import ReportMaterial
from diagnosis_harness.testing.evidence import projecting_record, ready_record
from diagnosis_harness.toolbox.ports import FileNote
from diagnosis_harness.tools.evidence import Direction, EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import ErrorCode, EvidenceRecord

START_S = 1_704_117_600.0  # 2024-01-01T14:00:00Z
ONSET_S = START_S + 300
WINDOW = TimeWindow(START_S, START_S + 1200)
LIMIT_S = 120.0

_CPU = EvidenceItem(
    item_id="i1",
    kind=ItemKind.SIGNAL_CHANGE,
    line="checkout cpu_percent rose from 12 percent to 97 percent",
    entity="checkout",
    signal="cpu_percent",
    value=97.0,
    baseline=12.0,
    unit="percent",
    direction=Direction.UP,
    window=WINDOW,
    onset_s=ONSET_S,
    score=31.5,
    points=(12.0, 11.5, 12.5, 12.0, 13.0, 60.0, 95.0, None, 97.0, 97.0, 96.5, 97.0, 96.0, 97.0, 97.0, 96.0),
)
_LATENCY = EvidenceItem(
    item_id="i2",
    kind=ItemKind.SIGNAL_CHANGE,
    line="frontend latency_p90 rose from 0.21 s to 3.204 s",
    entity="frontend",
    signal="latency_p90",
    value=3.204,
    baseline=0.21,
    unit="s",
    direction=Direction.UP,
    window=WINDOW,
    onset_s=ONSET_S + 12,
    score=20.0,
    points=(0.2, 0.21, 0.22, 0.2, 0.21, 1.1, 2.9, 3.1, 3.2, 3.2, 3.1, 3.3, 3.2, 3.1, 3.2, 3.2),
)
_RANKED = EvidenceItem(
    item_id="c1",
    kind=ItemKind.CAUSE_SCORE,
    line="checkout ranks 1 as the cause of what frontend shows",
    entity="checkout",
    peer="frontend",
    score=9.0,
)
_SECOND = EvidenceItem(
    item_id="c2",
    kind=ItemKind.CAUSE_SCORE,
    line="payment ranks 2 as the cause of what frontend shows",
    entity="payment",
    peer="frontend",
    score=2.25,
)
_FILES = (
    FileNote("metrics.csv", "metrics", 4800, "long layout, time in s"),
    FileNote("logs.csv", "logs", 90, "read"),
    FileNote("notes.docx", None, 0, "its ending is not known"),
)
_TOOLS = ("inventory", "changed_signals", "signal", "walk_topology", "rank_causes", "search_logs")


def records() -> tuple[EvidenceRecord, ...]:
    """A call with two findings, a ranking, one that found nothing, and one that failed."""
    return (
        ready_record(_CPU, _LATENCY, tool_call_id="t1", tool_name="changed_signals"),
        ready_record(_RANKED, _SECOND, tool_call_id="t2", tool_name="rank_causes", scope='{"top":5}'),
        ready_record(
            tool_call_id="t3",
            tool_name="search_logs",
            scope=f'{{"entity":"checkout","start":{ONSET_S},"text":"OutOfMemory"}}',
        ),
        projecting_record("t4", tool_name="walk_topology").with_error(ErrorCode.TIMED_OUT, at_s=ONSET_S + 30),
    )


def claims() -> tuple[Claim, ...]:
    """What the records support."""
    cpu, latency = EvidenceRef("t1", "i1"), EvidenceRef("t1", "i2")
    return (
        Claim(
            "k1",
            Predicate.CAUSED,
            "checkout",
            (EvidenceRef("t2", "c1"), cpu),
            affected="frontend",
            quotes=(Quote(EvidenceRef("t2", "c1"), "checkout ranks 1 as the cause"),),
        ),
        Claim(
            "k2",
            Predicate.CHANGED,
            "checkout",
            (cpu,),
            signal="cpu_percent",
            value=97.0,
            baseline=12.0,
            unit="percent",
            direction=Direction.UP,
            window=WINDOW,
        ),
        Claim(
            "k3",
            Predicate.AFFECTED,
            "frontend",
            (latency,),
            signal="latency_p90",
            value=3.204,
            baseline=0.21,
            unit="s",
            direction=Direction.UP,
            onset_s=ONSET_S + 12,
        ),
        Claim(
            "k4",
            Predicate.ABSENT,
            "checkout",
            (EvidenceRef("t3", WHOLE_RECORD),),
            signal="OutOfMemory",
            value=12_345.0,
            unit="log lines",
            window=WINDOW,
        ),
    )


def hypotheses() -> tuple[Hypothesis, ...]:
    """Two candidates, the first with evidence against it."""
    return (
        Hypothesis(
            "checkout",
            FaultKind.CPU,
            9.0,
            evidence_for=(EvidenceRef("t2", "c1"),),
            evidence_against=(EvidenceRef("t3", WHOLE_RECORD),),
        ),
        Hypothesis(
            "payment", FaultKind.LATENCY, 2.25, evidence_for=(EvidenceRef("t2", "c2"),), region="charge"
        ),
    )


def success(language: Language = Language.EN) -> RunDocument:
    """A released conclusion."""
    content = ReleaseContent(
        causes=(Cause("checkout", FaultKind.CPU, ("k1", "k2"), score=9.0),),
        claims=claims(),
        hypotheses=hypotheses(),
        window=WINDOW,
    )
    return _document(_material(language, Release(ReleaseOutcome.SUCCESS), RunState.SUCCESS, content))


def fallback(language: Language = Language.EN) -> RunDocument:
    """A safe answer without a conclusion."""
    release = Release(
        ReleaseOutcome.FALLBACK,
        FallbackType.INSUFFICIENT_EVIDENCE,
        DiagnosisStopReason.INFORMATION_SATURATED,
    )
    content = ReleaseContent(
        claims=claims()[1:],
        hypotheses=hypotheses(),
        missing_info=(MissingInfo.BASELINE,),
        window=WINDOW,
    )
    return _document(_material(language, release, RunState.SUCCESS, content))


def document_of_cancel(language: Language = Language.EN) -> RunDocument:
    """A run that its user stopped, with a call in flight."""
    material = _material(language, Release(ReleaseOutcome.CANCELLED), RunState.CANCELLED)
    in_flight = (InFlight("walk_topology", "t5"),)
    return _document(material, reason=CancellationReason.USER_REQUESTED, in_flight=in_flight)


def document_of_end(
    outcome: ReleaseOutcome,
    state: RunState,
    *,
    reason: CancellationReason | None = None,
    failure: str | None = None,
) -> RunDocument:
    """A run without an answer that ended in the given way."""
    release = Release(outcome, failure=failure)
    return _document(_material(Language.EN, release, state), reason=reason)


def _material(
    language: Language,
    release: Release,
    state: RunState,
    content: ReleaseContent = ReleaseContent(window=WINDOW),  # noqa: B008 - it is frozen
) -> ReportMaterial:
    return ReportMaterial(
        language=language,
        release=release,
        state=state,
        limit_s=LIMIT_S,
        content=content,
        records=records(),
        tools=_TOOLS,
        files=_FILES,
        inquiry=inquiry("frontend"),
    )


def _document(
    material: ReportMaterial,
    *,
    reason: CancellationReason | None = None,
    in_flight: tuple[InFlight, ...] = (),
) -> RunDocument:
    chinese = material.language is Language.ZH
    return RunDocument(
        run=Run(
            session_id="s1",
            run_id="r1",
            question="为什么 frontend 变慢了?" if chinese else "Why did frontend become slow?",
            language=material.language,
            state=material.state,
            termination=Termination(reason, utc_text(START_S + 1502)),
            started_at=utc_text(START_S + 1500),
            duration_s=1.25,
            limit_s=LIMIT_S,
            usage=(
                Counter("llm_calls", 5, 40),
                Counter("tool_calls", 4, 60),
                Counter("run_bytes", 2048, 8_000_000),
                Counter("tool_calls", 1, 20, tool="rank_causes"),
            ),
            in_flight=in_flight,
        ),
        release=material.release,
        report=compose(material),
        records=tuple(RecordEntry.of(record) for record in material.records),
        inquiry=InquiryEntry.of(material.inquiry, spoken_of=()),
    )
