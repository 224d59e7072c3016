"""A report says what was looked at, what was left open, and nothing that did not pass."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support import documents
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.claim import EvidenceRef, FaultKind, Predicate
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.diagnosis.draft import Hypothesis
from diagnosis_harness.diagnosis.inquiry import OnsetOrigin
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.release.result import ReleaseContent
from diagnosis_harness.report import words
from diagnosis_harness.report.compose import compose
from diagnosis_harness.report.document import OnsetUsed, Release
from diagnosis_harness.report.material import ReportMaterial
from diagnosis_harness.report.missing import missing_phrases
from diagnosis_harness.testing.evidence import error_record, ready_record
from diagnosis_harness.toolbox.ports import FileNote
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind
from diagnosis_harness.tools.invocation import ErrorCode

FALLBACK = Release(ReleaseOutcome.FALLBACK, FallbackType.INSUFFICIENT_EVIDENCE)


def material(release: Release = FALLBACK, state: RunState = RunState.SUCCESS) -> ReportMaterial:
    """A run that asked four things, with a baseline and a known onset."""
    return ReportMaterial(
        language=Language.EN,
        release=release,
        state=state,
        limit_s=120.0,
        records=documents.records(),
        tools=("changed_signals", "rank_causes", "search_logs", "walk_topology"),
        has_baseline=True,
        has_onset=True,
    )


def test_every_call_is_in_exactly_one_part_of_the_coverage() -> None:
    """Found, empty and failed are distinguished."""
    coverage = compose(material()).coverage

    assert [asked.tool_call_id for asked in coverage.asked] == ["t1", "t2"]
    assert [asked.tool_call_id for asked in coverage.empty] == ["t3"]
    assert [(asked.tool_call_id, asked.error_code) for asked in coverage.failed] == [("t4", "TIMED_OUT")]


def test_what_was_never_asked_is_said() -> None:
    """A tool that was there and not called is named."""
    coverage = compose(replace(material(), tools=("inventory", "rank_causes"))).coverage

    assert coverage.never_asked == ("inventory",)


def test_what_was_read_and_not_compared_is_said() -> None:
    """Logs are counted and searchable, and no more than that yet; an unknown file keeps its own note."""
    not_used = documents.fallback().report.coverage.not_used

    assert [(each.name, each.note) for each in not_used] == [
        ("logs.csv", "read and counted, not yet compared"),
        ("notes.docx", "its ending is not known"),
    ]


@pytest.mark.parametrize(
    ("tool", "role", "note"),
    [
        ("search_logs", "logs", "searched, not compared"),
        ("list_changes", "changes", ("listed, not compared")),
    ],
)
def test_what_a_call_found_in_a_file_is_not_called_unused(tool: str, role: str, note: str) -> None:
    """It was searched or listed, and no more; nothing found leaves it among the unused."""
    file = FileNote("some.csv", role, 3, "read")
    event = EvidenceItem("d1", ItemKind.CHANGE_EVENT, "a deploy of checkout", entity="checkout")
    found = replace(material(), files=(file,), records=(ready_record(event, tool_name=tool),))
    empty = replace(found, records=(ready_record(tool_name=tool),))

    coverage = compose(found).coverage
    assert (coverage.not_used, [(each.name, each.note) for each in coverage.not_compared]) == (
        (),
        [("some.csv", note)],
    )
    coverage = compose(empty).coverage
    assert (len(coverage.not_used), coverage.not_compared) == (1, ())


def test_the_onset_that_was_used_is_said_with_how_it_is_known() -> None:
    """And the time of the alert beside it, where that is another."""
    alert, estimated = (
        EvidenceItem(
            method,
            ItemKind.ONSET,
            f"onset by {method}",
            entity="checkout",
            onset_s=at_s,
            attributes={"method": method, "used": method == "estimated"},
        )
        for method, at_s in (("alert", documents.ONSET_S), ("estimated", documents.ONSET_S - 30))
    )
    record = ready_record(estimated, alert, tool_name="estimate_onset")
    alerted = replace(
        material(), records=(record,), inquiry=inquiry(alert_entity="shop", alert_at_s=documents.ONSET_S)
    )

    assert compose(alerted).onset == OnsetUsed("2024-01-01T14:04:30Z", "estimated", "2024-01-01T14:05:00Z")
    assert compose(material()).onset is None


@pytest.mark.parametrize(
    ("origin", "method"),
    [
        (OnsetOrigin.ASKED, "given"),
        (OnsetOrigin.QUESTION, "given"),
        (OnsetOrigin.CARRIED, "carried"),
        (OnsetOrigin.SOURCE, "stated"),
    ],
)
def test_a_stated_onset_is_attributed_to_its_source(origin: OnsetOrigin, method: str) -> None:
    """Given with the question is what its asker gave; that of the turn before is taken over from there."""
    asked = replace(material(), inquiry=inquiry(onset_s=documents.ONSET_S, origin=origin))

    assert compose(asked).onset == OnsetUsed("2024-01-01T14:05:00Z", method, None)


@pytest.mark.parametrize("methods", [("argument",), ("argument", "estimated")])
def test_a_time_that_a_policy_put_into_a_call_is_not_an_onset(methods: tuple[str, ...]) -> None:
    """Neither it, nor what an estimate around it found, is said to be when it began."""
    found = (
        EvidenceItem(
            method,
            ItemKind.ONSET,
            f"onset by {method}",
            onset_s=documents.ONSET_S - 2700.0,
            attributes={"method": method, "used": method == methods[-1]},
        )
        for method in methods
    )
    record = ready_record(
        *found, tool_name="estimate_onset", scope=f'{{"onset":{documents.ONSET_S - 2700.0}}}'
    )

    assert compose(replace(material(), records=(record,))).onset is None


def test_a_candidate_whose_evidence_is_gone_is_not_a_candidate() -> None:
    """References that point nowhere are dropped, and a candidate without any left with them."""
    report = compose(
        replace(
            material(),
            content=ReleaseContent(
                hypotheses=(
                    Hypothesis("ghost", FaultKind.CPU, 9.0, (EvidenceRef("t9", "i1"),)),
                    Hypothesis(
                        "payment", FaultKind.CPU, 2.0, (EvidenceRef("t2", "c2"), EvidenceRef("t2", "c9"))
                    ),
                )
            ),
        )
    )

    assert [candidate.entity for candidate in report.candidates] == ["payment"]
    assert report.candidates[0].evidence_for == (EvidenceRef("t2", "c2"),)


@pytest.mark.parametrize("outcome", [o for o in ReleaseOutcome if o is not ReleaseOutcome.SUCCESS])
def test_who_caused_what_is_never_said_without_a_success(outcome: ReleaseOutcome) -> None:
    """Nor who is only hit: both are conclusions, and a fallback has none, whatever claims it is given."""
    release = FALLBACK if outcome is ReleaseOutcome.FALLBACK else Release(outcome)

    report = compose(replace(material(release), content=ReleaseContent(claims=documents.claims())))

    assert [claim.predicate for claim in report.claims] == [Predicate.CHANGED, Predicate.ABSENT]


def test_a_concluded_cause_is_not_a_candidate_as_well() -> None:
    """What is proven is not listed as unproven."""
    assert [candidate.entity for candidate in documents.success().report.candidates] == ["payment"]


@pytest.mark.parametrize("outcome", [ReleaseOutcome.FAILED, ReleaseOutcome.CANCELLED])
def test_a_run_without_an_answer_has_no_candidates(outcome: ReleaseOutcome) -> None:
    """A failure guesses nothing."""
    state = RunState.FAILED if outcome is ReleaseOutcome.FAILED else RunState.CANCELLED

    report = compose(
        replace(material(Release(outcome), state), content=ReleaseContent(hypotheses=documents.hypotheses()))
    )

    assert report.candidates == ()


def test_a_confidence_is_never_invented() -> None:
    """Until it is computed from checks there is none."""
    assert [cause.confidence for cause in documents.success().report.causes] == [None]


@pytest.mark.parametrize("kind", FallbackType)
def test_a_fallback_says_first_why_there_is_no_conclusion(kind: FallbackType) -> None:
    """Each kind of fallback has a first sentence of its own."""
    first = compose(material(Release(ReleaseOutcome.FALLBACK, kind))).summary[0]
    others = {
        compose(material(Release(ReleaseOutcome.FALLBACK, other))).summary[0]
        for other in FallbackType
        if other is not kind
    }

    assert first.startswith("No conclusion: ")
    assert first not in others


def test_the_summary_says_why_collecting_stopped_and_how_the_run_ended() -> None:
    """A fallback after the budget ran out says both."""
    release = replace(FALLBACK, stop_reason=DiagnosisStopReason.BUDGET_LIMIT_REACHED)

    assert compose(material(release, RunState.BUDGET_EXHAUSTED)).summary == (
        "No conclusion: the evidence does not prove a cause.",
        "The budget is used up.",
        "Collection stopped: the budget limit was reached.",
        "Statements verified against evidence: 0.",
    )


def test_next_checks_come_one_of_each_kind_and_three_at_most() -> None:
    """A candidate, what is missing and what failed come before a second of any."""
    report = compose(
        replace(
            material(),
            content=ReleaseContent(
                hypotheses=documents.hypotheses(), missing_info=(MissingInfo.BASELINE, MissingInfo.LOGS)
            ),
            has_baseline=False,
        )
    )

    assert report.next_checks == (
        "Look at checkout, CPU: the strongest candidate neither proven nor ruled out.",
        "Supply what was missing: normal operation to compare with (--baseline FOLDER).",
        "Find out why walk_topology failed (TIMED_OUT), and ask again.",
    )


@pytest.mark.parametrize(
    ("language", "advice"),
    [
        (
            Language.EN,
            (
                "compare_spans needs more memory than the settings allow (MEMORY_LIMIT): raise "
                "`folder.memory_limit_mb`, or cut the data to the hours around the incident."
            ),
        ),
        (
            Language.ZH,
            (
                "compare_spans 所需内存超出了设置（MEMORY_LIMIT）：调高 `folder.memory_limit_mb`，"
                "或只保留故障前后几小时的数据。"
            ),
        ),
    ],
)
def test_a_call_that_met_the_memory_limit_names_the_setting(language: Language, advice: str) -> None:
    """Asking again would not help."""
    failed = replace(error_record("t9", ErrorCode.MEMORY_LIMIT), tool_name="compare_spans")
    assert advice in compose(replace(material(), records=(failed,), language=language)).next_checks


def test_what_was_missing_is_said_in_the_language_of_the_report() -> None:
    """The document has members of a closed set; renderers have words for each, and quote names."""
    report = compose(
        replace(
            material(),
            content=ReleaseContent(
                missing_info=(MissingInfo.SPANS, MissingInfo.ENTITY), missing_names=("billing",)
            ),
        )
    )

    assert (report.missing_info, report.missing_names) == (("spans", "which service"), ("billing",))
    assert missing_phrases(report, Language.EN) == (
        "spans of distributed traces",
        "which service is meant",
        '"billing", a name that is not in the telemetry',
    )
    assert missing_phrases(report, Language.ZH) == (
        "分布式调用链",
        "指的是哪个服务",
        "“billing”：遥测数据中没有这个名称",
    )


def test_everything_that_can_be_missing_has_words() -> None:
    """A new member of the set cannot leave a report without words."""
    assert set(words.MISSING) == set(MissingInfo)


def test_next_checks_end_with_what_would_sharpen_the_comparison() -> None:
    """Where nothing else is open, a baseline and an onset are asked for."""
    bare = replace(material(), records=documents.records()[:3], has_baseline=False, has_onset=False)

    assert compose(replace(bare, tools=())).next_checks == (
        "Provide a baseline to compare against: --baseline FOLDER.",
        "State when it began: --onset TIME.",
    )


def test_a_run_that_timed_out_says_first_how_to_give_it_more_time() -> None:
    """The next step names the option and what this run had."""
    report = compose(material(FALLBACK, RunState.TIMED_OUT))

    assert report.next_checks[0] == "Ask again with more time: --deadline SECONDS (this run had 2 min)."


def test_a_success_needs_no_next_checks() -> None:
    """A conclusion is not followed by homework."""
    assert documents.success().report.next_checks == ()
