"""All readers, in the order in which they are tried; the first one that recognises a file reads it."""

from __future__ import annotations

from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.access_log import ACCESS_LOG_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.alert_records import ALERT_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.change_records import CHANGE_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.change_tables import CHANGE_TABLE_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.cloud_metrics import CLOUD_METRIC_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.cloudwatch_csv import CLOUDWATCH_CSV_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.event_records import EVENT_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.grafana_frames import GRAFANA_FRAME_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.graphite import GRAPHITE_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.json_lines import JSON_LINE_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.kubernetes import KUBERNETES_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.kubernetes_describe import (
    DESCRIBE_READERS,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.log_records import LOG_RECORD_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.otlp import OTLP_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.prometheus import PROMETHEUS_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import FileHead, FileReader
from diagnosis_harness.adapters.sources.incident_folder.formats.sar_text import SAR_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.saved_answers import SAVED_ANSWER_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.series_exports import (
    SERIES_EXPORT_READERS,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.spans import SPAN_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.sysstat import SYSSTAT_READERS
from diagnosis_harness.adapters.sources.incident_folder.formats.text_log import TEXT_LOG_READERS
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME
from diagnosis_harness.kernel.errors import InvalidInput

TABLE_FORMAT: Final = "table"
"""The `format` of a file that is a table, whatever its content resembles."""

READERS: Final[tuple[FileReader, ...]] = (
    *PROMETHEUS_READERS,
    *OTLP_READERS,
    *SPAN_READERS,
    *CLOUD_METRIC_READERS,
    *CLOUDWATCH_CSV_READERS,
    *GRAFANA_FRAME_READERS,
    *GRAPHITE_READERS,
    *SERIES_EXPORT_READERS,
    *SYSSTAT_READERS,
    *SAR_READERS,
    *LOG_RECORD_READERS,
    *JSON_LINE_READERS,
    *KUBERNETES_READERS,
    *DESCRIBE_READERS,
    *CHANGE_READERS,
    *CHANGE_TABLE_READERS,
    *EVENT_READERS,
    *ALERT_READERS,
    *SAVED_ANSWER_READERS,
    *ACCESS_LOG_READERS,
    *TEXT_LOG_READERS,  # last, since many other formats have lines that begin with a time
)


def reader_for(head: FileHead, stated: str | None, *, is_table: bool) -> FileReader | None:
    """The reader that incident.toml names by `format`, else the first that recognises the file, else None.

    Args:
        is_table: whether the file has the extension of a table.

    Raises:
        InvalidInput: incident.toml names a format that does not exist.
    """
    if stated == TABLE_FORMAT:
        return None
    if stated is not None:
        named = next((reader for reader in READERS if reader.key == stated), None)
        if named is None:
            keys = ", ".join((*sorted(reader.key for reader in READERS), TABLE_FORMAT))
            raise InvalidInput(
                f"{SETTINGS_NAME} [files.{head.name!r}]",
                f"there is no format {stated!r}",
                f"use one of: {keys}",
            )
        return named
    asked = (reader for reader in READERS if not (is_table and reader.is_text))
    return next((reader for reader in asked if reader.recognises(head)), None)
