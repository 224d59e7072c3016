"""What to do next, three steps at most: chosen from what the run left open, never invented."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest

from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.names import named
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import Candidate, Coverage
from diagnosis_harness.report.material import ReportMaterial
from diagnosis_harness.report.measure import measure
from diagnosis_harness.report.words import Words

_AT_MOST = 3


def next_checks(
    material: ReportMaterial, *, candidates: Sequence[Candidate], coverage: Coverage, words: Words
) -> tuple[str, ...]:
    """The next steps, most useful first; none after a success.

    One of each kind comes before a second of any: what ended the run, a candidate, what was missing, what
    failed, what was never asked, what would sharpen the comparison.
    """
    if material.release.outcome is ReleaseOutcome.SUCCESS:
        return ()
    say = words.next
    kinds: list[Iterator[str]] = [
        iter(_about_the_end(material, words)),
        (
            say.look_at.format(entity=named(each.entity), fault=words.fault[each.fault_kind])
            for each in candidates
            if each.score > 0
        ),
        (say.supply.format(what=words.missing[each]) for each in material.missing_info),
        (say.ask_failed.format(tool=named(each.tool), code=each.error_code) for each in coverage.failed),
        (say.ask_unasked.format(tool=named(each)) for each in coverage.never_asked),
        iter(
            []
            if material.has_baseline or MissingInfo.BASELINE in material.missing_info
            else [say.give_baseline]
        ),
        iter([] if material.has_onset else [say.give_onset]),
    ]
    rounds = chain.from_iterable(zip_longest(*kinds))
    return tuple(islice(dict.fromkeys(each for each in rounds if each is not None), _AT_MOST))


def _about_the_end(material: ReportMaterial, words: Words) -> tuple[str, ...]:
    if material.state is RunState.TIMED_OUT:
        return (words.next.more_time.format(limit=measure(material.limit_s, "s")),)
    if material.state is RunState.BUDGET_EXHAUSTED:
        return (words.next.more_budget,)
    if material.release.outcome in (ReleaseOutcome.CANCELLED, ReleaseOutcome.FAILED):
        return (words.next.ask_again,)
    return ()
