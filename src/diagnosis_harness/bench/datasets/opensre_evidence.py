"""The evidence files of an OpenSRE incident as files of an incident folder, one role each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from diagnosis_harness.bench.datasets.folder import JsonRow, write_csv, write_jsonl
from diagnosis_harness.bench.datasets.published import REMEDY, read_object, read_objects, text_of
from diagnosis_harness.kernel.errors import InvalidInput

METRICS = "aws_cloudwatch_metrics"
ENVELOPE = f"{METRICS}_envelope.json"
UNITS = {"Percent": "percent", "Seconds": "s", "Bytes": "bytes", "Count": "count"}
LINE_TIME = re.compile(r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\s+(?:(?P<level>[A-Z]+)\s+)?")


@dataclass(frozen=True, slots=True)
class Seen:
    """Names in the evidence: entities, and pods with their workload."""

    entities: frozenset[str]
    owners: Mapping[str, str]


def write_evidence(source: Path, base: Path, folder: Path) -> Seen:
    """Write all evidence of an incident; a missing file is taken from the healthy base.

    Raises:
        InvalidInput: a file is not of the published form.
    """

    def find(name: str) -> Path:
        return source / name if (source / name).exists() else base / name

    insights = find("aws_performance_insights.json")
    metrics = [*_cloudwatch(source, base), *_database_load(insights)]
    if metrics:
        write_csv(folder / "metrics.csv", ("time", "entity", "signal", "value", "unit"), metrics)
    pods = read_objects(find("eks_pods.json"), "pods")
    owners = {str(pod["name"]): workload for pod in pods if (workload := _workload(pod)) is not None}
    logs = [*_logs(find("datadog_logs.json"), owners), *_pod_log(find("eks_pod_logs.json"))]
    events = [*_database_events(find("aws_rds_events.json")), *_cluster_events(find("eks_events.json"))]
    states = [
        *_states("pod", pods),
        *_states("deployment", read_objects(find("eks_deployments.json"), "deployments")),
        *_states("node", read_objects(find("eks_node_health.json"), "nodes")),
        *_monitors(read_objects(find("datadog_monitors.json"), "monitors")),
    ]
    # A snapshot without a time shows how it was at the end of what is recorded.
    end = max((str(row["time"]) for row in [*logs, *events] if row.get("time")), default=None)
    write_jsonl(folder / "logs.jsonl", logs)
    write_jsonl(folder / "events.jsonl", events)
    write_jsonl(folder / "states.jsonl", [{"time": end, **row} for row in states] if end else [])
    write_jsonl(folder / "top_sql.jsonl", _top(insights))
    named = {row[1] for row in metrics} | {str(row["entity"]) for row in [*events, *states]}
    return Seen(entities=frozenset(named), owners=owners)


def _cloudwatch(source: Path, base: Path) -> Iterator[tuple[str, str, str, str, str]]:
    """Points of all series; a metric that is missing from a published list remains missing."""
    for home in (source, base):
        parts = sorted(path for path in home.glob(f"{METRICS}_*.json") if path.name != ENVELOPE)
        whole = home / f"{METRICS}.json"
        found = (
            read_objects(whole, "metric_data_results") if whole.exists() else [read_object(p) for p in parts]
        )
        if found:
            for series in found:
                yield from _points(series, whole.name)
            return


def _points(series: JsonRow, place: str) -> Iterator[tuple[str, str, str, str, str]]:
    dimensions = series.get("dimensions")
    entity = next(
        (str(d["Value"]) for d in dimensions if isinstance(d, dict) and "Value" in d)
        if isinstance(dimensions, list)
        else iter(()),
        "",
    )
    signal, unit = text_of(series, "metric_name"), UNITS.get(str(series.get("unit")), "")
    if not entity or signal is None:
        raise InvalidInput(place, "a series has no instance or no name", REMEDY)
    for time, value in _pairs(series, place):
        yield time, entity, signal, value, unit


def _pairs(series: JsonRow, place: str) -> Iterator[tuple[str, str]]:
    times, values = series.get("timestamps"), series.get("values")
    if not isinstance(times, list) or not isinstance(values, list):
        raise InvalidInput(place, "a series has no timestamps or no values", REMEDY)
    for time, value in zip_longest(times, values):
        if time is not None and value is not None:
            yield str(time), str(value)


def _database_load(path: Path) -> Iterator[tuple[str, str, str, str, str]]:
    if path.exists():
        insights = read_object(path)
        load = insights.get("db_load")
        if isinstance(load, Mapping):
            entity = text_of(insights, "db_instance_identifier") or ""
            for time, value in _pairs(load, path.name):
                yield time, entity, "db_load", value, ""


def _top(path: Path) -> list[JsonRow]:
    """What took the database's time: statements with their waits, then waits, users and hosts."""
    if not path.exists():
        return []
    insights = read_object(path)
    entity = text_of(insights, "db_instance_identifier")
    span = {"start": insights.get("start_time"), "end": insights.get("end_time")}
    return [
        {"kind": kind, "entity": entity, **span, **row}
        for kind, key in (
            ("statement", "top_sql"),
            ("wait", "top_wait_events"),
            ("user", "top_users"),
            ("host", "top_hosts"),
        )
        if key in insights
        for row in read_objects(path, key)
    ]


