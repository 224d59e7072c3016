"""Alerts of Alertmanager, Prometheus, Grafana and PagerDuty."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.log_records import entity_of_labels
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    ALERT_COLUMNS,
    OTHER_LABELS,
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
from diagnosis_harness.adapters.sources.incident_folder.listing import Role

_Row = tuple[Cell, ...]
_TEXTS: Final = ("summary", "title", "description", "message")


def _alerts_in(document: Record) -> list[Record]:
    """The alerts of a notification or an API response, or the object itself."""
    found = list_at(document, "alerts") or list_at(document, "data", "alerts") or [document]
    return [one for one in found if isinstance(one, dict)]


def _is_labelled(head: FileHead) -> bool:
    first = [one for document in head.objects[:3] for one in _alerts_in(document)[:1]]
    return bool(first) and all(
        isinstance(one.get("labels"), dict) and ("startsAt" in one or "activeAt" in one) for one in first
    )


def _read_labelled(content: FileContent) -> Iterable[RoleRows]:
    """Read alerts, the firing ones first, since a notification may include resolved ones."""
    alerts = [one for document in content.records() for one in _alerts_in(document)]
    firing = [one for one in alerts if string_at(one, "status.state", "status", "state") != "resolved"]
    return [RoleRows(Role.ALERT, ALERT_COLUMNS, [_row_of_labels(one) for one in firing or alerts])]


def _row_of_labels(alert: Record) -> _Row:
    labels = _strings(alert.get("labels"))
    notes = _strings(alert.get("annotations"))
    name = labels.pop("alertname", "")
    text = next((notes[key] for key in _TEXTS if notes.get(key)), "")
    summary = f"{name}: {text}" if name and text else name or text
    at_s = epoch_seconds(string_at(alert, "startsAt", "activeAt"))
    return (at_s, entity_of_labels(labels), None, None, None, summary, *_other_labels(labels, notes))


def _other_labels(*labels: Mapping[str, str]) -> tuple[str | None, ...]:
    """The values of labels and annotations, as many as there are columns."""
    values = [value for each in labels for value in each.values()][:OTHER_LABELS]
    return (*values, *[None] * (OTHER_LABELS - len(values)))


def _strings(value: object) -> dict[str, str]:
    return {str(key): str(one) for key, one in value.items()} if isinstance(value, Mapping) else {}


def _is_legacy_grafana(head: FileHead) -> bool:
    return "ruleName" in head.lone and "evalMatches" in head.lone


def _read_legacy_grafana(content: FileContent) -> Iterable[RoleRows]:
    rows: list[_Row] = []
    for alert in content.records():
        tags = _strings(at(alert, "evalMatches", 0, "tags")) | _strings(alert.get("tags"))
        summary = ": ".join(
            part for part in (string_at(alert, "ruleName"), string_at(alert, "message")) if part
        )
        rows.append(
            (
                None,
                entity_of_labels(tags),
                string_at(at(alert, "evalMatches", 0), "metric"),
                None,
                None,
                summary,
                *_other_labels(tags),
            )
        )
    return [RoleRows(Role.ALERT, ALERT_COLUMNS, rows)]


def _incidents_in(document: Record) -> list[Record]:
    inner = at(document, "event", "data")
    found = [inner] if isinstance(inner, dict) else list_at(document, "incidents")
    return [one for one in found if isinstance(one, dict)]


def _is_pagerduty(head: FileHead) -> bool:
    first = [one for document in head.objects[:1] for one in _incidents_in(document)[:1]]
    return bool(first) and all("service" in one and ("title" in one or "summary" in one) for one in first)


def _read_pagerduty(content: FileContent) -> Iterable[RoleRows]:
    rows: list[_Row] = []
    for document in content.records():
        for incident in _incidents_in(document):
            time_s = epoch_seconds(
                string_at(incident, "created_at") or string_at(document, "event.occurred_at")
            )
            entity = string_at(incident, "service.summary", "service.name")
            summary = string_at(incident, "title", "summary")
            rows.append((time_s, entity, None, None, None, summary, *_other_labels()))
    return [RoleRows(Role.ALERT, ALERT_COLUMNS, rows)]


ALERT_READERS: Final = (
    FileReader("alertmanager", "alerts of Alertmanager, Prometheus or Grafana", _is_labelled, _read_labelled),
    FileReader(
        "grafana-alert", "an alert of Grafana before version 9", _is_legacy_grafana, _read_legacy_grafana
    ),
    FileReader("pagerduty", "incidents of PagerDuty", _is_pagerduty, _read_pagerduty),
)
