"""Exports the trace of each closed run in the background, without delaying or failing any run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

from diagnosis_harness.application.runs.store import RunArchive
from diagnosis_harness.kernel.errors import TechnicalFailure
from diagnosis_harness.trace.event import TraceEvent, TraceName
from diagnosis_harness.trace.spans import RunSpans, spans_of

WAITING_MAX = 256
"""Runs that may wait for export; with more, the backend cannot keep up."""
_LOG = logging.getLogger("diagnosis_harness.telemetry")


class SpanSender(Protocol):
    """Sends the spans of a run to a backend. It belongs to no run, but serves all after they have ended."""

    async def send(self, run: RunSpans) -> None:
        """Send them once.

        Raises:
            TechnicalFailure: they did not arrive, or not all of them.
        """
        ...

    async def close(self) -> None:
        """Close the connection."""
        ...


@dataclass(slots=True)
class ExportCounts:
    """Runs whose spans arrived, did not, or were dropped because too many were waiting."""

    sent: int = 0
    failed: int = 0
    dropped: int = 0

    def by_result(self) -> Mapping[str, int]:
        """The counts by result."""
        return asdict(self)


class TraceExporter:
    """The exporter of one process and one event loop. It reads stored traces, so it buffers run ids only.

    A run whose export fails is not sent again; `diagnose runs export` can still export it.
    """

    def __init__(self, archive: RunArchive, sender: SpanSender, *, waiting_max: int = WAITING_MAX) -> None:
        self.counts = ExportCounts()
        self._archive = archive
        self._sender = sender
        self._waiting: asyncio.Queue[str] = asyncio.Queue(waiting_max)
        self._work: asyncio.Task[None] | None = None
        self._is_failing = False

    def on_written(self, run_id: str, events: Sequence[TraceEvent]) -> None:
        """Queue the run for export if these events close it (a listener of `RunFeed`)."""
        if any(event.name is TraceName.RUN_FINISHED for event in events):
            self.on_closed(run_id)

    def on_closed(self, run_id: str) -> None:
        """Queue a closed run for export, and return at once."""
        try:
            self._waiting.put_nowait(run_id)
        except asyncio.QueueFull:
            self.counts.dropped += 1

    def start(self) -> None:
        """Begin to export."""
        self._work = asyncio.create_task(self._run())

    async def close(self, *, within_s: float) -> None:
        """Export the queued runs, for at most that time, and close the sender."""
        if self._work is not None:
            rest = asyncio.create_task(self._waiting.join())
            await asyncio.wait((rest, self._work), timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
            for task in (rest, self._work):
                task.cancel()
            await asyncio.gather(rest, self._work, return_exceptions=True)
        await self._sender.close()

    async def _run(self) -> None:
        while True:
            run_id = await self._waiting.get()
            try:
                await self._export(run_id)
            except Exception as error:  # noqa: BLE001 - a boundary: one run's trace must not end the export of all
                self.counts.failed += 1
                _LOG.exception("The trace of run %s is not exported: %s.", run_id, type(error).__name__)
            finally:
                self._waiting.task_done()

    async def _export(self, run_id: str) -> None:
        try:
            run = await self._spans(run_id)
            if run is not None:
                await self._sender.send(run)
        except TechnicalFailure as failure:
            self.counts.failed += 1
            if not self._is_failing:
                _LOG.warning(
                    "Traces cannot be exported: %s. This is logged once until an export succeeds.", failure
                )
            self._is_failing = True
            return
        self.counts.sent += run is not None
        self._is_failing = False

    async def _spans(self, run_id: str) -> RunSpans | None:
        row = await self._archive.run(run_id)
        events: list[TraceEvent] = []
        while page := await self._archive.events(run_id, after_seq=events[-1].seq if events else 0):
            events += page
        if row is None or not events:
            return None
        return spans_of(events, session_id=row.request.session_id)