def _database_events(path: Path) -> Iterator[JsonRow]:
    for row in read_objects(path, "events") if path.exists() else []:
        categories = row.get("event_categories")
        yield {
            "time": row.get("date"),
            "entity": row.get("source_identifier"),
            "kind": row.get("source_type"),
            "reason": ", ".join(str(c) for c in categories) if isinstance(categories, list) else None,
            "message": row.get("message"),
        }


def _cluster_events(path: Path) -> Iterator[JsonRow]:
    for row in read_objects(path, "warning_events") if path.exists() else []:
        kind, _, name = str(row.get("involved_object", "")).partition("/")
        yield {
            "time": row.get("last_time"),
            "entity": name,
            "level": row.get("type"),
            "message": f"{row.get('reason')}: {row.get('message')} ({row.get('count')} times)",
            "kind": kind.lower(),
            "reason": row.get("reason"),
            "count": row.get("count"),
            "first": row.get("first_time"),
            "last": row.get("last_time"),
            "namespace": row.get("namespace"),
        }


def _states(kind: str, rows: Iterable[JsonRow]) -> Iterator[JsonRow]:
    """Each object as published, on one line: what is nested is written as JSON."""
    for row in rows:
        facts = (f"{key}={_flat(value)}" for key, value in row.items() if key != "name")
        yield {"entity": row.get("name"), "kind": kind, "message": f"{kind} {' '.join(facts)}"}


def _monitors(rows: Iterable[JsonRow]) -> Iterator[JsonRow]:
    """A monitor is a state of the service that it watches."""
    for row in rows:
        tags = _tags(row)
        watched = tags.get("service") or tags.get("kube_deployment") or text_of(row, "name")
        message = f"monitor {row.get('name')} is {row.get('overall_state')}: {row.get('query')}"
        yield {"entity": watched, "kind": "monitor", "message": message}


def _flat(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)


def _tags(row: JsonRow) -> dict[str, str]:
    tags = row.get("tags")
    return dict(str(tag).split(":", 1) for tag in tags if ":" in str(tag)) if isinstance(tags, list) else {}


def _workload(pod: JsonRow) -> str | None:
    """The workload of a pod: its container bears the name, and so does the beginning of the pod's own."""
    containers = pod.get("containers")
    first = containers[0] if isinstance(containers, list) and containers else {}
    name = text_of(first, "name") if isinstance(first, Mapping) else None
    return name if name and str(pod.get("name", "")).startswith(f"{name}-") else None


def _logs(path: Path, owners: Mapping[str, str]) -> Iterator[JsonRow]:
    """Lines with the pod that the line names, else with the service."""
    for row in read_objects(path, "logs") if path.exists() else []:
        tagged = _tags(row)
        host = text_of(row, "host")
        pod = tagged.get("pod_name") or (host if host in owners else None)
        yield {
            "time": row.get("timestamp"),
            "entity": pod or row.get("service"),
            "level": row.get("status"),
            "message": row.get("message"),
            "host": None if host in owners else host,
        }


def _pod_log(path: Path) -> Iterator[JsonRow]:
    """The lines of one pod's log; a line without a time has that of the line before."""
    if not path.exists():
        return
    log, time = read_object(path), ""
    for line in str(log.get("logs", "")).splitlines():
        begin = LINE_TIME.match(line)
        time = begin["time"] if begin else time
        if line.strip() and time:
            yield {
                "time": time,
                "entity": log.get("pod_name"),
                "level": begin["level"] if begin else None,
                "message": line[begin.end() :] if begin else line,
                "host": None,
            }
