"""TVDiag events: what detectors found in metrics, logs and spans of three systems, without sizes and times.

Only the ranking can be measured. A metric event is an instance, a metric and a direction; a log event an
instance and a template; a trace event a caller, a callee, an operation and its anomaly. Each event
is written as one step of a fixed size at a made-up time, so that neither adds information to the data set;
the events themselves are written beside it in a role of their own. A line of a file has the label and the
events of an incident; the label's fields are removed when it is read. The files are streamed, with one line
in memory.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from diagnosis_harness.bench.case import Case, Condition, Truth
from diagnosis_harness.bench.datasets.folder import (
    JsonRow,
    PublishedAlert,
    leave_out,
    opaque_name,
    write_csv,
    write_incident_toml,
    write_jsonl,
    write_topology,
)
from diagnosis_harness.bench.datasets.published import REMEDY, complete_truths, text_of
from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.window import utc_text

LABEL_FIELDS = frozenset({"root_cause_instance", "root_cause_service", "fault", "start"})
ID_OF_LINE = re.compile(r'\{"id": "(?P<id>[^"\\]+)"')
STEP_S = 60
WRITTEN_ONSET_S = 1_577_880_000.0  # 2020-01-01 12:00 UTC; no time is published, so any would do
BEFORE, AFTER = 30, 10  # minutes written on each side of it
LOW, HIGH = 1.0, 2.0  # one size for every step
OUTSIDE = "-1"  # the caller of what comes from outside
SLOW = "PD"
_UNUSED = {"deviations.jsonl": "deviations"}
_KINDS = {
    "cpu": frozenset({FaultKind.CPU.value}),
    "memory": frozenset({FaultKind.MEMORY.value}),
    "memory_anomalies": frozenset({FaultKind.MEMORY.value}),
    "network-delay": frozenset({FaultKind.NETWORK.value}),
    "network-loss": frozenset({FaultKind.NETWORK.value}),
    "network-corrupt": frozenset({FaultKind.NETWORK.value}),
}


@dataclass(slots=True)
class TvDiag:
    """The data set below a folder that holds `tvdiag-events/`; fastest when asked in the order of the ids."""

    root: Path
    name: str = "tvdiag-events"
    _ahead: dict[Path, Iterator[str]] = field(default_factory=dict, repr=False)

    def __reduce__(self) -> tuple[type[TvDiag], tuple[Path]]:
        """Another process opens the files again."""
        return TvDiag, (self.root,)

    def incident_ids(self, condition: Condition = Condition.AS_PUBLISHED) -> tuple[str, ...]:
        """The ids of all lines, in the order of the files; the rest of a line is not read."""
        if condition is not Condition.AS_PUBLISHED:
            return ()
        found = tuple(dict.fromkeys(_id_of(line) for file in self._files() for line in _lines_of(file)))
        if not found:
            raise InvalidInput(
                str(self._home), "holds no incidents", "name the folder of the data sets with --data"
            )
        return found

    def export(self, incident_id: str, condition: Condition, target: Path) -> Case:
        """Write the events of one incident as steps."""
        system = incident_id.rsplit("-", 1)[0]
        incident = self._read(incident_id)
        folder = target / opaque_name(self.name, f"{incident_id}/{condition.value}")
        folder.mkdir(parents=True, exist_ok=True)
        nodes, calls = _topology(incident)
        write_topology(folder, calls=calls)
        write_csv(folder / "metrics.csv", ("time", "entity", "signal", "value"), _steps(incident))
        write_jsonl(folder / "logs.jsonl", _log_rows(incident))
        write_jsonl(folder / "deviations.jsonl", _deviations(incident))
        write_incident_toml(
            folder,
            alert=PublishedAlert(time_s=WRITTEN_ONSET_S),
            onset_s=WRITTEN_ONSET_S,
            files=leave_out(folder, _UNUSED),
        )
        return Case(
            incident_id=incident_id,
            group=system,
            scenario=str(incident.get("original_split", "")),
            folder=folder,
            baseline=None,
            entities=tuple(sorted(set(nodes))),
            condition=condition,
            onset_s=WRITTEN_ONSET_S,
            events=_count_events(incident),
            unused=tuple(_UNUSED.values()),
        )

    def labels(self, incident_ids: Sequence[str]) -> dict[str, Truth]:
        """Instance and kind of fault of these incidents."""
        wanted = set(incident_ids)
        truths = {
            name: _truth(_parse(line, file))
            for file in self._files()
            for line in _lines_of(file)
            if (name := _id_of(line)) in wanted
        }
        return complete_truths(incident_ids, truths)

    @property
    def _home(self) -> Path:
        return self.root / "tvdiag-events"

    def _files(self) -> list[Path]:
        return sorted(self._home.glob("*.jsonl.gz"))

    def _read(self, incident_id: str) -> JsonRow:
        """The incident without its label. Reading continues where it stopped; it restarts at most once."""
        file = self._home / f"{incident_id.rsplit('-', 1)[0]}.jsonl.gz"
        for lines in (self._ahead.pop(file, iter(())), _lines_of(file)):
            for line in lines:
                if _id_of(line) == incident_id:
                    self._ahead[file] = lines
                    return {
                        key: value for key, value in _parse(line, file).items() if key not in LABEL_FIELDS
                    }
        raise InvalidInput(file.name, f"it holds no incident {incident_id}", REMEDY)


def _lines_of(file: Path) -> Iterator[str]:
    try:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            yield from (line for line in lines if line.strip())
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InvalidInput(file.name, "it cannot be read to its end", REMEDY) from error


def _id_of(line: str) -> str:
    begin = ID_OF_LINE.match(line)
    return begin["id"] if begin else str(_parse(line, Path("a line")).get("id"))


def _parse(line: str, file: Path) -> JsonRow:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidInput(file.name, f"a line of it is not JSON ({line[:40]!r})", REMEDY) from error
    if not isinstance(value, dict):
        raise InvalidInput(file.name, f"a line of it is not a JSON object ({line[:40]!r})", REMEDY)
    return value


def _truth(incident: JsonRow) -> Truth:
    instance, kind = text_of(incident, "root_cause_instance"), str(incident.get("fault", ""))
    return Truth(
        entities=(instance,) if instance else (),
        fault_kind=kind,
        kinds=_KINDS.get(kind, frozenset()),
        unusable="" if instance else "the label names no instance",
    )


def _events(incident: JsonRow, key: str) -> list[list[str]]:
    events = incident.get(key)
    return [[str(part) for part in event] for event in events] if isinstance(events, list) else []


def _count_events(incident: JsonRow) -> dict[str, int]:
    """How many events are about each instance; one about a call is about its callee."""
    about = [event[0] for key in ("metric_events", "log_events") for event in _events(incident, key)]
    about += [event[1] for event in _events(incident, "trace_events")]
    return dict(Counter(about))


def _topology(incident: JsonRow) -> tuple[list[str], list[tuple[str, str]]]:
    nodes, edges = incident.get("nodes"), incident.get("edges")
    if not isinstance(nodes, list) or not isinstance(edges, list):
        raise InvalidInput(str(incident.get("id")), "it has no nodes or no edges", REMEDY)
    names = [str(node) for node in nodes]
    return names, [(names[caller], names[callee]) for caller, callee in edges if caller != callee]


def _moves(incident: JsonRow) -> dict[tuple[str, str], str]:
    """Direction of each series, by instance and signal; of two events about one series the first counts."""
    moves: dict[tuple[str, str], str] = {}
    for event in _events(incident, "metric_events"):
        moves.setdefault((event[0], event[-2]), event[-1])
    for caller, callee, operation, what in _events(incident, "trace_events"):
        kind = "latency" if what == SLOW else f"{what} errors"
        origin = "" if caller in {callee, OUTSIDE} else f" from {caller}"
        moves.setdefault((callee, f"{kind} of {operation}{origin}"), "up")
    return moves


def _steps(incident: JsonRow) -> Iterator[tuple[str, str, str, float]]:
    minutes = [
        (utc_text(WRITTEN_ONSET_S + STEP_S * number), number >= 0) for number in range(-BEFORE, AFTER + 1)
    ]
    for (instance, signal), direction in sorted(_moves(incident).items()):
        for time, is_after in minutes:
            yield time, instance, signal, HIGH if is_after == (direction == "up") else LOW


def _log_rows(incident: JsonRow) -> list[JsonRow]:
    time = utc_text(WRITTEN_ONSET_S + STEP_S)
    return [
        {"time": time, "entity": event[0], "message": f"odd lines of template {event[-1]}"}
        for event in _events(incident, "log_events")
    ]


def _deviations(incident: JsonRow) -> list[JsonRow]:
    """The events as published."""
    rows: list[JsonRow] = [
        {"kind": "metric", "entity": event[0], "signal": event[-2], "direction": event[-1]}
        for event in _events(incident, "metric_events")
    ]
    rows += [
        {"kind": "log", "entity": event[0], "template": event[-1]}
        for event in _events(incident, "log_events")
    ]
    rows += [
        {"kind": "trace", "caller": caller, "entity": callee, "operation": operation, "what": what}
        for caller, callee, operation, what in _events(incident, "trace_events")
    ]
    return rows
