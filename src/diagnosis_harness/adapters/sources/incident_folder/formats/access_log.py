"""Access logs of nginx, Apache and Envoy: one request per line, read as log lines and as rates per minute."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.log_records import LogRow
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    LOG_COLUMNS,
    METRIC_COLUMNS,
    Cell,
    FileContent,
    FileHead,
    FileReader,
    RoleRows,
    iso_seconds,
)
from diagnosis_harness.adapters.sources.incident_folder.listing import Role

_COMMON: Final = re.compile(
    r"(?:\S+ )?\S+ \S+ \S+ \[(?P<time>\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4})\] "
    r'(?P<request>"[^"]*") (?P<status>\d{3}) (?P<rest>.*)'
)
_ENVOY: Final = re.compile(
    r'\[(?P<time>\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)\] (?P<request>"[^"]*") (?P<status>\d{3}) '
    r"(?P<rest>.*)"
)
_MINUTE_S: Final = 60


def _reader(key: str, shown: str, pattern: re.Pattern[str]) -> FileReader:
    def recognises(head: FileHead) -> bool:
        lines = head.lines[:10]
        return bool(lines) and sum(1 for line in lines if pattern.match(line)) * 2 > len(lines)

    def read(content: FileContent) -> Iterable[RoleRows]:
        entity = content.stem or key
        yield RoleRows(Role.LOGS, LOG_COLUMNS, _lines(content, pattern, entity))
        yield RoleRows(Role.METRICS, METRIC_COLUMNS, _rates(content, pattern, entity), "rates by the minute")

    return FileReader(key, shown, recognises, read, is_text=True)


def _requests(content: FileContent, pattern: re.Pattern[str]) -> Iterator[tuple[float, re.Match[str]]]:
    for line in content.lines():
        match = pattern.match(line)
        time_s = None if match is None else _seconds(match["time"])
        if match is not None and time_s is not None:
            yield time_s, match


def _lines(content: FileContent, pattern: re.Pattern[str], entity: str) -> Iterator[LogRow]:
    for time_s, match in _requests(content, pattern):
        status = match["status"]
        level = "ERROR" if status >= "500" else "WARN" if status >= "400" else "INFO"
        yield time_s, entity, level, f"{match['request']} {status} {match['rest']}"


def _rates(content: FileContent, pattern: re.Pattern[str], entity: str) -> Iterator[tuple[Cell, ...]]:
    """Requests per second and share of 5xx, by minute, without the first and last, which may be partial."""
    requests: Counter[int] = Counter()
    failed: Counter[int] = Counter()
    for time_s, match in _requests(content, pattern):
        minute = int(time_s // _MINUTE_S)
        requests[minute] += 1
        failed[minute] += match["status"] >= "500"
    if len(requests) < 3:
        return
    for minute in range(min(requests) + 1, max(requests)):
        time_s = float(minute * _MINUTE_S)
        count = requests[minute]
        yield time_s, entity, "requests_per_second", count / _MINUTE_S, "1/s"
        if count:
            yield time_s, entity, "errors_5xx_ratio", failed[minute] / count, "ratio"


def _seconds(text: str) -> float | None:
    if text[2] != "/":
        return iso_seconds(text)
    try:
        return datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z").timestamp()
    except ValueError:
        return None


ACCESS_LOG_READERS: Final = (
    _reader("access-log", "an access log", _COMMON),
    _reader("envoy", "an access log of Envoy", _ENVOY),
)
