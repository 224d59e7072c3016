"""Turns a notification of Alertmanager into a question, and computes the fingerprint of its group. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from diagnosis_harness.application.callers.caller import Caller
from diagnosis_harness.application.runs.submission import (
    EARLIEST_ONSET_S,
    LATEST_ONSET_S,
    Submission,
)
from diagnosis_harness.kernel.language import Language, language_of
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.report.timestamps import escape_line
from diagnosis_harness.server.request_bodies import Alert, AlertGroup
from diagnosis_harness.server.submit import fingerprint_of

ALERTS_SHOWN = 5
_TEXT_SHOWN = 500
_QUESTION_SHOWN = 4_000
"""Characters; enough for the group with the most alerts that one notification can hold, shortened."""
_SUMMARIES = ("summary", "description", "message")
_WORDS = {
    Language.EN: (
        "Alert firing: {alerts}. {summary}What is the cause?",
        " ({count} alerts)",
        "and {count} more",
    ),
    Language.ZH: ("告警触发：{alerts}。{summary}原因是什么？", "（{count} 个告警）", "以及另外 {count} 个"),
}


def group_fingerprint(group: AlertGroup, caller: Caller, *, source: str | None) -> str:
    """The identity of a group: its key, its sender and its source.

    The alerts do not count, so a group that grows keeps it.
    """
    return fingerprint_of("alert", caller, group.groupKey, *(() if source is None else (source,)))


def submission_of(group: AlertGroup, *, source: str | None) -> Submission:
    """The question that a firing group asks; its onset is the earliest start among the firing alerts."""
    summary = _summary(group)
    language = language_of(summary)
    template, _, _ = _WORDS[language]
    question = template.format(alerts=_alerts(group, language), summary=f"{summary} " if summary else "")
    return Submission(
        question=question[:_QUESTION_SHOWN],
        language=language,
        source=source,
        onset_s=_onset_s(_firing(group)),
    )


def is_about_nothing(group: AlertGroup) -> bool:
    """Whether a group is marked as firing but contains no firing alert."""
    return group.status == "firing" and not _firing(group)


def _firing(group: AlertGroup) -> tuple[Alert, ...]:
    return tuple(alert for alert in group.alerts if alert.status == "firing")


def _summary(group: AlertGroup) -> str:
    """The summary or description that the rule gives the group, or else its first firing alert."""
    for notes in (group.commonAnnotations, *(alert.annotations for alert in _firing(group)[:1])):
        for name in _SUMMARIES:
            if text := _line(notes.get(name, "")):
                return text if text.endswith((".", "。", "!", "?", "！", "？")) else f"{text}."
    return ""


def _alerts(group: AlertGroup, language: Language) -> str:
    firing = _firing(group)
    count = len(firing) + group.truncatedAlerts
    if count == 1:
        return _labels(firing[0].labels)
    _, counted, more = _WORDS[language]
    common = _labels(group.commonLabels) + counted.format(count=count)
    several = [_labels(_without(alert.labels, group.commonLabels)) for alert in firing[:ALERTS_SHOWN]]
    if count > len(several):
        several.append(more.format(count=count - len(several)))
    return f"{common}: {'; '.join(each for each in several if each)}".removesuffix(": ")


def _labels(labels: Mapping[str, str]) -> str:
    """`HighErrorRate (severity=critical, service=checkout)`."""
    name = _name(labels.get("alertname", ""))
    rest = ", ".join(
        f"{_name(key)}={_name(value)}" for key, value in sorted(labels.items()) if key != "alertname"
    )
    if not name:
        return rest
    return f"{name} ({rest})" if rest else name


def _without(labels: Mapping[str, str], common: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in labels.items() if common.get(key) != value}


def _name(text: str) -> str:
    """A label's name or value, treated as data and not as a sentence; empty if missing."""
    plain = " ".join(text.split())[:_TEXT_SHOWN]
    return display_name(plain) if plain else ""


def _line(text: str) -> str:
    """Foreign text on one line, without invisible characters, and shortened."""
    return escape_line(" ".join(text.split())[:_TEXT_SHOWN])


def _onset_s(alerts: Iterable[Alert]) -> float | None:
    """The earliest start among the alerts; missing and impossible starts are ignored."""
    starts = [alert.startsAt.timestamp() for alert in alerts if alert.startsAt is not None]
    possible = [start for start in starts if EARLIEST_ONSET_S <= start < LATEST_ONSET_S]
    return min(possible, default=None)
