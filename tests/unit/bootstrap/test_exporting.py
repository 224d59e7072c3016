"""What this process closed without having worked on it is exported like what it worked on."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.support.scripted_chat import open_chat

from diagnosis_harness.adapters.persistence.archive import SqlRunArchive
from diagnosis_harness.application.runs.closed_runs import ClosedRuns
from diagnosis_harness.application.runs.row import CancelRequest
from diagnosis_harness.bootstrap.telemetry import exporting
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.settings import load_settings


def test_a_run_that_ends_in_the_queue_is_exported(tmp_path: Path) -> None:
    """Here to a backend where nobody listens, so it is counted as tried, once."""

    async def story() -> None:
        settings = load_settings()
        telemetry = settings.telemetry.model_copy(update={"endpoint": "http://127.0.0.1:9"})
        settings = settings.model_copy(update={"telemetry": telemetry})
        async with open_chat(tmp_path) as kept:
            closed = ClosedRuns()
            archive = SqlRunArchive(kept.database, closed=closed)
            request = kept.request()
            await archive.submit(request)
            async with exporting(settings, archive=archive, feed=kept.log, closed=closed) as exporter:
                assert exporter is not None
                for _ in range(2):
                    await archive.request_cancel(
                        request.run_id, CancelRequest(CancellationReason.USER_REQUESTED, 1.0)
                    )
            assert exporter.counts.by_result() == {"sent": 0, "failed": 1, "dropped": 0}

    asyncio.run(story())
