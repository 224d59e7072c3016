"""Kubernetes as kubectl prints it: events and pods, as JSON and as tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    CHANGE_COLUMNS,
    EVENT_COLUMNS,
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
    string_at,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.series_names import service_of_pod
from diagnosis_harness.adapters.sources.incident_folder.listing import Role

_LAST_SEEN: Final = (
    "lastTimestamp", "series.lastObservedTime", "deprecatedLastTimestamp", "eventTime", "firstTimestamp",
    "deprecatedFirstTimestamp", "metadata.creationTimestamp",
)  # fmt: skip
_FIRST_SEEN: Final = (
    "firstTimestamp", "deprecatedFirstTimestamp", "eventTime", "metadata.creationTimestamp",
)  # fmt: skip
_COUNTS: Final = ("count", "series.count", "deprecatedCount")
ROLLOUT_REASONS: Final = frozenset(
    {"ScalingReplicaSet", "SuccessfulRescale", "NodeNotSchedulable", "ScaledUpGroup"}
)
"""Reasons of events that changed the running system; all others are symptoms."""
_WORKLOADS: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob"})
_AGE: Final = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
_TABLE_EVENTS: Final = re.compile(r"(?:NAMESPACE\s+)?LAST SEEN\s+TYPE\s+REASON\s+OBJECT\s+(?:\w+\s+)*MESSAGE")
_TABLE_PODS: Final = re.compile(r"(?:NAMESPACE\s+)?NAME\s+READY\s+STATUS\s+RESTARTS\s+AGE")
_COLUMNS: Final = re.compile(r"\s{2,}")

_Row = tuple[Cell, ...]


def _items(document: Record) -> list[Record]:
    """The objects of a list, or the object itself."""
    found = list_at(document, "items") if "items" in document else [document]
    return [one for one in found if isinstance(one, dict)]


def _is_kind(*kinds: str) -> Callable[[FileHead], bool]:
    def recognises(head: FileHead) -> bool:
        for document in head.objects[:1]:
            if string_at(document, "kind") in {f"{kind}List" for kind in kinds}:
                return True
            return any(_kind_of(one) in kinds for one in _items(document)[:1])
        return False

    return recognises


def _kind_of(item: Record) -> str:
    """The kind of an object, or for an item without one the kind that its fields suggest."""
    if "involvedObject" in item or "regarding" in item:
        return "Event"
    return string_at(item, "kind") or ""


def _read_events(content: FileContent) -> Iterable[RoleRows]:
    events = [item for document in content.records() for item in _items(document)]
    yield RoleRows(Role.EVENTS, EVENT_COLUMNS, [_event_row(event) for event in events])
    changes = [_change_row(event) for event in events if string_at(event, "reason") in ROLLOUT_REASONS]
    if changes:
        yield RoleRows(Role.CHANGES, CHANGE_COLUMNS, changes)
    pods = {name for event in events if (name := _pod_of(event)) is not None}
    parts = [(pod, service_of_pod(pod), "part_of") for pod in sorted(pods) if service_of_pod(pod) != pod]
    if parts:
        yield RoleRows(Role.TOPOLOGY, TOPOLOGY_COLUMNS, parts)


def _event_row(event: Record) -> _Row:
    times = string_at(event, *_LAST_SEEN)
    count = string_at(event, *_COUNTS)
    more = f" ({count} times)" if count and count != "1" else ""
    text = f"{string_at(event, 'reason') or 'Event'}: {string_at(event, 'message', 'note') or ''}{more}"
    level = "WARN" if string_at(event, "type") == "Warning" else "INFO"
    reason = string_at(event, "reason")
    first, last = epoch_seconds(string_at(event, *_FIRST_SEEN)), epoch_seconds(times)
    return last, _object_name(event), level, text, reason, float(count) if count else None, first, last


def _change_row(event: Record) -> _Row:
    first = string_at(event, "firstTimestamp", "deprecatedFirstTimestamp", *_LAST_SEEN)
    summary = f"{string_at(event, 'reason')}: {string_at(event, 'message', 'note') or ''}"
    return epoch_seconds(first), _object_name(event), "rollout", summary


def _object_name(event: Record) -> str | None:
    name = string_at(event, "involvedObject.name", "regarding.name")
    kind = string_at(event, "involvedObject.kind", "regarding.kind")
    return service_of_pod(name) if name and kind == "ReplicaSet" else name


def _pod_of(event: Record) -> str | None:
    kind = string_at(event, "involvedObject.kind", "regarding.kind")
    return _object_name(event) if kind == "Pod" else None


def _read_pods(content: FileContent) -> Iterable[RoleRows]:
    pods = [
        item for document in content.records() for item in _items(document) if _kind_of(item) in {"Pod", ""}
    ]
    yield RoleRows(
        Role.STATES, LOG_COLUMNS, [row for pod in pods for row in pod_state_rows(_with_limits(pod))]
    )
    parts = [(pod, owner, "part_of") for pod, owner in map(_owner_of, pods) if pod and owner and pod != owner]
    if parts:
        yield RoleRows(Role.TOPOLOGY, TOPOLOGY_COLUMNS, parts)


def _owner_of(pod: Record) -> tuple[str | None, str | None]:
    name, owner = string_at(pod, "metadata.name"), at(pod, "metadata", "ownerReferences", 0)
    if string_at(owner, "kind") in _WORKLOADS:
        workload = string_at(owner, "name") or ""
        return name, re.sub(r"-[0-9a-f]{5,10}$", "", workload) if at(
            owner, "kind"
        ) == "ReplicaSet" else workload
    return name, None if name is None else service_of_pod(name)


def pod_state_rows(pod: Record) -> Iterator[_Row]:
    """Rows for the state of a pod and the troubles of its containers, at the times of Kubernetes."""
    name = string_at(pod, "metadata.name")
    started = string_at(pod, "status.startTime", "metadata.creationTimestamp")
    times = [string_at(one, "lastTransitionTime") or "" for one in list_at(pod, "status", "conditions")]
    statuses = [
        *list_at(pod, "status", "initContainerStatuses"),
        *list_at(pod, "status", "containerStatuses"),
    ]
    troubles = [row for one in statuses for row in _troubles(one, name, max(times, default=started or ""))]
    yield from troubles
    # A container that ended and was restarted yields two events, each at its time.
    stopped = (string_at(one, "state.terminated.reason") or "Completed" for one in statuses)
    if not any(at(one, "state", "waiting") for one in statuses) and set(stopped) <= {"Completed"}:
        phase = string_at(pod, "status.reason", "status.phase") or "Unknown"
        running = [string_at(one, "state.running.startedAt") or "" for one in statuses]
        started = max(running, default="") or started
        if (leaves := string_at(pod, "metadata.deletionTimestamp")) is not None:
            phase, started = "Terminating", leaves
        level = "INFO" if phase in {"Running", "Succeeded", "Terminating"} else "WARN"
        yield epoch_seconds(started), name, level, f"{phase}: {string_at(pod, 'status.message') or 'pod'}"


def _troubles(status: object, pod: str | None, changed: str) -> Iterator[_Row]:
    """How a container ended, and why it is waiting."""
    container, restarts = string_at(status, "name"), string_at(status, "restartCount") or "0"
    for state in ("lastState", "state"):
        ended = at(status, state, "terminated")
        if isinstance(ended, dict) and string_at(ended, "reason") != "Completed":
            reason, code = string_at(ended, "reason") or "Error", string_at(ended, "exitCode")
            text = f"{reason}: container {container} ended with code {code}, {restarts} restarts"
            text += _limits(status)
            yield epoch_seconds(ended.get("finishedAt")), pod, "ERROR", text
    waits = at(status, "state", "waiting")
    if isinstance(waits, dict):
        reason, message = string_at(waits, "reason") or "Waiting", string_at(waits, "message")
        yield epoch_seconds(changed), pod, "WARN", f"{reason}: container {container}: {message or ''}"


def _limits(status: object) -> str:
    limits = at(status, "limits")
    shown = ", ".join(f"{key} {value}" for key, value in limits.items()) if isinstance(limits, dict) else ""
    return f", limits: {shown}" if shown else ""


def _with_limits(pod: Record) -> Record:
    """The pod, with the limits of its specification beside the state of each container."""
    limits = {
        string_at(one, "name"): at(one, "resources", "limits") for one in list_at(pod, "spec", "containers")
    }
    states = list_at(pod, "status", "containerStatuses")
    known = [{**one, "limits": limits.get(string_at(one, "name"))} for one in states if isinstance(one, dict)]
    status = pod.get("status")
    return {**pod, "status": {**status, "containerStatuses": known}} if isinstance(status, dict) else pod


def _read_replica_sets(content: FileContent) -> Iterable[RoleRows]:
    """Each replica set is one revision of its deployment, from the time it was created."""
    sets = [one for document in content.records() for one in _items(document)]
    return [RoleRows(Role.CHANGES, CHANGE_COLUMNS, [_revision_row(one) for one in sets])]


def _revision_row(one: Record) -> _Row:
    notes = at(one, "metadata", "annotations")
    said = notes if isinstance(notes, dict) else {}
    containers = list_at(one, "spec", "template", "spec", "containers")
    images = ", ".join(image for each in containers if (image := string_at(each, "image")))
    cause = said.get("kubernetes.io/change-cause")
    number = said.get("deployment.kubernetes.io/revision", "?")
    text = f"revision {number}: {images}{f', {cause}' if cause else ''}"
    owner = at(one, "metadata", "ownerReferences", 0)
    whose = string_at(owner, "name") or service_of_pod(string_at(one, "metadata.name") or "")
    return epoch_seconds(string_at(one, "metadata.creationTimestamp")), whose or None, "rollout", text


def _has_line(pattern: re.Pattern[str]) -> Callable[[FileHead], bool]:
    return lambda head: any(pattern.match(line) for line in head.lines[:1])


def _read_event_table(content: FileContent) -> Iterable[RoleRows]:
    rows: list[_Row] = []
    for line in _table(content):
        namespaced = len(line) > 4 and age_in_seconds(line[0].split(" ")[0]) is None
        cells = line[1:] if namespaced else line
        age_s = age_in_seconds(cells[0].split(" ")[0]) if len(cells) > 4 else None
        if age_s is None:
            continue
        kind, _, name = cells[3].partition("/")
        entity = service_of_pod(name) if kind == "replicaset" else name or cells[3]
        level = "WARN" if cells[1] == "Warning" else "INFO"
        rows.append((content.changed_s - age_s, entity, level, f"{cells[2]}: {cells[-1]}"))
    return [RoleRows(Role.EVENTS, LOG_COLUMNS, rows, f"ages counted {content.counted_from}")]


def _read_pod_table(content: FileContent) -> Iterable[RoleRows]:
    rows: list[_Row] = []
    parts: list[tuple[Cell, ...]] = []
    for line in _table(content):
        cells = line[1:] if len(line) > 5 and "/" not in line[1] else line
        if len(cells) < 5 or "/" not in cells[1]:
            continue
        name, ready, status, restarts = cells[:4]
        level = "INFO" if status in {"Running", "Completed"} and len(set(ready.split("/"))) == 1 else "WARN"
        rows.append((content.changed_s, name, level, f"{status}: {ready} ready, {restarts} restarts"))
        if service_of_pod(name) != name:
            parts.append((name, service_of_pod(name), "part_of"))
    yield RoleRows(Role.STATES, LOG_COLUMNS, rows, f"states dated {content.counted_from}")
    if parts:
        yield RoleRows(Role.TOPOLOGY, TOPOLOGY_COLUMNS, parts)


def _table(content: FileContent) -> Iterator[list[str]]:
    lines = content.lines()
    next(lines, None)
    return (_COLUMNS.split(line.strip()) for line in lines if line.strip())


def age_in_seconds(text: str) -> float | None:
    """The seconds of an age as kubectl writes it, such as `9m15s`; None for other texts."""
    found = _AGE.fullmatch(text)
    if found is None or not any(found.groups()):
        return None
    days, hours, minutes, seconds = (int(group or 0) for group in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


KUBERNETES_READERS: Final = (
    FileReader("kubernetes-events", "events of Kubernetes", _is_kind("Event"), _read_events),
    FileReader("kubernetes-pods", "pods of Kubernetes", _is_kind("Pod"), _read_pods),
    FileReader("replica-sets", "replica sets of Kubernetes", _is_kind("ReplicaSet"), _read_replica_sets),
    FileReader(
        "kubectl-events",
        "the table of kubectl get events",
        _has_line(_TABLE_EVENTS),
        _read_event_table,
        is_text=True,
        counts_ages=True,
    ),
    FileReader(
        "kubectl-pods",
        "the table of kubectl get pods",
        _has_line(_TABLE_PODS),
        _read_pod_table,
        is_text=True,
        counts_ages=True,
    ),
)
