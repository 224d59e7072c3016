"""A source as the system's profile shows it."""

from __future__ import annotations

from diagnosis_harness.application.system.profile import Holding, SourceProfile, TelemetryKind
from diagnosis_harness.toolbox.ports import SourceSummary


def source_profile(summary: SourceSummary) -> SourceProfile:
    """The profile of a source: the kinds that it really holds, with how much of each."""
    counts = {
        TelemetryKind.METRICS: summary.metric_series,
        TelemetryKind.LOGS: summary.log_lines,
        TelemetryKind.SPANS: summary.spans,
        TelemetryKind.TOPOLOGY: summary.edges,
        TelemetryKind.CHANGES: summary.changes,
    }
    return SourceProfile(
        summary.name,
        tuple(Holding(kind, count) for kind, count in counts.items() if count > 0),
        summary.incident,
    )
