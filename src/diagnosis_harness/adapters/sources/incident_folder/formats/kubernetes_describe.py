"""What `kubectl describe` prints of pods, workloads and nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.kubernetes import (
    ROLLOUT_REASONS,
    age_in_seconds,
    pod_state_rows,
)
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
    epoch_seconds,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.series_names import service_of_pod
from diagnosis_harness.adapters.sources.incident_folder.listing import Role

_NAME: Final = re.compile(r"Name:\s+\S")
_PAIR: Final = re.compile(r"(?P<indent> *)(?P<key>[A-Za-z][\w ./-]*?):(?:\s+(?P<value>\S.*))?$")
_TIMES: Final = re.compile(r"(?P<last>\S+)(?: \(x(?P<count>\d+) over (?P<first>\S+)\))?")
_KINDS: Final = ("Containers", "Init Containers", "Replicas", "Capacity", "Pod Template", "Conditions")
"""Sections that distinguish the description of an object from other text that begins with a name."""
_GOOD: Final = frozenset(
    {"Ready", "Available", "Progressing", "Initialized", "ContainersReady", "PodScheduled"}
)
"""Conditions that are healthy when true; all others, such as `MemoryPressure`, are healthy when false."""

_KEYS: Final = {"Exit Code": "exitCode", "Reason": "reason", "Message": "message"}
"""What a description calls a state's fields → what JSON calls them."""

_Row = tuple[Cell, ...]


