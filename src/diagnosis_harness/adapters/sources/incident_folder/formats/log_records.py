"""Log lines as JSON: Loki, journald, Elasticsearch, CloudWatch, Google Cloud, Datadog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    LOG_COLUMNS,
    Cell,
    FileContent,
    FileHead,
    FileReader,
    Record,
    RoleRows,
    at,
    epoch_seconds,
    list_at,
    string_at,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.series_names import name_series
from diagnosis_harness.adapters.sources.incident_folder.listing import Role

_TIMES: Final = ("@timestamp", "timestamp", "time", "ts", "eventTime", "receiveTimestamp", "date")
_ENTITIES: Final = (
    "service.name", "service", "app", "application", "kubernetes.labels.app", "kubernetes.deployment.name",
    "kubernetes.container.name", "kubernetes.container_name", "resource.labels.service_name",
    "resource.labels.container_name", "container.name", "container_name", "kubernetes.pod.name",
    "kubernetes.pod_name", "resource.labels.pod_name", "resource.labels.module_id", "logGroup", "host.name",
    "host", "logStreamName",
)  # fmt: skip
_LEVELS: Final = ("log.level", "level", "severity", "status", "levelname", "log_level")
_MESSAGES: Final = (
    "message", "msg", "log", "textPayload", "jsonPayload.message", "jsonPayload.msg", "body", "@message",
    "line", "event.original", "text",
)  # fmt: skip
PRIORITIES: Final = ("EMERG", "ALERT", "CRIT", "ERROR", "WARNING", "NOTICE", "INFO", "DEBUG")
"""The priorities of syslog, from 0 on."""

LogRow = tuple[Cell, ...]


def log_row(record: Record) -> LogRow | None:
    """A log line from a record with the usual names, flat or nested; None if it has no time."""
    time_s = epoch_seconds(record_field(record, _TIMES))
    if time_s is None:
        return None
    message = record_field(record, _MESSAGES)
    return time_s, record_field(record, _ENTITIES), record_field(record, _LEVELS), message or ""


def record_field(record: Record, names: Iterable[str]) -> str | None:
    """The first field of these names that the record has; dots are part of a key or separate nested keys."""
    for name in names:
        plain = record.get(name)
        if isinstance(plain, str | int | float) and plain != "":
            return str(plain)
        found = string_at(record, name)
        if found is not None:
            return found
    return None


def _reader(
    key: str, shown: str, path: tuple[str, ...], *, inner: str | None = None, needs: tuple[str, ...] = ()
) -> FileReader:
    """A reader of the records in the list at a path of one object; each record is under its key `inner`."""

    def recognises(head: FileHead) -> bool:
        return any(_is_one(one, path, inner, needs) for one in head.objects[:1])

    def rows(content: FileContent) -> Iterator[LogRow]:
        for page in content.records():
            for entry in list_at(page, *path):
                record = at(entry, inner) if inner else entry
                row = log_row(record) if isinstance(record, dict) else None
                if row is not None:
                    yield row

    def read(content: FileContent) -> Iterable[RoleRows]:
        return [RoleRows(Role.LOGS, LOG_COLUMNS, rows(content))]

    return FileReader(key, shown, recognises, read)


def _is_one(document: Record, path: tuple[str, ...], inner: str | None, needs: tuple[str, ...]) -> bool:
    entries = list_at(document, *path)
    first = at(entries[0], inner) if entries and inner else entries[0] if entries else None
    return isinstance(first, dict) and all(key in first for key in needs)


def _is_loki(head: FileHead) -> bool:
    return any(at(one, "data", "resultType") == "streams" for one in head.objects)


def _read_loki(content: FileContent) -> Iterable[RoleRows]:
    def rows() -> Iterator[LogRow]:
        for page in content.records():
            for stream in list_at(page, "data", "result"):
                labels = at(stream, "stream")
                known = (
                    {str(key): str(value) for key, value in labels.items()}
                    if isinstance(labels, dict)
                    else {}
                )
                for entry in list_at(stream, "values"):
                    time_s = epoch_seconds(at(entry, 0))
                    if time_s is not None:
                        yield time_s, entity_of_labels(known), level_of_labels(known), str(at(entry, 1))

    return [RoleRows(Role.LOGS, LOG_COLUMNS, rows())]


def entity_of_labels(labels: Mapping[str, str]) -> str | None:
    """The service or instance that the labels of a log stream name; None if they name none."""
    named = name_series([labels]).names[0].entity if labels else ""
    return named if named not in {"", "system"} else None


def level_of_labels(labels: Mapping[str, str]) -> str | None:
    """The level among the labels of a log stream."""
    return next((labels[key] for key in ("level", "detected_level", "severity") if labels.get(key)), None)


def _is_journal(head: FileHead) -> bool:
    return head.each_has("__REALTIME_TIMESTAMP")


def _read_journal(content: FileContent) -> Iterable[RoleRows]:
    return [RoleRows(Role.LOGS, LOG_COLUMNS, (_journal_row(record) for record in content.records()))]


def _journal_row(record: Record) -> LogRow:
    unit = string_at(record, "_SYSTEMD_UNIT", "UNIT", "SYSLOG_IDENTIFIER", "_COMM")
    entity = string_at(record, "CONTAINER_NAME") or (unit.removesuffix(".service") if unit else None)
    message = record.get("MESSAGE")
    if isinstance(message, list):  # bytes that are no UTF-8
        message = bytes(byte for byte in message if isinstance(byte, int) and 0 <= byte < 256).decode(
            errors="replace"
        )
    priority = string_at(record, "PRIORITY") or ""
    level = PRIORITIES[int(priority)] if priority.isdecimal() and int(priority) < len(PRIORITIES) else None
    return epoch_seconds(record.get("__REALTIME_TIMESTAMP")), entity, level, str(message or "")


def _is_insights(head: FileHead) -> bool:
    fields = at(head.lone, "results", 0)
    return isinstance(fields, list) and any(at(one, "field") == "@timestamp" for one in fields)


def _read_insights(content: FileContent) -> Iterable[RoleRows]:
    def rows() -> Iterator[LogRow]:
        for page in content.records():
            for fields in list_at(page, "results"):
                record = {str(at(one, "field")): at(one, "value") for one in fields}
                record.setdefault("service", record.get("@logStream"))
                row = log_row(record)
                if row is not None:
                    yield row

    return [RoleRows(Role.LOGS, LOG_COLUMNS, rows())]


LOG_RECORD_READERS: Final = (
    FileReader("loki", "an answer of the Loki API", _is_loki, _read_loki),
    FileReader("journald", "journalctl -o json", _is_journal, _read_journal),
    _reader("elasticsearch", "an answer of Elasticsearch", ("hits", "hits"), inner="_source"),
    FileReader("logs-insights", "a result of CloudWatch Logs Insights", _is_insights, _read_insights),
    _reader("cloudwatch-logs", "events of CloudWatch Logs", ("events",), needs=("timestamp", "message")),
    _reader("log-list", "a list of log lines", ("logs",), needs=("timestamp", "message")),
    _reader("gcp-logging", "entries of Google Cloud Logging", ("entries",), needs=("timestamp", "logName")),
    _reader("datadog-logs", "logs of Datadog", ("data",), inner="attributes", needs=("message", "timestamp")),
)
