"""RootCauseBench: frozen incidents with logs, metrics, a few spans, and commits with their diffs.

An observability vendor's reconstructions; the task gives every method the alert. The question is which commit
was the cause, if any; decoys are innocent commits that look guilty. The data set's folders are named after
the answer. Words that describe the mechanism were written for each incident from the labels' notes
(rootcausebench_mechanisms.toml); they are truth, and read with the labels.
"""

from __future__ import annotations

import csv
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.bench.case import Case, Condition, MovedSeries, Truth
from diagnosis_harness.bench.datasets.folder import (
    JsonRow,
    PublishedAlert,
    leave_out,
    opaque_name,
    write_csv,
    write_incident_toml,
    write_jsonl,
)
from diagnosis_harness.bench.datasets.published import (
    read_incident_ids,
    read_object,
    read_objects,
    read_text,
    read_truths,
    text_of,
)
from diagnosis_harness.bench.datasets.stating import OF_AN_ALERT, Statement, state
from diagnosis_harness.kernel.errors import InvalidInput
from diagnosis_harness.kernel.window import parse_utc

MECHANISMS = Path(__file__).with_name("rootcausebench_mechanisms.toml")
QUIET_BEFORE_ALERT_S = 45 * 60.0  # an onset without a deploy lies minutes before its alert
SHORTEST_HEALTHY_S = 30 * 60.0
ONSET_BEFORE_END_S = 10 * 60.0  # of a healthy window
_UNUSED = {"patterns.jsonl": "patterns"}
"""Files of roles that the product cannot use yet, with the role; once it can, its file leaves this table."""

SAME_TRACE = "same"
"""How the published spans write "the trace of the preceding span"."""


@dataclass(frozen=True, slots=True)
class RootCauseBench:
    """The data set below a folder that holds `rootcausebench/`."""

    root: Path
    name: str = "rootcausebench"

    def incident_ids(self, condition: Condition = Condition.AS_PUBLISHED) -> tuple[str, ...]:
        """The folder names; for healthy windows, those whose recording begins early enough."""
        if condition not in OF_AN_ALERT:
            return ()
        found = read_incident_ids(self._home, "*/alert.json")
        if not condition.healthy:
            return found
        return tuple(name for name in found if self._has_healthy_window(name))

    def export(self, incident_id: str, condition: Condition, target: Path) -> Case:
        """Write one incident, or what was recorded well before it."""
        source = self._home / "incidents" / incident_id
        alert = read_task_alert(source / "alert.json")
        until_s = self._healthy_end_s(incident_id) if condition.healthy else None
        onset_s = None if until_s is None else until_s - ONSET_BEFORE_END_S
        moved = MovedSeries(alert.entity or "", alert.signal or "")
        statement = state(condition, published=Statement(alert=alert), onset_s=onset_s, moved=moved)
        folder = target / opaque_name(self.name, f"{incident_id}/{condition.value}")
        folder.mkdir(parents=True, exist_ok=True)
        entities = _write_telemetry(source, folder, until_s)
        _write_changes(source / "context", folder, until_s)
        if not condition.healthy:  # patterns are counted over the whole recording
            write_jsonl(folder / "patterns.jsonl", read_objects(source / "patterns.json"))
        left_out = leave_out(folder, _UNUSED)
        write_incident_toml(folder, alert=statement.alert, onset_s=statement.onset_s, files=left_out)
        return Case(
            incident_id=incident_id,
            group="reconstructed",
            folder=folder,
            baseline=None,
            entities=tuple(sorted(entities | ({alert.entity} if alert.entity else set()))),
            condition=condition,
            onset_s=onset_s,
            alert_entity=statement.alert.entity if statement.alert else None,
            moved=moved,
            unused=tuple(_UNUSED[name] for name in left_out),
        )

    def labels(self, incident_ids: Sequence[str]) -> dict[str, Truth]:
        """Guilty commit or none, first failing service, decoys, and the words of the mechanism."""
        mechanisms = read_mechanisms(MECHANISMS)

        def truth_of(entry: JsonRow) -> Truth:
            return _truth(entry, mechanisms.get(str(entry.get("id")), ()))

        return read_truths(self._home / "labels.json", incident_ids, truth_of)

    @property
    def _home(self) -> Path:
        return self.root / "rootcausebench"

    def _has_healthy_window(self, incident_id: str) -> bool:
        try:
            return self._healthy_end_s(incident_id) is not None
        except InvalidInput:  # a half-written folder is named where the incident itself is exported
            return False

    def _healthy_end_s(self, incident_id: str) -> float | None:
        """The end of a healthy window in this recording; None if there is none.

        A fault may grow for hours after the deploy that brought it: the window ends well before the alert,
        and before the first deploy of the service that it is about.
        """
        source = self._home / "incidents" / incident_id
        alert = read_task_alert(source / "alert.json")
        times = [parse_utc(row["timestamp"]) for row in _read_metrics(source / "metrics.csv")]
        if alert.time_s is None or not times:
            return None
        deploys = [
            parse_utc(str(row["timestamp"]))
            for row in read_objects(source / "context" / "deploys.json")
            if row.get("service") == alert.entity
        ]
        end_s = min([alert.time_s - QUIET_BEFORE_ALERT_S, *deploys])
        return end_s if end_s - min(times) >= SHORTEST_HEALTHY_S else None


def read_task_alert(path: Path) -> PublishedAlert:
    """The alert as the task gives it.

    Raises:
        InvalidInput: it is not there, or holds no time.
    """
    alert = read_object(path)
    return PublishedAlert(
        time_s=_time_s(path, alert, "fired_at"),
        entity=text_of(alert, "service"),
        signal=text_of(alert, "metric"),
        summary=text_of(alert, "summary"),
    )


