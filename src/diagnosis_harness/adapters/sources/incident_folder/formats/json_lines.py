"""JSON lines with field names of their own: access logs of proxies, and Serilog's compact form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.access_log import (
    Request,
    rows_of_requests,
    seconds_of,
    service_of_host,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.log_records import LogRow, record_field
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    LOG_COLUMNS,
    FileContent,
    FileHead,
    FileReader,
    Record,
    RoleRows,
    epoch_seconds,
    number_of,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.text_log import entity_of_file
from diagnosis_harness.adapters.sources.incident_folder.listing import Role

_TIMES: Final = (
    "start_time", "time_iso8601", "StartUTC", "time_local", "@timestamp", "timestamp", "time", "ts", "msec",
)  # fmt: skip
_STATUSES: Final = (
    "response_code", "DownstreamStatus", "status", "status_code", "http.response.status_code", "response",
)  # fmt: skip
_ASKED: Final = (
    ("request",), ("request_line",), ("method", "path"), ("RequestMethod", "RequestPath"),
    ("request_method", "request_uri"), ("request_method", "uri"), ("method", "uri"), ("method", "url"),
    ("request.method", "request.uri"), ("http.request.method", "url.path"),
)  # fmt: skip
"""Fields that together describe the request; the first pair that a record has is used."""
_WHOSE: Final = (
    "ServiceName", "service.name", "service", "app", "authority", "request.host", "server_name", "http_host",
    "vhost", "host",
)  # fmt: skip
_DURATIONS: Final = (
    ("response_code", "duration", 1e-3), ("DownstreamStatus", "Duration", 1e-9),
    ("request_time", "request_time", 1.0), ("request.uri", "duration", 1.0),
    ("duration_ms", "duration_ms", 1e-3), ("latency_ms", "latency_ms", 1e-3),
)  # fmt: skip
"""A field by which a proxy is known, its field for how long a request took, and seconds in its unit.

Envoy writes milliseconds, Traefik nanoseconds, nginx and Caddy seconds; the unit of others is not known."""
_ADDED: Final = ("upstream_cluster", "upstream_host", "response_flags", "OriginStatus", "upstream_status")
"""Fields that say why a proxy failed."""


def _request(record: Record, stem: str | None) -> Request | None:
    status, time = record_field(record, _STATUSES), record_field(record, _TIMES)
    asked = next((found for names in _ASKED if (found := _fields(record, names))), None)
    if status is None or re.fullmatch(r"[0-5]\d\d|0", status) is None or asked is None or time is None:
        return None
    time_s = seconds_of(time) or epoch_seconds(time)
    if time_s is None:
        return None
    hosts = (service_of_host(record_field(record, (name,))) for name in _WHOSE)
    whose = next((one for one in hosts if one is not None), stem)
    fields = [(name, record_field(record, (name,))) for name in _ADDED]
    added = [f"{name}={value}" for name, value in fields if value not in {None, "-"}]
    return Request(time_s, whose, status, " ".join((asked, status, *added)), _duration_s(record))


def _duration_s(record: Record) -> float | None:
    for proxy, field, unit_s in _DURATIONS:
        duration = number_of(record_field(record, (field,)))
        if duration is not None and record_field(record, (proxy,)) is not None:
            return duration * unit_s
    return None


def _fields(record: Record, names: tuple[str, ...]) -> str | None:
    found = [value for name in names if (value := record_field(record, (name,)))]
    return " ".join(found) if len(found) == len(names) else None


def _is_access_log(head: FileHead) -> bool:
    return bool(head.objects) and all(_request(one, None) is not None for one in head.objects)


def _read_access_log(content: FileContent) -> Iterable[RoleRows]:
    stem = entity_of_file(content.stem)

    def requests() -> Iterator[Request]:
        return (found for record in content.records() if (found := _request(record, stem)) is not None)

    return rows_of_requests(requests)


_HOLE: Final = re.compile(r"\{[@$]?(?P<name>\w+)[^{}]*\}")
_APPLICATIONS: Final = (
    "Application",
    "ApplicationName",
    "ServiceName",
    "service.name",
    "Service",
    "App",
    "SourceContext",
)


def _is_serilog(head: FileHead) -> bool:
    return head.each_has("@t") and all("@mt" in one or "@m" in one for one in head.objects)


def _read_serilog(content: FileContent) -> Iterable[RoleRows]:
    stem = entity_of_file(content.stem)
    return [RoleRows(Role.LOGS, LOG_COLUMNS, (_serilog_row(one, stem) for one in content.records()))]


def _serilog_row(record: Record, stem: str | None) -> LogRow:
    """The message with its properties filled in, and the exception below it; Serilog omits Information."""
    filled = _HOLE.sub(lambda hole: str(record.get(hole["name"], hole[0])), str(record.get("@mt", "")))
    thrown = record.get("@x")
    text = "\n".join(str(part) for part in (record.get("@m", filled), thrown) if part)
    *names, context = _APPLICATIONS
    whose = record_field(record, names) or stem or record_field(record, (context,))
    return epoch_seconds(record.get("@t")), whose, record_field(record, ("@l",)) or "Information", text


JSON_LINE_READERS: Final = (
    FileReader("serilog", "log lines of Serilog", _is_serilog, _read_serilog),
    FileReader("access-log-json", "an access log as JSON", _is_access_log, _read_access_log),
)
