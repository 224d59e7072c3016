"""Checks what a saved run spent: its counters against its records, its trace, its limits and each other."""

from __future__ import annotations

from collections import Counter as Calls
from collections.abc import Iterator, Mapping

from diagnosis_harness.audit.verification.result import Flaw, FlawCode
from diagnosis_harness.harness.retry import RetryRole
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.release.outcome import ReleaseOutcome
from diagnosis_harness.report.counters import RUN_COUNTERS
from diagnosis_harness.report.document import Counter, RunDocument
from diagnosis_harness.report.trace_line import TraceLine
from diagnosis_harness.tools.evidence import InvocationStatus
from diagnosis_harness.tools.invocation import ErrorCode
from diagnosis_harness.trace.event import TraceName

_Key = tuple[str, str | None]

_ENFORCED = ("llm_calls", "tool_calls", "run_bytes")
"""Counters that no run exceeds. Tokens are counted as used, also above the limit."""
_LEFT = (ReleaseOutcome.SUCCESS, ReleaseOutcome.FALLBACK)
_ATTEMPTS = (TraceName.RETRY_ATTEMPT, TraceName.ROUTING_ATTEMPT, TraceName.SEMANTIC_GUARD_ATTEMPT)
_LIMITS_REPORTED = ("llm_calls", "tool_calls")
"""The limits in the first line of a trace."""
_USE_REPORTED = (*_LIMITS_REPORTED, "total_tokens", "run_bytes")
"""The counters in the last line of a trace."""


def usage_flaws(document: RunDocument) -> Iterator[Flaw]:
    """Counters must cover the records and the attempts, exceed no limit, and agree with the trace."""
    counted = {(each.name, each.tool): each for each in document.run.usage}
    yield from _name_flaws(document)
    yield from _least_flaws(document, counted)
    yield from _limit_flaws(document)
    if document.release.outcome in _LEFT:
        yield from _own_account_flaws(document, counted)
    yield from _trace_flaws(document, counted)


def _name_flaws(document: RunDocument) -> Iterator[Flaw]:
    """Each counter must be one that a run has, and occur once."""
    seen: set[_Key] = set()
    for number, counter in enumerate(document.run.usage):
        key = (counter.name, counter.tool)
        known = counter.name in RUN_COUNTERS if counter.tool is None else counter.name == "tool_calls"
        if not known or key in seen:
            yield Flaw(FlawCode.COUNTER_UNKNOWN, f"run.usage[{number}].name", counter.name)
        seen.add(key)


def _least_flaws(document: RunDocument, counted: Mapping[_Key, Counter]) -> Iterator[Flaw]:
    """What the records and the attempts in the trace show must be counted."""
    uncounted = _may_not_have_begun(document)
    calls = Calls(record.tool for record in document.records if record.error_code not in uncounted)
    least: dict[_Key, int] = {
        ("tool_calls", None): calls.total(),
        ("run_bytes", None): sum(record.size_bytes for record in document.records),
        **{("tool_calls", tool): count for tool, count in calls.items()},
    }
    if document.release.outcome in _LEFT:
        least["llm_calls", None] = len(_attempts(document))
    for key in least.keys() - counted.keys():
        if least[key]:
            yield Flaw(FlawCode.COUNTED_TOO_LITTLE, "run.usage", "0", str(least[key]))
    for number, counter in enumerate(document.run.usage):
        needed = least.get((counter.name, counter.tool), 0)
        if counter.used < needed:
            place = f"run.usage[{number}].used"
            yield Flaw(FlawCode.COUNTED_TOO_LITTLE, place, str(counter.used), str(needed))


def _attempts(document: RunDocument) -> list[TraceLine]:
    """The attempts of roles in the trace: each is charged one llm call."""
    return [
        line
        for line in document.trace
        if line.name in _ATTEMPTS and line.data is not None and line.text_of("role") != RetryRole.TOOL
    ]


def _may_not_have_begun(document: RunDocument) -> tuple[ErrorCode, ...]:
    """The error codes of records whose call may not have been made, because the run ended before it.

    A run that ended well has none; for an interrupted run it is unknown.
    """
    if document.run.state is RunState.SUCCESS and document.release.outcome is not ReleaseOutcome.FAILED:
        return ()
    if document.release.outcome in _LEFT:
        return (ErrorCode.RUN_ENDED,)
    return (ErrorCode.RUN_ENDED, ErrorCode.ABANDONED)


