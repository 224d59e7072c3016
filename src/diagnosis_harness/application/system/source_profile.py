"""Builds the profile of a source."""

from __future__ import annotations

import re

from diagnosis_harness.application.system.profile import (
    SERVICES_MAX,
    Holding,
    SourceProfile,
    TelemetryKind,
)
from diagnosis_harness.kernel.masking import mask_or_withhold
from diagnosis_harness.toolbox.inventory import summary_names
from diagnosis_harness.toolbox.ports import SourceSummary


def source_profile(summary: SourceSummary) -> SourceProfile:
    """The profile of a source: the kinds that it contains, and how much of each."""
    counts = {
        TelemetryKind.METRICS: summary.metric_series,
        TelemetryKind.LOGS: summary.log_lines,
        TelemetryKind.SPANS: summary.spans,
        TelemetryKind.TOPOLOGY: summary.edges,
        TelemetryKind.CHANGES: summary.changes,
    }
    services = _services(summary)
    return SourceProfile(
        summary.name,
        tuple(Holding(kind, count) for kind, count in counts.items() if count > 0),
        summary.incident,
        services=services[:SERVICES_MAX],
        services_count=len(services),
    )


def _services(summary: SourceSummary) -> tuple[str, ...]:
    """The names without those of instances: `cart-7f9c4` is a part of `cart`."""
    known = {mask_or_withhold(name) for name in summary_names(summary) if "->" not in name}
    return tuple(sorted(name for name in known if not _is_instance(name, known)))


def _is_instance(name: str, known: set[str]) -> bool:
    ends = [found.start() for found in re.finditer("-", name)]
    return any(name[:end] in known and re.search(r"\d", name[end:]) for end in ends)