@dataclass(slots=True)
class _Described:
    """The lines of one object, by section: the unindented word above them."""

    fields: dict[str, str] = field(default_factory=dict)
    sections: dict[str, list[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The object's name."""
        return self.fields.get("Name", "")


def _is_description(head: FileHead) -> bool:
    lines = head.lines
    return (
        bool(lines)
        and _NAME.match(lines[0]) is not None
        and any(line.startswith(f"{kind}:") for line in head.text.split("\n") for kind in _KINDS)
    )


def _objects(content: FileContent) -> Iterator[_Described]:
    found, section = _Described(), ""
    for line in content.lines():
        pair = _PAIR.match(line)
        if _NAME.match(line) and found.fields:
            yield found
            found = _Described()
        if pair is not None and not pair["indent"]:
            section = pair["key"]
            found.fields[section] = (pair["value"] or "").strip()
            found.sections[section] = []
        elif section and line.strip():
            found.sections[section].append(line)
    if found.fields:
        yield found


def _read(content: FileContent) -> Iterable[RoleRows]:
    described = list(_objects(content))
    printed = [time_s for one in described if (time_s := _time_of_printing(one)) is not None]
    written_s = max(printed, default=content.changed_s)
    states = [row for one in described for row in _states(one, written_s)]
    events = [row for one in described for row in _events(one, written_s)]
    counted = "from the times in it" if printed else content.counted_from
    if states:
        yield RoleRows(Role.STATES, LOG_COLUMNS, states)
    if events:
        yield RoleRows(Role.EVENTS, EVENT_COLUMNS, events, f"ages counted {counted}")
    changes = [(row[6], row[1], "rollout", row[3]) for row in events if row[4] in ROLLOUT_REASONS]
    if changes:
        yield RoleRows(Role.CHANGES, CHANGE_COLUMNS, changes)
    parts = [
        (one.name, owner, "part_of") for one in described if (owner := _owner(one)) not in {None, one.name}
    ]
    if parts:
        yield RoleRows(Role.TOPOLOGY, TOPOLOGY_COLUMNS, parts)


def _time_of_printing(one: _Described) -> float | None:
    """When it was printed: a pod's start plus the age of its scheduling, or a node's last renewal."""
    scheduled = [
        event for event in _table(one.sections.get("Events", [])) if event.get("Reason") == "Scheduled"
    ]
    started = _seconds(one.fields.get("Start Time", ""))
    age = age_in_seconds(scheduled[0].get("Age", "").split(" ")[0]) if scheduled else None
    if started is not None and age is not None:
        return started + age
    renewed = (pair for line in one.sections.get("Lease", []) if (pair := _PAIR.match(line)) is not None)
    return next((_seconds(pair["value"] or "") for pair in renewed if pair["key"] == "RenewTime"), None)


def _owner(one: _Described) -> str | None:
    if "Containers" not in one.sections:
        return None
    kind, _, name = one.fields.get("Controlled By", "").partition("/")
    if not kind:
        return service_of_pod(one.name)
    # A Deployment names its replica sets after itself and a hash of the template.
    return re.sub(r"-[0-9a-f]{5,10}$", "", name) if kind == "ReplicaSet" else name


def _states(one: _Described, written_s: float) -> Iterator[_Row]:
    if "Containers" in one.sections:
        yield from pod_state_rows(_pod(one))
        return
    for condition in _table(one.sections.get("Conditions", [])):
        kind, status = condition.get("Type", ""), condition.get("Status", "")
        reason = condition.get("Reason") or kind
        changed = _seconds(condition.get("LastTransitionTime", ""))
        well = (status == "True") == (kind in _GOOD)
        text = f"{reason}: {kind} is {status}: {condition.get('Message', '')}".rstrip(": ")
        yield written_s if changed is None else changed, one.name, "INFO" if well else "WARN", text


def _pod(one: _Described) -> Record:
    """The pod in the shape in which `kubectl get -o json` writes it."""
    statuses = [*_containers(one.sections.get("Init Containers", []))]
    own = [*_containers(one.sections["Containers"])]
    started = _iso(one.fields.get("Start Time", ""))
    ended = [_text(state, "finishedAt") for status in (*statuses, *own) for state in _ends_of(status)]
    phase = one.fields.get("Status", "").partition(" ")[0]
    return {
        "metadata": {"name": one.name},
        "status": {
            "phase": phase,
            "reason": one.fields.get("Reason") or None,
            "message": one.fields.get("Message") or None,
            "startTime": started,
            "initContainerStatuses": statuses,
            "containerStatuses": own,
            "conditions": [{"lastTransitionTime": time} for time in ended if time],
        },
    }


def _ends_of(status: Record) -> Iterator[Record]:
    for key in ("lastState", "state"):
        state = status.get(key)
        ended = state.get("terminated") if isinstance(state, dict) else None
        if isinstance(ended, dict):
            yield ended


def _text(record: Record, key: str) -> str:
    return str(record.get(key) or "")


def _containers(lines: Sequence[str]) -> Iterator[Record]:
    """Each container of a section: its states, how often it restarted, and its limits."""
    pairs = [pair for line in lines if (pair := _PAIR.match(line)) is not None]
    outer = min((len(pair["indent"]) for pair in pairs), default=0)
    inner = min((len(pair["indent"]) for pair in pairs if len(pair["indent"]) > outer), default=0)
    status: dict[str, object] = {}
    inside: dict[str, str] = {}
    for pair in pairs:
        key, value, depth = pair["key"], (pair["value"] or "").strip(), len(pair["indent"])
        if depth == outer:
            if status:
                yield status
            status, inside = {"name": key}, {}
        elif depth == inner:
            inside = {}
            if key in {"State", "Last State"}:
                status["state" if key == "State" else "lastState"] = {value.lower(): inside}
            elif key == "Limits":
                status["limits"] = inside
            elif key == "Restart Count":
                status["restartCount"] = value
        elif key in {"Started", "Finished"}:
            inside[f"{key.lower()}At"] = _iso(value) or ""
        else:
            inside[_KEYS.get(key, key)] = value
    if status:
        yield status


def _events(one: _Described, written_s: float) -> Iterator[_Row]:
    for event in _table(one.sections.get("Events", [])):
        times = _TIMES.match(event.get("Age", ""))
        last = None if times is None else age_in_seconds(times["last"])
        if times is None or last is None:
            continue
        first = age_in_seconds(times["first"] or "")
        reason, count = event.get("Reason") or None, float(times["count"] or 1)
        level = "WARN" if event.get("Type") == "Warning" else "INFO"
        text = f"{reason or 'Event'}: {event.get('Message', '')}"
        ended_s = written_s - last
        began_s = ended_s if first is None else written_s - first
        yield ended_s, one.name, level, text, reason, count, began_s, ended_s


def _table(lines: Sequence[str]) -> Iterator[dict[str, str]]:
    """The rows below a header and its dashes, by heading; if a cell is empty, by its position."""
    place: list[tuple[str, int]] = []
    for line in lines:
        if not place:
            place = [(found[0], found.start()) for found in re.finditer(r"\S+", line)]
            continue
        if not line.strip(" -\t"):
            continue
        cells = re.split(r"\s{2,}", line.strip(), maxsplit=len(place) - 1)
        if len(cells) < len(place):
            bounds = [start for _, start in place[1:]] + [len(line) + 1]
            cells = [line[start:end].strip() for (_, start), end in zip(place, bounds, strict=True)]
        yield {heading: cell for (heading, _), cell in zip(place, cells, strict=False)}


def _seconds(text: str) -> float | None:
    return epoch_seconds(_iso(text))


def _iso(text: str) -> str | None:
    """A time as kubectl writes it: `Wed, 06 May 2026 09:14:02 +0000`."""
    try:
        return datetime.strptime(text, "%a, %d %b %Y %H:%M:%S %z").isoformat()
    except ValueError:
        return None


DESCRIBE_READERS: Final = (
    FileReader(
        "kubectl-describe",
        "what kubectl describe prints",
        _is_description,
        _read,
        is_text=True,
        counts_ages=True,
    ),
)
