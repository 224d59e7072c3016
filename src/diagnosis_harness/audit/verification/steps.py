"""Checks that the steps of a trace are ones that a run can take, in an order in which it can take them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from diagnosis_harness.audit.verification.result import Flaw, FlawCode
from diagnosis_harness.guards.verdict import SemanticVerdict
from diagnosis_harness.harness.retry import RetryRole
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.window import utc_text
from diagnosis_harness.release.decision import TABLE, WorkEnd
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.document import RunDocument
from diagnosis_harness.report.ranking_entry import RankingStanding
from diagnosis_harness.report.trace_line import TraceLine
from diagnosis_harness.report.window import read_instant
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase

_ROUNDING_S = 0.002
"""Times are written to the millisecond."""
_T, _P, _S = TraceName, TracePhase, TraceEventStatus
_LEFT = (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)

_ONCE = (
    _T.RUN_STARTED,
    _T.ROUTING_DECISION,
    _T.COLLECTION_STOP,
    _T.EVIDENCE_GUARD_INITIAL,
    _T.EVIDENCE_GUARD_RECHECK,
    _T.SEMANTIC_GUARD_DECISION,
    _T.RELEASE_DECISION,
    _T.RUN_ENDED,
    _T.RUN_FINISHED,
)
"""Steps that a run takes at most once."""
_IN_TURN = (
    _T.RUN_STARTED,
    _T.EVIDENCE_GUARD_INITIAL,
    _T.EVIDENCE_REPAIR,
    _T.EVIDENCE_GUARD_RECHECK,
    _T.SEMANTIC_GUARD_DECISION,
    _T.RELEASE_DECISION,
    _T.RUN_FINISHED,
)
"""Steps that occur in this order."""
_WORK = frozenset(
    {
        _T.RUN_STARTED,
        _T.ROUTING_DECISION,
        _T.AGENT_MODEL_STEP,
        _T.TOOL_INVOCATION,
        _T.TOOL_PROGRESS,
        _T.TOOL_REQUEST_REJECTED,
        _T.COLLECTION_STOP,
        _T.EVIDENCE_GUARD_INITIAL,
        _T.EVIDENCE_REPAIR,
        _T.EVIDENCE_GUARD_RECHECK,
        _T.SEMANTIC_GUARD_ATTEMPT,
        _T.SEMANTIC_GUARD_DECISION,
    }
)
"""Steps that a run takes before its end. A run that ended well has taken all of them."""
_PHASES: Mapping[TraceName, frozenset[TracePhase]] = {
    _T.RUN_STARTED: frozenset({_P.RUN}),
    _T.ROUTING_ATTEMPT: frozenset({_P.ROUTING}),
    _T.ROUTING_DECISION: frozenset({_P.ROUTING}),
    _T.AGENT_MODEL_STEP: frozenset({_P.AGENT}),
    _T.TOOL_INVOCATION: frozenset({_P.TOOL}),
    _T.TOOL_PROGRESS: frozenset({_P.AGENT}),
    _T.TOOL_REQUEST_REJECTED: frozenset({_P.TOOL, _P.AGENT}),
    _T.COLLECTION_STOP: frozenset({_P.AGENT}),
    _T.EVIDENCE_GUARD_INITIAL: frozenset({_P.GUARD}),
    _T.EVIDENCE_REPAIR: frozenset({_P.GUARD}),
    _T.EVIDENCE_GUARD_RECHECK: frozenset({_P.GUARD}),
    _T.SEMANTIC_GUARD_ATTEMPT: frozenset({_P.GUARD}),
    _T.SEMANTIC_GUARD_DECISION: frozenset({_P.GUARD}),
    _T.RELEASE_DECISION: frozenset({_P.RELEASE}),
    _T.RUN_ENDED: frozenset({_P.RUN}),
    _T.RUN_FINISHED: frozenset({_P.RUN}),
}
"""The phase of each step; steps that are not listed occur in several phases."""
_ENDS_OF_VERDICTS = {
    WorkEnd.SUPPORTED: SemanticVerdict.SUPPORTED,
    WorkEnd.UNSUPPORTED: SemanticVerdict.UNSUPPORTED,
    WorkEnd.JUDGE_UNAVAILABLE: None,
}
"""The verdict of SemanticGuard that each of these ends needs; None if the judge gave none."""


def step_flaws(document: RunDocument) -> Iterator[Flaw]:
    """Contradictions within the trace, and between the trace and the end of the run."""
    yield from _repeat_flaws(document.trace)
    yield from _order_flaws(document.trace)
    yield from _agent_flaws(document.trace)
    yield from _shape_flaws(document.trace)
    yield from _verdict_flaws(document)
    yield from _claim_flaws(document)
    yield from _end_flaws(document)


def _repeat_flaws(trace: Sequence[TraceLine]) -> Iterator[Flaw]:
    seen: set[TraceName] = set()
    for place, line in enumerate(trace):
        if line.name in seen and line.name in _ONCE:
            yield Flaw(FlawCode.TRACE_TWICE, f"trace[{place}]", line.name.value)
        seen.add(line.name)
    if _T.EVIDENCE_GUARD_RECHECK in seen and _T.EVIDENCE_REPAIR not in seen:
        yield Flaw(FlawCode.TRACE_INCOMPLETE, "trace", found=_T.EVIDENCE_REPAIR.value)


def _order_flaws(trace: Sequence[TraceLine]) -> Iterator[Flaw]:
    reached = 0
    for place, line in enumerate(trace):
        if line.name in _IN_TURN:
            turn = _IN_TURN.index(line.name)
            if turn < reached:
                yield Flaw(FlawCode.TRACE_OUT_OF_ORDER, f"trace[{place}]", line.name.value)
            reached = max(reached, turn)


def _agent_flaws(trace: Sequence[TraceLine]) -> Iterator[Flaw]:
    """A step of the agent begins after the one before it ended; its answer is its last attempt."""
    is_open, answered = False, False
    for place, line in enumerate(trace):
        if line.name is _T.RETRY_ATTEMPT and line.text_of("role") == RetryRole.DIAGNOSIS_AGENT:
            if not is_open or answered:
                yield Flaw(FlawCode.TRACE_OUT_OF_ORDER, f"trace[{place}]", line.name.value)
            answered = line.status is _S.SUCCEEDED
        if line.name is not _T.AGENT_MODEL_STEP:
            continue
        begins = line.status is _S.STARTED
        if begins is is_open:
            yield Flaw(FlawCode.TRACE_OUT_OF_ORDER, f"trace[{place}]", line.name.value)
        if line.status is _S.SUCCEEDED and not answered:
            yield Flaw(FlawCode.TRACE_INCOMPLETE, f"trace[{place}]", found=_T.RETRY_ATTEMPT.value)
        is_open, answered = begins, False


def _shape_flaws(trace: Sequence[TraceLine]) -> Iterator[Flaw]:
    """The phase and status of a line must match its name and its data."""
    for place, line in enumerate(trace):
        if line.phase not in _PHASES.get(line.name, (line.phase,)):
            yield _differs(place, "phase", line.phase.value, "")
        due = _status_of(line)
        if due is not None and line.status is not due:
            yield _differs(place, "status", line.status.value, due.value)


def _status_of(line: TraceLine) -> TraceEventStatus | None:
    """The status that follows from the data of a line; None if several are possible."""
    data = line.data or {}
    match line.name:
        case _T.RUN_ENDED:
            good = data.get("state") == RunState.SUCCESS
        case _T.TOOL_INVOCATION if "invocation" in data:
            good = data["invocation"] == InvocationStatus.READY
        case _T.RETRY_ATTEMPT | _T.ROUTING_ATTEMPT | _T.SEMANTIC_GUARD_ATTEMPT if "failure" in data:
            good = data["failure"] is None and not data.get("error")
        case _T.EVIDENCE_GUARD_INITIAL | _T.EVIDENCE_GUARD_RECHECK:
            return _S.REJECTED if data.get("findings") else _S.SUCCEEDED
        case _T.SEMANTIC_GUARD_DECISION if "verdict" in data:
            return _S.SUCCEEDED if data["verdict"] == SemanticVerdict.SUPPORTED else _S.REJECTED
        case _T.TOOL_PROGRESS:
            return _S.SUCCEEDED if data.get("gain") else _S.SKIPPED
        case _:
            return _ALWAYS.get(line.name)
    return _S.SUCCEEDED if good else _S.FAILED


_ALWAYS = {
    _T.RUN_STARTED: _S.STARTED,
    _T.TOOL_INVOCATION: _S.STARTED,
    _T.TOOL_REQUEST_REJECTED: _S.REJECTED,
    _T.COLLECTION_STOP: _S.SUCCEEDED,
    _T.RELEASE_DECISION: _S.SUCCEEDED,
    _T.RUN_FINISHED: _S.SUCCEEDED,
}
"""The status of lines whose data do not decide it; a call that only began has no result."""


def _verdict_flaws(document: RunDocument) -> Iterator[Flaw]:
    """What was released must be what SemanticGuard's verdict leads to, if the run ended well after it.

    A conclusion needs the verdict SUPPORTED, however the run ended.
    """
    release, concluded = document.release, bool(document.report.causes)
    ended_well = release.outcome in _LEFT and document.run.state is RunState.SUCCESS
    if not (concluded or ended_well):
        return
    ends = _possible_ends(document)
    decisions = [at for at, each in enumerate(document.trace) if each.name is _T.SEMANTIC_GUARD_DECISION]
    if not decisions:
        if concluded or ends <= _ENDS_OF_VERDICTS.keys():
            yield Flaw(FlawCode.TRACE_INCOMPLETE, "release", found=_T.SEMANTIC_GUARD_DECISION.value)
        return
    place = decisions[-1]
    verdict = document.trace[place].text_of("verdict")
    fitting = {end for end in ends & _ENDS_OF_VERDICTS.keys() if _ENDS_OF_VERDICTS[end] == verdict}
    if concluded or fitting:
        fits = concluded is (verdict == SemanticVerdict.SUPPORTED)
    else:
        fits = _may_have_ended_early(ends, document.trace[:place])
    if not fits:
        yield _differs(place, "data.verdict", str(verdict), release.outcome.value)


def _possible_ends(document: RunDocument) -> frozenset[WorkEnd]:
    """The ends of the work that lead to what was released."""
    end = (document.release.outcome, document.release.fallback_type, document.run.state)
    return frozenset(row.end for row in TABLE if (row.outcome, row.fallback, row.state) == end)


def _may_have_ended_early(ends: Collection[WorkEnd], before: Sequence[TraceLine]) -> bool:
    """Whether a player ended the run SUCCESS before the judge's verdict, which then decided nothing."""
    return WorkEnd.ENDED_EARLY in ends and any(line.name is _T.RUN_ENDED for line in before)