def _limit_flaws(document: RunDocument) -> Iterator[Flaw]:
    run = document.run
    # What is charged after its end can still pass a limit of tokens, and ends nothing.
    all_settled = run.state is RunState.SUCCESS and not run.in_flight
    for number, counter in enumerate(run.usage):
        enforced = all_settled or counter.name in _ENFORCED
        if enforced and counter.limit is not None and counter.used > counter.limit:
            place = f"run.usage[{number}].used"
            yield Flaw(FlawCode.OVER_THE_LIMIT, place, str(counter.used), str(counter.limit))


def _own_account_flaws(document: RunDocument, counted: Mapping[_Key, Counter]) -> Iterator[Flaw]:
    """A run that released something must have every counter, with matching sums.

    Each charged call left a record, and each byte of evidence is in one, unless a store lost it.
    """
    for name in RUN_COUNTERS:
        if (name, None) not in counted:
            yield Flaw(FlawCode.COUNTED_TOO_LITTLE, "run.usage", "0", name)
            return
    used = {key: counter.used for key, counter in counted.items()}
    by_tool = {tool: count for (name, tool), count in used.items() if name == "tool_calls" and tool}
    records = Calls(record.tool for record in document.records)
    most: dict[_Key, int] = {("tool_calls", tool): records[tool] for tool in by_tool}
    most["tool_calls", None] = min(sum(by_tool.values()), records.total())
    most["total_tokens", None] = used["input_tokens", None] + used["output_tokens", None]
    if all(record.status is InvocationStatus.READY for record in document.records):
        most["run_bytes", None] = sum(record.size_bytes for record in document.records)
    if _plays_without_llm(document, counted):
        most["llm_calls", None] = len(_attempts(document))
    for number, counter in enumerate(document.run.usage):
        bound = most.get((counter.name, counter.tool))
        if bound is not None and counter.used > bound:
            place = f"run.usage[{number}].used"
            yield Flaw(FlawCode.COUNTED_TOO_MUCH, place, str(counter.used), str(bound))
    if used["total_tokens", None] < most["total_tokens", None]:
        stated, due = str(used["total_tokens", None]), str(most["total_tokens", None])
        yield Flaw(FlawCode.COUNTED_TOO_LITTLE, "run.usage", stated, due)
    if document.run.usage_estimated and not used["total_tokens", None]:
        # Usage that nobody reported is charged as at least one token.
        yield Flaw(FlawCode.COUNTED_TOO_LITTLE, "run.usage_estimated", "0", "1")


def _plays_without_llm(document: RunDocument, counted: Mapping[_Key, Counter]) -> bool:
    """Whether no player called a language model and none was interrupted, so that each call is an attempt."""
    asked = any(line.name is TraceName.LLM_CALL for line in document.trace)
    has_data = any(line.data is not None for line in document.trace)
    ended_well = document.run.state is RunState.SUCCESS
    return has_data and ended_well and not asked and not counted["total_tokens", None].used


def _trace_flaws(document: RunDocument, counted: Mapping[_Key, Counter]) -> Iterator[Flaw]:
    """The limits in the first line of the trace and the counters in its last one must be the run's.

    A call in flight may still be charged after the last line, and the counters of a dead process are lost.
    """
    run = document.run
    lost = document.release.outcome not in _LEFT and run.usage_estimated
    for place, line in enumerate(document.trace):
        data = line.data or {}
        reported: dict[str, object] = {}
        own: dict[str, int | None] = {}
        if line.name is TraceName.RUN_STARTED and isinstance(limits := data.get("limits"), Mapping):
            reported = {name: limits.get(name) for name in _LIMITS_REPORTED}
            own = {name: counter.limit for (name, tool), counter in counted.items() if tool is None}
        elif line.name is TraceName.RUN_FINISHED and not (run.in_flight or lost):
            reported = {name: data[name] for name in _USE_REPORTED if name in data}
            own = {name: counter.used for (name, tool), counter in counted.items() if tool is None}
        for name, value in reported.items():
            if own.get(name) is not None and own[name] != value:
                yield Flaw(FlawCode.TRACE_DIFFERS, f"trace[{place}].data.{name}", str(value), str(own[name]))
