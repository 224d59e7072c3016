"""Platform answers that tools save as one object: pods, a log as one text, series by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.histograms import LabelledSeries
from diagnosis_harness.adapters.sources.incident_folder.formats.prometheus import rows_of_series
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    LOG_COLUMNS,
    TOPOLOGY_COLUMNS,
    Cell,
    FileContent,
    FileHead,
    FileReader,
    Record,
    RoleRows,
    at,
    epoch_seconds,
    list_at,
    number_of,
    string_at,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.series_names import service_of_pod
from diagnosis_harness.adapters.sources.incident_folder.formats.text_log import text_log_rows
from diagnosis_harness.adapters.sources.incident_folder.listing import Role

_TEXTS: Final = ("logs", "log", "output", "stdout")
_POD_NAMES: Final = ("pod_name", "podName", "pod", "service", "container_name", "container")
_WHOSE: Final = (
    "service", "db_instance_identifier", "DBInstanceIdentifier", "instance", "resource_id", "host",
    "pod_name",
)  # fmt: skip


def _pods_in(document: Record) -> list[Record]:
    """The pods of a document that describes each by a name, a phase and its containers."""
    pods: list[Record] = [one for one in list_at(document, "pods") if isinstance(one, dict)]
    return pods if all("name" in one and "phase" in one for one in pods) else []


def _read_pods(content: FileContent) -> Iterable[RoleRows]:
    pods = [pod for document in content.records() for pod in _pods_in(document)]
    rows = [_pod_row(pod) for pod in pods]
    timed = [row for row in rows if row is not None]
    untimed = len(rows) - len(timed)
    remark = f"{untimed} of {len(rows)} pods left out: nothing says since when they are so" if untimed else ""
    yield RoleRows(Role.STATES, LOG_COLUMNS, timed, remark)
    names = sorted({string_at(pod, "name") or "" for pod in pods})
    parts = [(name, service_of_pod(name), "part_of") for name in names if service_of_pod(name) != name]
    if parts:
        yield RoleRows(Role.TOPOLOGY, TOPOLOGY_COLUMNS, parts)


def _pod_row(pod: Record) -> tuple[Cell, ...] | None:
    """The state of a pod and its start; None if nothing says when it began.

    A pending pod has been so since its start, a running one since its last container started; a container
    that waits after it has run has no time.
    """
    phase, started = string_at(pod, "phase") or "", string_at(pod, "start_time", "startTime")
    containers = list_at(pod, "containers")
    reasons = [text for one in containers if (text := _trouble(one))]
    reasons += [
        f"{string_at(one, 'reason') or 'Unschedulable'}: {string_at(one, 'message') or ''}"
        for one in list_at(pod, "conditions")
        if string_at(one, "type") == "PodScheduled" and string_at(one, "status") == "False"
    ]
    since = epoch_seconds(started)
    if phase != "Pending":
        starts = (string_at(one, "state.started_at", "state.startedAt") for one in containers)
        running = [epoch_seconds(start) for start in starts]
        known = [time_s for time_s in running if time_s is not None]
        since = (
            None if reasons or phase != "Running" or len(known) < len(running) else max(known, default=since)
        )
    if since is None:
        return None
    text = f"{phase}: {'; '.join(reasons) or 'pod'}"
    return since, string_at(pod, "name"), "INFO" if phase == "Running" else "WARN", text


def _trouble(container: object) -> str | None:
    reason = string_at(container, "state.reason", "state.waiting.reason", "state.terminated.reason")
    if reason in {None, "Completed"} and not at(container, "state", "waiting"):
        return None
    message = string_at(container, "state.message", "state.waiting.message") or ""
    return f"{reason or 'Waiting'}: container {string_at(container, 'name')}: {message}".rstrip(": ")


def _text_in(document: Record) -> str | None:
    """The log that a document contains as one text of several lines; None if it contains none."""
    texts = (document.get(key) for key in _TEXTS)
    return next((text for text in texts if isinstance(text, str) and "\n" in text.strip()), None)


def _is_text(head: FileHead) -> bool:
    text = _text_in(head.lone)
    return text is not None and any(text_log_rows(text.split("\n"), entity=None, year=1970))


def _read_text(content: FileContent) -> Iterable[RoleRows]:
    for document in content.records():
        text = _text_in(document) or ""
        lines, whose = text.split("\n"), string_at(document, *_POD_NAMES)
        rows = text_log_rows(lines, entity=whose or content.stem, year=content.changed_year)
        yield RoleRows(Role.LOGS, LOG_COLUMNS, rows)
        if whose is not None and service_of_pod(whose) != whose:
            yield RoleRows(Role.TOPOLOGY, TOPOLOGY_COLUMNS, [(whose, service_of_pod(whose), "part_of")])


def _series_in(document: Record, stem: str) -> Iterator[LabelledSeries]:
    """Series at keys with as many times as values, and the series of Performance Insights."""
    whose = string_at(document, *_WHOSE) or stem
    for key, value in document.items():
        times, values = list_at(value, "timestamps"), list_at(value, "values")
        if times and len(times) == len(values):
            yield _series(str(key), whose, times, values)
    for one in list_at(document, "MetricList"):
        points = list_at(one, "DataPoints")
        dimensions = at(one, "Key", "Dimensions")
        labels = {str(k): str(v) for k, v in dimensions.items()} if isinstance(dimensions, dict) else {}
        name, owner = string_at(one, "Key.Metric") or "value", string_at(document, "Identifier") or whose
        times, values = [at(point, "Timestamp") for point in points], [at(point, "Value") for point in points]
        found = _series(name, owner, times, values)
        yield LabelledSeries({**labels, **found.labels}, found.points)


def _series(name: str, whose: str, times: list[object], values: list[object]) -> LabelledSeries:
    pairs = ((epoch_seconds(time), number_of(value)) for time, value in zip(times, values, strict=True))
    points = sorted((time_s, value) for time_s, value in pairs if time_s is not None)
    return LabelledSeries({"__name__": name, **({"service": whose} if whose else {})}, tuple(points))


def _read_series(content: FileContent) -> Iterable[RoleRows]:
    series = [one for document in content.records() for one in _series_in(document, content.stem)]
    return rows_of_series(series, unnamed=content.stem or "value")


SAVED_ANSWER_READERS: Final = (
    FileReader(
        "pod-list", "a list of pods with their phase", lambda head: bool(_pods_in(head.lone)), _read_pods
    ),
    FileReader("log-text", "a log as one text", _is_text, _read_text),
    FileReader(
        "named-series",
        "series with their times",
        lambda head: any(one.points for one in _series_in(head.lone, "")),
        _read_series,
    ),
)
