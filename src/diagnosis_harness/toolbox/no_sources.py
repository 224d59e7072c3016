"""Empty sources, for a run with only custom tools or with none."""

from __future__ import annotations

from typing import Final

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.ports import Sources, SourceSummary


class _EmptySource:
    def summary(self, ctx: RunContext) -> SourceSummary:
        """A summary without any telemetry."""
        del ctx
        return SourceSummary("")


NO_SOURCES: Final = Sources(summary=_EmptySource())
