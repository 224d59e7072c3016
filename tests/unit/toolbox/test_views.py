"""What the tools of one run share, from several threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from tests.support.small_incident import CPU_FAULT, small_incident

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.toolbox.ports import SourceSummary, SummarySource
from diagnosis_harness.toolbox.views import Views


class SlowSummary:
    """Counts who reads it; the first reading lasts until a second one has begun, or a moment has passed."""

    def __init__(self, inner: SummarySource) -> None:
        self._inner = inner
        self._second = threading.Event()
        self.readings = 0

    def summary(self, ctx: RunContext) -> SourceSummary:
        """The summary, and time enough for somebody else to ask for it too."""
        self.readings += 1
        if self.readings > 1:
            self._second.set()
        self._second.wait(0.2)
        return self._inner.summary(ctx)


def test_two_threads_that_ask_for_the_onset_have_it_found_once(ctx: RunContext) -> None:
    """The second waits for what the first finds, and gets the same."""
    sources = small_incident(CPU_FAULT).sources()
    alone, shared = SlowSummary(sources.summary), SlowSummary(sources.summary)
    expected = Views(replace(sources, summary=alone)).onset(ctx, None)
    views = Views(replace(sources, summary=shared))

    with ThreadPoolExecutor(2) as threads:
        asked = [threads.submit(views.onset, ctx, None) for _ in range(2)]
        first, second = (one.result() for one in asked)

    assert first is second
    assert first == expected
    assert shared.readings == alone.readings
