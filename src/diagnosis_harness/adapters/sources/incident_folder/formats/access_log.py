"""Access logs of nginx, Apache and Envoy: one request per line, read as log lines and as rates per minute."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Final

import numpy as np

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
from diagnosis_harness.adapters.sources.incident_folder.formats.text_log import entity_of_file
from diagnosis_harness.adapters.sources.incident_folder.listing import Role
from diagnosis_harness.toolbox.ports import UNNAMED_ENTITY

_COMMON: Final = re.compile(
    r"(?:(?P<vhost>\S+) )?\S+ \S+ \S+ \[(?P<time>\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4})\] "
    r'(?P<request>"[^"]*") (?P<status>\d{3}) (?P<rest>.*)'
)
_ENVOY: Final = re.compile(
    r'\[(?P<time>\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z)\] (?P<request>"[^"]*") (?P<status>\d{3}) '
    r"(?P<rest>.*)"
)
_INGRESS: Final = re.compile(r" \d+ (?P<took>\d+\.\d+) \[(?P<whose>[^\]\s]+?)(?:-\w+)?\] \[[^\]]*\] ")
"""What the ingress controller of nginx adds: a request took so many seconds, `[namespace-service-port]`."""
_ASKED_HOST: Final = re.compile(r'(?P<took>\d+) (?:\d+|-) "[^"]*" "[^"]*" "[^"]*" "(?P<whose>[^"]*)" "[^"]*"')
"""What Envoy adds: milliseconds, and behind three texts the host that was asked."""
_ADDITIONS: Final = ((_INGRESS, 1.0), (_ASKED_HOST, 1e-3))
_HOST: Final = re.compile(r"(?P<name>[A-Za-z][\w.-]*?)(?:@\w+|:\d+)?")
_IN_CLUSTER: Final = re.compile(r"(?P<name>[^.]+)\.[^.]+\.svc(?:\..+)?")
_MINUTE_S: Final = 60
_OWNER_LINES: Final = 5_000
"""Lines that are asked whose they are: a server that writes hosts has written some by then."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request of an access log."""

    time_s: float
    entity: str | None
    status: str
    text: str
    """The request and its answer, as the log writes them."""
    duration_s: float | None = None


def _reader(key: str, shown: str, pattern: re.Pattern[str]) -> FileReader:
    def recognises(head: FileHead) -> bool:
        lines = head.lines[:10]
        return bool(lines) and sum(1 for line in lines if pattern.match(line)) * 2 > len(lines)

    def read(content: FileContent) -> Iterable[RoleRows]:
        return rows_of_requests(lambda: _requests(content, pattern, entity_of_file(content.stem)))

    return FileReader(key, shown, recognises, read, is_text=True)


def rows_of_requests(requests: Callable[[], Iterable[Request]]) -> Iterable[RoleRows]:
    """Requests as log lines, and their rates by the minute; each takes one pass over the file."""
    owned = any(one.entity for one in islice(requests(), _OWNER_LINES))
    remark = "" if owned else "whose is not known: name the file after its service, as in cart-access.log"
    yield RoleRows(Role.LOGS, LOG_COLUMNS, map(_line, requests()), remark)
    yield RoleRows(Role.METRICS, METRIC_COLUMNS, _rates(requests()), "rates by the minute")


def service_of_host(text: str | None) -> str | None:
    """The name of a host or virtual server without its port, `cart` for `cart.shop.svc.cluster.local:80`.

    None for an address, since it names no service.
    """
    host = _HOST.fullmatch(text or "")
    inside = None if host is None else _IN_CLUSTER.fullmatch(host["name"])
    found = inside or host
    return None if found is None else found["name"]


def _requests(content: FileContent, pattern: re.Pattern[str], entity: str | None) -> Iterator[Request]:
    for line in content.lines():
        match = pattern.match(line)
        time_s = None if match is None else seconds_of(match["time"])
        if match is not None and time_s is not None:
            text = f"{match['request']} {match['status']} {match['rest']}"
            told = service_of_host(match.groupdict().get("vhost"))
            host, took_s = _extras(match["rest"])
            yield Request(time_s, told or host or entity, match["status"], text, took_s)


def _extras(rest: str) -> tuple[str | None, float | None]:
    """Whose a request was and how long it took, where a proxy adds both to the usual fields."""
    for pattern, unit_s in _ADDITIONS:
        found = pattern.search(rest)
        if found is not None:
            return service_of_host(found["whose"]), float(found["took"]) * unit_s
    return None, None


def _line(one: Request) -> LogRow:
    level = "ERROR" if one.status >= "500" else "WARN" if one.status >= "400" else "INFO"
    return one.time_s, one.entity, level, one.text


@dataclass(slots=True)
class _Minute:
    """The requests to one service in one minute."""

    requests: int = 0
    failed: int = 0
    durations_s: array[float] = field(default_factory=lambda: array("d"))


def _rates(requests: Iterable[Request]) -> Iterator[tuple[Cell, ...]]:
    """Requests per second, share of 5xx and durations, by minute and service.

    The first and the last minute are left out, since they may be incomplete.
    """
    minutes: dict[str, dict[int, _Minute]] = defaultdict(lambda: defaultdict(_Minute))
    for one in requests:
        minute = minutes[one.entity or UNNAMED_ENTITY][int(one.time_s // _MINUTE_S)]
        minute.requests += 1
        minute.failed += one.status >= "500"
        if one.duration_s is not None:
            minute.durations_s.append(one.duration_s)
    times = {time for each in minutes.values() for time in each}
    if len(times) < 3:
        return
    for entity, each in minutes.items():
        for time in range(min(times) + 1, max(times)):
            found, time_s = each.get(time, _Minute()), float(time * _MINUTE_S)
            yield time_s, entity, "requests_per_second", found.requests / _MINUTE_S, "1/s"
            if found.requests:
                yield time_s, entity, "errors_5xx_ratio", found.failed / found.requests, "ratio"
            if found.durations_s:
                yield time_s, entity, "latency_mean", float(np.mean(found.durations_s)), "s"
                yield time_s, entity, "latency_p95", float(np.quantile(found.durations_s, 0.95)), "s"


def seconds_of(text: str) -> float | None:
    """Epoch seconds of a time in the form of access logs, or of ISO 8601."""
    if text[2:3] != "/":
        return iso_seconds(text)
    try:
        return datetime.strptime(text, "%d/%b/%Y:%H:%M:%S %z").timestamp()
    except ValueError:
        return None


ACCESS_LOG_READERS: Final = (
    _reader("access-log", "an access log", _COMMON),
    _reader("envoy", "an access log of Envoy", _ENVOY),
)
