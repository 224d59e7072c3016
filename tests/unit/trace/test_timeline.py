"""The timeline of a run: every moment kept in order, time shared out among phases, one verdict a phase."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.trace.event import TraceEventStatus as Status
from diagnosis_harness.trace.event import TraceName as Name
from diagnosis_harness.trace.event import TracePhase as Phase
from diagnosis_harness.trace.timeline import PhaseVerdict, Timeline, TimelineEvent, fold

MOMENTS = st.lists(
    st.builds(
        TimelineEvent,
        st.integers(0, 100).map(float),
        st.sampled_from(Name),
        st.sampled_from(Phase),
        st.sampled_from(Status),
    )
)


def at(at_s: float, phase: Phase, name: Name, status: Status = Status.SUCCEEDED) -> TimelineEvent:
    """A moment, briefly."""
    return TimelineEvent(at_s, name, phase, status)


def seconds_by_phase(timeline: Timeline) -> dict[Phase, float]:
    """Seconds by phase."""
    return {account.phase: account.duration_s for account in timeline.phases}


def verdict(phase: Phase, *told: tuple[Name, Status]) -> PhaseVerdict:
    """What the fold makes of one phase's events."""
    (account,) = fold(at(0.0, phase, name, status) for name, status in told).phases
    return account.verdict


@given(MOMENTS)
def test_nothing_is_lost_or_moved(moments: list[TimelineEvent]) -> None:
    """The stretches joined are the moments; neighbouring stretches are of different phases."""
    timeline = fold(moments)

    assert [each for stretch in timeline.stretches for each in stretch.moments] == moments
    phases = [stretch.phase for stretch in timeline.stretches]
    assert all(one is not other for one, other in pairwise(phases))
    assert sum(account.moments for account in timeline.phases) == len(moments)


@given(MOMENTS.map(lambda moments: sorted(moments, key=lambda moment: moment.at_s)))
def test_the_time_of_all_phases_is_the_time_of_the_run(moments: list[TimelineEvent]) -> None:
    """Not a second is counted twice or dropped."""
    timeline = fold(moments)

    assert timeline.duration_s == (moments[-1].at_s - moments[0].at_s if moments else 0.0)
    assert sum(seconds_by_phase(timeline).values()) == timeline.duration_s


@given(MOMENTS)
def test_no_phase_takes_negative_time(moments: list[TimelineEvent]) -> None:
    """Also where a clock was set back."""
    assert all(seconds >= 0 for seconds in seconds_by_phase(fold(moments)).values())


def test_time_belongs_to_the_phase_that_reports_its_work() -> None:
    """A guard reports when it has finished; the wait before its word was its own."""
    timeline = fold(
        [
            at(0.0, Phase.RUN, Name.STATUS, Status.STARTED),
            at(3.0, Phase.GUARD, Name.EVIDENCE_GUARD_INITIAL),
            at(4.0, Phase.AGENT, Name.AGENT_MODEL_STEP, Status.STARTED),
        ]
    )

    assert seconds_by_phase(timeline) == {Phase.RUN: 0.0, Phase.GUARD: 4.0, Phase.AGENT: 0.0}


def test_a_run_that_ends_in_a_tool_charges_the_tool() -> None:
    """The deadline's event is the run's; the minute was the tool's."""
    timeline = fold(
        [
            at(0.0, Phase.TOOL, Name.TOOL_INVOCATION, Status.STARTED),
            at(60.0, Phase.RUN, Name.RUN_ENDED, Status.FAILED),
        ]
    )

    assert seconds_by_phase(timeline) == {Phase.TOOL: 60.0, Phase.RUN: 0.0}


@pytest.mark.parametrize(
    ("phase", "events", "expected"),
    [
        (Phase.TOOL, [(Name.TOOL_INVOCATION, Status.STARTED)], PhaseVerdict.OPEN),
        (Phase.TOOL, [(Name.TOOL_REQUEST_REJECTED, Status.REJECTED)], PhaseVerdict.REFUSED),
        (
            Phase.TOOL,
            [(Name.TOOL_INVOCATION, Status.SUCCEEDED), (Name.TOOL_INVOCATION, Status.FAILED)],
            PhaseVerdict.PARTLY,
        ),
        (
            Phase.TOOL,
            [(Name.TOOL_INVOCATION, Status.FAILED), (Name.TOOL_REQUEST_REJECTED, Status.REJECTED)],
            PhaseVerdict.FAILED,
        ),
        (
            Phase.GUARD,
            [(Name.EVIDENCE_GUARD_INITIAL, Status.REJECTED), (Name.EVIDENCE_GUARD_RECHECK, Status.SUCCEEDED)],
            PhaseVerdict.DONE,
        ),
        (
            Phase.GUARD,
            [
                (Name.EVIDENCE_GUARD_INITIAL, Status.SUCCEEDED),
                (Name.SEMANTIC_GUARD_ATTEMPT, Status.SUCCEEDED),
                (Name.SEMANTIC_GUARD_DECISION, Status.REJECTED),
            ],
            PhaseVerdict.REFUSED,
        ),
        (
            Phase.RUN,
            [(Name.RUN_ENDED, Status.FAILED), (Name.RUN_FINISHED, Status.SUCCEEDED)],
            PhaseVerdict.FAILED,
        ),
        (Phase.ROUTING, [(Name.ROUTING_ATTEMPT, Status.FAILED)], PhaseVerdict.OPEN),
        (Phase.AGENT, [(Name.TOOL_PROGRESS, Status.SKIPPED)], PhaseVerdict.OPEN),
    ],
)
def test_one_verdict_a_phase(phase: Phase, events: list[tuple[Name, Status]], expected: PhaseVerdict) -> None:
    """The last decisive word where a phase has one, else all that it reported."""
    assert verdict(phase, *events) is expected


def test_of_nothing_comes_an_empty_timeline() -> None:
    """A document may carry no trace."""
    assert fold(()) == Timeline(0.0, 0.0, (), ())