def _claim_flaws(document: RunDocument) -> Iterator[Flaw]:
    """A conclusion publishes only claims that its guard passed, and only rankings that its judge saw."""
    report = document.report
    if not report.causes:
        return
    for place, line in enumerate(document.trace):
        data = line.data or {}
        if line.name in (_T.EVIDENCE_GUARD_INITIAL, _T.EVIDENCE_GUARD_RECHECK) and not data.get("findings"):
            passed = data.get("passed")
            if isinstance(passed, int) and passed < len(report.claims):
                yield _differs(place, "data.passed", str(passed), str(len(report.claims)))
        if line.name is _T.SEMANTIC_GUARD_DECISION:
            aside = [
                f"{each.tool_call_id}: {each.reason.value}"
                for each in report.rankings
                if each.standing is RankingStanding.SET_ASIDE and each.reason is not None
            ]
            stated = data.get("set_aside") or ()
            if isinstance(stated, list | tuple) and sorted(map(str, stated)) != sorted(aside):
                yield _differs(place, "data.set_aside", str(list(stated)), str(aside))


def _end_flaws(document: RunDocument) -> Iterator[Flaw]:
    """The end is reported once, at its time, and a run that ended well does no work after it."""
    termination = document.run.termination
    if termination is None:
        return
    ended_s = read_instant(termination.at, "run.termination.at")
    ends = [place for place, line in enumerate(document.trace) if line.name is _T.RUN_ENDED]
    # A player that ends its run SUCCESS may still be at work then; the run itself ends after all of it.
    early = WorkEnd.ENDED_EARLY in _possible_ends(document)
    ended_itself = document.run.state is RunState.SUCCESS and not early
    if not ends and any(line.name is _T.RUN_STARTED for line in document.trace):
        yield Flaw(FlawCode.TRACE_INCOMPLETE, "trace", found=_T.RUN_ENDED.value)
    for place, line in enumerate(document.trace):
        at_s = read_instant(line.at, f"trace[{place}].at")
        if line.name in (_T.RUN_ENDED, _T.RUN_FINISHED) and at_s < ended_s - _ROUNDING_S:
            yield Flaw(FlawCode.OUT_OF_ORDER, f"trace[{place}].at", line.at, termination.at)
        if line.name is _T.RUN_ENDED:
            stated_s = (line.data or {}).get("at_s")
            if not isinstance(stated_s, int | float) or utc_text(stated_s) != termination.at:
                yield _differs(place, "data.at_s", str(stated_s), termination.at)
        if ended_itself and line.name in _WORK:
            if ends and place > ends[0]:
                yield Flaw(FlawCode.TRACE_OUT_OF_ORDER, f"trace[{place}]", line.name.value)
            if at_s > ended_s + _ROUNDING_S:
                yield Flaw(FlawCode.OUT_OF_ORDER, f"trace[{place}].at", line.at, termination.at)


def _differs(place: int, name: str, stated: str, found: str) -> Flaw:
    return Flaw(FlawCode.TRACE_DIFFERS, f"trace[{place}].{name}", stated, found)
