"""Exports traces if the settings name a backend for them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from diagnosis_harness.adapters.telemetry.exporter import TraceExporter
from diagnosis_harness.application.runs.closed_runs import ClosedRuns
from diagnosis_harness.application.runs.store import RunArchive, RunFeed
from diagnosis_harness.kernel.errors import InvalidSetting
from diagnosis_harness.settings import Settings


@asynccontextmanager
async def exporting(
    settings: Settings, *, archive: RunArchive, feed: RunFeed, closed: ClosedRuns
) -> AsyncIterator[TraceExporter | None]:
    """Send the trace of every run that this process closes during the body, and all waiting ones at the end.

    Raises:
        InvalidSetting: the endpoint is not a URL, or a required library is not installed.
    """
    telemetry = settings.telemetry
    if not telemetry.endpoint:
        yield None
        return
    try:
        from diagnosis_harness.adapters.telemetry.otlp_http import OtlpHttpSender, OtlpTarget
    except ModuleNotFoundError as error:
        raise InvalidSetting(
            "telemetry.endpoint",
            f"it needs what is not installed ({error.name})",
            "run pip install 'diagnosis-harness[otel]', or leave it empty",
        ) from error
    target = OtlpTarget(
        endpoint=telemetry.endpoint,
        headers=telemetry.headers,
        service=telemetry.service_name,
        version=version("diagnosis-harness"),
        timeout_s=telemetry.timeout_s,
    )
    exporter = TraceExporter(archive, OtlpHttpSender(target))
    exporter.start()
    stops = (
        feed.on_written(exporter.on_written),
        closed.on_closed(lambda row: exporter.on_closed(row.run_id)),
    )
    try:
        yield exporter
    finally:
        for stop_listening in stops:
            stop_listening()
        await exporter.close(within_s=telemetry.timeout_s)