def read_mechanisms(path: Path) -> Mapping[str, tuple[tuple[str, ...], ...]]:
    """Groups of alternative words by incident."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: tuple(tuple(group) for group in groups) for name, groups in table["mechanisms"].items()}


def _truth(entry: JsonRow, mechanism: tuple[tuple[str, ...], ...]) -> Truth:
    service, commit = text_of(entry, "first_failing_service"), text_of(entry, "root_cause_commit")
    guilty = () if commit in {None, "none"} else (str(commit),)
    decoys = entry.get("decoy_deploy_commits")
    return Truth(
        entities=(service,) if service else (),
        fault_kind="commit" if guilty else "no commit",
        trigger=guilty,
        without_trigger=commit == "none",
        decoys=tuple(str(decoy) for decoy in decoys) if isinstance(decoys, list) else (),
        mechanism=mechanism,
        unusable="" if service else "the label names no failing service",
    )


def _write_telemetry(source: Path, folder: Path, until_s: float | None) -> set[str]:
    """Metrics, logs and spans up to a time; the services that appear in them."""
    metrics = [
        (row["timestamp"], row["service"], row["metric"], row["value"])
        for row in _read_metrics(source / "metrics.csv")
        if until_s is None or parse_utc(row["timestamp"]) <= until_s
    ]
    write_csv(folder / "metrics.csv", ("time", "entity", "signal", "value"), metrics)
    logs = list(_until(_lines(source / "logs.ndjson"), "timestamp", until_s))
    write_jsonl(folder / "logs.jsonl", [_log_row(row) for row in logs])
    spans = list(_until(_whole_traces(read_objects(source / "traces.json")), "start", until_s))
    write_jsonl(folder / "traces.jsonl", [_span_row(row) for row in spans])
    return {row[1] for row in metrics} | {
        str(row["service"]) for row in [*logs, *spans] if row.get("service")
    }


def _read_metrics(path: Path) -> list[dict[str, str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError as error:
        raise InvalidInput(
            path.name, f"it cannot be read ({error.strerror})", "use the files as published"
        ) from error


def _lines(path: Path) -> Iterator[JsonRow]:
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.strip():
            try:
                yield json.loads(line)
            except json.JSONDecodeError as error:
                raise InvalidInput(
                    f"{path.name} line {number}", "it is not JSON", "use the files as published"
                ) from error


def _until(rows: Iterable[JsonRow], time: str, until_s: float | None) -> Iterator[JsonRow]:
    return (row for row in rows if until_s is None or parse_utc(str(row[time])) <= until_s)


def _log_row(row: JsonRow) -> JsonRow:
    """A line under the documented names; its other fields follow the message, so that search finds them."""
    known = ("timestamp", "service", "severity_text", "msg", "trace_id")
    more = " ".join(f"{key}={_flat(value)}" for key, value in row.items() if key not in known)
    message = str(row.get("msg", ""))
    return {
        "time": row["timestamp"],
        "entity": row.get("service"),
        "level": row.get("severity_text"),
        "message": f"{message} {more}" if more else message,
        "trace_id": row.get("trace_id"),
    }


def _whole_traces(spans: Iterable[JsonRow]) -> Iterator[JsonRow]:
    """Spans with the id of their trace written out."""
    trace = ""
    for span in spans:
        trace = trace if span.get("trace_id") == SAME_TRACE else str(span.get("trace_id"))
        yield {**span, "trace_id": trace}


def _span_row(span: JsonRow) -> JsonRow:
    """A span under the documented names; error text and attributes keep their own names."""
    named = {
        "trace_id": span["trace_id"],
        "span_id": span.get("span_id"),
        "parent_id": span.get("parent_id"),
        "entity": span.get("service"),
        "operation": span.get("name"),
        "start": span.get("start"),
        "duration_ms": span.get("duration_ms"),
        "status": span.get("status"),
    }
    more = {key: _flat(value) for key, value in span.items() if key not in {*named, "service", "name"}}
    return {**named, "detail": json.dumps(more, ensure_ascii=False) if more else None}


def _flat(value: object) -> object:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def _write_changes(context: Path, folder: Path, until_s: float | None) -> None:
    """Deploys and flags as changes; commits, with files and diff, in a file of their own."""
    deploys = _until(read_objects(context / "deploys.json"), "timestamp", until_s)
    flags = _until(read_objects(context / "flags.json"), "timestamp", until_s)
    rows = [
        (
            str(row["timestamp"]),
            "deploy",
            f"version {row.get('version')}, commit {row.get('commit_sha')}",
            row.get("service"),
            row.get("commit_sha"),
        )
        for row in deploys
    ]
    rows += [
        (
            str(row["timestamp"]),
            "flag",
            f"{row.get('flag')} {row.get('change')} by {row.get('actor')}",
            row.get("service"),
            "",
        )
        for row in flags
    ]
    if rows:
        write_csv(
            folder / "changes.csv", ("time", "kind", "summary", "entity", "commit"), sorted(rows, key=str)
        )
    commits = _until(read_objects(context / "commits.json"), "timestamp", until_s)
    write_jsonl(
        folder / "commits.jsonl",
        [
            {
                "time": row["timestamp"],
                "kind": "commit",
                "commit": row.get("sha"),
                "author": row.get("author"),
                "summary": row.get("message"),
                "files": row.get("files_changed"),
                "diff": row.get("diff"),
            }
            for row in commits
        ],
    )


def _time_s(path: Path, row: JsonRow, key: str) -> float:
    try:
        return parse_utc(str(row[key]))
    except (KeyError, ValueError) as error:
        raise InvalidInput(path.name, f"it has no time under {key}", "use the files as published") from error
