"""Suggests up to three next steps, from the open points of the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest

from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.language import Language, Text
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report import words
from diagnosis_harness.report.document import Candidate, Coverage
from diagnosis_harness.report.material import ReportMaterial
from diagnosis_harness.report.measure import measure
from diagnosis_harness.tools.invocation import ErrorCode

_AT_MOST = 3


def next_checks(
    material: ReportMaterial, *, candidates: Sequence[Candidate], coverage: Coverage, language: Language
) -> tuple[str, ...]:
    """The next steps, most useful first; none after a success.

    One of each kind comes before a second of any kind: how the run ended, a candidate, missing information,
    failed calls, tools not called, better data to compare with.
    """
    if material.release.outcome is ReleaseOutcome.SUCCESS:
        return ()
    kinds: list[Iterator[str]] = [
        iter(_about_the_end(material, language)),
        (
            words.NEXT_LOOK_AT.render(
                language, entity=display_name(each.entity), fault=words.FAULT[each.fault_kind].in_(language)
            )
            for each in candidates
            if each.score > 0
        ),
        (
            words.NEXT_SUPPLY.render(language, what=words.MISSING[each].in_(language))
            for each in material.content.missing_info
        ),
        (
            _after_failure(each.error_code).render(
                language, tool=display_name(each.tool), code=each.error_code or "-"
            )
            for each in coverage.failed
        ),
        (words.NEXT_ASK_UNASKED.render(language, tool=display_name(each)) for each in coverage.never_asked),
        iter(
            []
            if material.has_baseline or MissingInfo.BASELINE in material.content.missing_info
            else [words.NEXT_GIVE_BASELINE.in_(language)]
        ),
        iter([] if material.has_onset else [words.NEXT_GIVE_ONSET.in_(language)]),
    ]
    rounds = chain.from_iterable(zip_longest(*kinds))
    return tuple(islice(dict.fromkeys(each for each in rounds if each is not None), _AT_MOST))


def _after_failure(code: str | None) -> Text:
    return words.NEXT_MORE_MEMORY if code == ErrorCode.MEMORY_LIMIT else words.NEXT_ASK_FAILED


def _about_the_end(material: ReportMaterial, language: Language) -> tuple[str, ...]:
    if material.state is RunState.TIMED_OUT:
        return (words.NEXT_MORE_TIME.render(language, limit=measure(material.limit_s, "s")),)
    if material.state is RunState.BUDGET_EXHAUSTED:
        return (words.NEXT_MORE_BUDGET.in_(language),)
    if material.release.outcome in (ReleaseOutcome.CANCELLED, ReleaseOutcome.FAILED):
        return (words.NEXT_ASK_AGAIN.in_(language),)
    return ()
