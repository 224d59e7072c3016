"""Platform reports about the objects of one source, by kind."""

from __future__ import annotations

from diagnosis_harness.analysis.platform_history import EventReport, Occurrence, Snapshot, occurrences
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.ports import PlatformSource, SourceSummary


def platform_occurrences(
    ctx: RunContext, platform: PlatformSource, summary: SourceSummary
) -> tuple[Occurrence, ...]:
    """Every report of a known kind, current ones first; see `occurrences`."""
    events, states = platform.events(ctx), platform.states(ctx)
    ends = [event.last_s for event in events] + [state.time_s for state in states]
    if summary.incident is not None:
        ends.append(summary.incident.end_s)
    return occurrences(
        (
            EventReport(each.entity, each.reason, each.message, each.count, each.first_s, each.last_s)
            for each in events
        ),
        (Snapshot(each.entity, each.time_s, each.message) for each in states),
        end_s=max(ends, default=0.0),
    )
