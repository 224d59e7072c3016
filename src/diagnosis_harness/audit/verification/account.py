"""Checks how a saved run ended, what it spent and when, against the rest of the document."""

from __future__ import annotations

from collections.abc import Iterator

from diagnosis_harness.application.runs.early_end import early_failures
from diagnosis_harness.audit.verification.result import Check, CheckName, Flaw, FlawCode
from diagnosis_harness.audit.verification.usage import usage_flaws
from diagnosis_harness.diagnosis.missing import MissingInfo
from diagnosis_harness.harness.termination import RunState, state_for
from diagnosis_harness.kernel.errors import RunDocumentInvalid
from diagnosis_harness.release.decision import TABLE, Row
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import MISSING, RunDocument, Termination
from diagnosis_harness.report.earlier_sentences import in_current_words
from diagnosis_harness.report.failure import failure_sentence
from diagnosis_harness.report.window import read_instant
from diagnosis_harness.trace.event import TraceName

_ROUNDING_S = 0.002
"""Times are written to the millisecond, durations to the microsecond, so they may differ by this much."""


def account_checks(document: RunDocument) -> Iterator[Check]:
    """Outcome, usage and times."""
    yield Check(CheckName.OUTCOME, 1, tuple(_outcome_flaws(document)))
    yield Check(CheckName.USAGE, len(document.run.usage), tuple(usage_flaws(document)))
    try:
        times = tuple(_time_flaws(document))
    except RunDocumentInvalid as error:
        times = (Flaw(FlawCode.NOT_OF_THE_SCHEMA, error.place, found=error.problem),)
    yield Check(CheckName.TIMES, 2 + len(document.records) + len(document.trace), times)


def _outcome_flaws(document: RunDocument) -> Iterator[Flaw]:
    run, release = document.run, document.release
    early = early_failures(run.language) if release.outcome is ReleaseOutcome.FAILED else frozenset()
    rows = [row for row in TABLE if _fits(row, document)]
    if not rows and not _was_given_up(document, early):
        stated = f"{release.outcome} {release.fallback_type or '-'} {run.state}"
        yield Flaw(FlawCode.NOT_IN_THE_TABLE, "release", stated)
    reason = run.termination.reason if run.termination else None
    asked_for = RunState.SUCCESS if reason is None else state_for(reason)
    if run.termination is None or asked_for is not run.state:
        yield Flaw(FlawCode.REASON_DOES_NOT_FIT, "run.termination", str(reason), run.state.value)
    failures = {
        failure_sentence(row.end, run.language) for row in rows if row.outcome is ReleaseOutcome.FAILED
    }
    if (release.failure is not None or failures) and _failure(document) not in failures | early:
        yield Flaw(FlawCode.FAILURE_DOES_NOT_FIT, "release.failure", str(release.failure))


def _failure(document: RunDocument) -> str:
    """The failure message in current words; empty if there is none."""
    return in_current_words([document.release.failure or ""])[0]


def _was_given_up(document: RunDocument, early: frozenset[str]) -> bool:
    """Whether the run had succeeded, but its process died before anything was released."""
    release, report = document.release, document.report
    failed = (release.outcome, release.fallback_type) == (ReleaseOutcome.FAILED, None)
    return (
        failed
        and in_current_words([release.failure or ""])[0] in early
        and not (report.claims or report.causes)
    )


def _fits(row: Row, document: RunDocument) -> bool:
    """Whether a row of the release table allows this document.

    Published claims are verified facts, and published phrases say what was missing. Their absence proves
    nothing: a fallback leaves out what needs a success and what only an agent states.
    """
    release, report = document.release, document.report
    if (row.outcome, row.fallback, row.state) != (release.outcome, release.fallback_type, document.run.state):
        return False
    if report.claims and row.facts is False:
        return False
    lacked = any(each not in MISSING or MissingInfo(each).is_required for each in report.missing_info)
    return not (lacked and row.missing is False)


def _time_flaws(document: RunDocument) -> Iterator[Flaw]:
    run = document.run
    started_s = read_instant(run.started_at, "run.started_at")
    if run.onset_at is not None:
        read_instant(run.onset_at, "run.onset_at")
    if run.termination is None:
        return
    ended_s = _end_s(run.termination)
    if abs(ended_s - started_s - run.duration_s) > _ROUNDING_S:
        took = f"{ended_s - started_s:.3f}"
        yield Flaw(FlawCode.DURATION_DIFFERS, "run.duration_s", str(run.duration_s), took)
    within_limit = run.state is not RunState.SUCCESS or run.duration_s <= run.limit_s
    if ended_s < started_s - _ROUNDING_S or run.duration_s < 0 or not within_limit:
        yield Flaw(FlawCode.OUT_OF_ORDER, "run.termination.at", run.termination.at, run.started_at)
    yield from _deadline_flaws(document)
    for number, record in enumerate(document.records):
        place = f"records[{number}].started_at"
        begun_s = read_instant(record.started_at, place)
        # A call in flight may end after its run, since finishing a record has a time limit of its own.
        until_s = ended_s if run.state is RunState.SUCCESS else float("inf")
        if not started_s - _ROUNDING_S <= begun_s <= ended_s + _ROUNDING_S:
            yield Flaw(FlawCode.OUT_OF_ORDER, place, record.started_at, run.started_at)
        elif record.duration_s is not None and not 0 <= record.duration_s <= until_s - begun_s + _ROUNDING_S:
            yield Flaw(FlawCode.OUT_OF_ORDER, f"records[{number}].duration_s", str(record.duration_s))
    before_s = started_s - _ROUNDING_S
    for number, line in enumerate(document.trace):
        at_s = read_instant(line.at, f"trace[{number}].at")
        if at_s < before_s:
            yield Flaw(FlawCode.OUT_OF_ORDER, f"trace[{number}].at", line.at)
        before_s = max(before_s, at_s)


def _deadline_flaws(document: RunDocument) -> Iterator[Flaw]:
    """A run that started and timed out used all of its time."""
    run = document.run
    began = any(line.name is TraceName.RUN_STARTED for line in document.trace)
    if began and run.state is RunState.TIMED_OUT and run.duration_s < run.limit_s - _ROUNDING_S:
        place = "run.termination.at"
        yield Flaw(FlawCode.BEFORE_THE_DEADLINE, place, f"{run.duration_s:g}", f"{run.limit_s:g}")


def _end_s(termination: Termination) -> float:
    return read_instant(termination.at, "run.termination.at")
