"""A notification of Alertmanager becomes one question, known by its group and its firing alerts."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from diagnosis_harness.application.callers.caller import LOCAL, Caller, CallerRole
from diagnosis_harness.application.runs.request import RunKind
from diagnosis_harness.application.runs.submission import SubmissionRules, request_of
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.kernel.window import parse_utc
from diagnosis_harness.server.alertmanager import group_fingerprint, submission_of
from diagnosis_harness.server.request_bodies import AlertGroup
from diagnosis_harness.testing.clock import ManualClock
from diagnosis_harness.testing.ids import CountingIds

ANN = Caller("ann", CallerRole.OPERATOR)
RULES = SubmissionRules(sources=(), limit_s=60.0, limit_max_s=60.0, start_within_s=60.0)


def alert(
    status: str = "firing", starts: str = "2024-01-01T14:05:00.123456789Z", **labels: str
) -> dict[str, Any]:
    """One alert as Alertmanager sends it."""
    return {
        "status": status,
        "labels": {"alertname": "HighErrorRate", **labels},
        "annotations": {"summary": "Errors above 5% for 10 minutes", "runbook_url": "http://wiki/x"},
        "startsAt": starts,
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus/graph?x",
        "fingerprint": "c1a2",
    }


def payload(
    *alerts: dict[str, Any], status: str = "firing", key: str = '{}:{alertname="HighErrorRate"}'
) -> dict[str, Any]:
    """A notification as Alertmanager sends it, version 4."""
    return {
        "version": "4",
        "groupKey": key,
        "truncatedAlerts": 0,
        "status": status,
        "receiver": "diagnosis",
        "groupLabels": {"alertname": "HighErrorRate"},
        "commonLabels": {"alertname": "HighErrorRate"},
        "commonAnnotations": {},
        "externalURL": "http://alertmanager",
        "alerts": list(alerts),
    }


def group(*alerts: dict[str, Any], **parts: Any) -> AlertGroup:
    """The same, read."""
    return AlertGroup.model_validate(payload(*alerts, **parts))


def test_the_question_says_what_fires_and_what_its_rule_says() -> None:
    """Name, labels, summary; the onset is when it began."""
    submission = submission_of(group(alert(service="checkout", severity="critical")), source="shop")
    assert submission.question == (
        "Alert firing: HighErrorRate (service=checkout, severity=critical). "
        "Errors above 5% for 10 minutes. What is the cause?"
    )
    assert submission.onset_s == pytest.approx(parse_utc("2024-01-01T14:05:00Z"), abs=1.0)
    assert submission.source == "shop"
    assert submission.language is Language.EN


def test_several_alerts_are_named_and_the_earliest_is_the_onset() -> None:
    """Those that are resolved are not."""
    several = group(
        alert(service="b", starts="2024-01-01T14:10:00+08:00"),
        alert(service="a", starts="2024-01-01T14:05:00Z"),
        alert("resolved", service="gone", starts="2023-01-01T00:00:00Z"),
    )
    submission = submission_of(several, source=None)
    assert "HighErrorRate (2 alerts): service=b; service=a." in submission.question
    assert "gone" not in submission.question
    assert submission.onset_s == parse_utc("2024-01-01T06:10:00Z")


def test_a_rule_in_chinese_asks_in_chinese() -> None:
    """The language is that of what the rule says."""
    spoken = alert(service="checkout")
    spoken["annotations"] = {"summary": "错误率超过 5%。"}
    submission = submission_of(group(spoken), source=None)
    assert submission.question == "告警触发：HighErrorRate (service=checkout)。错误率超过 5%。 原因是什么？"
    assert submission.language is Language.ZH


def test_a_group_is_known_by_its_key_whichever_alerts_are_in_it() -> None:
    """A group that grows or shrinks stays the one that is asked about; another key is another group."""
    one, two = alert(service="a", zone="1"), alert(service="b")
    known = group_fingerprint(group(one), ANN, source="shop")

    same = [
        group_fingerprint(group(two, one), ANN, source="shop"),
        group_fingerprint(group(alert("resolved", service="c"), status="resolved"), ANN, source="shop"),
    ]

    assert same == [known, known]


def test_another_key_sender_or_source_is_another_group() -> None:
    """Nobody joins another's run, and one receiver may ask about two sources."""
    sent = group(alert())
    known = [
        group_fingerprint(sent, ANN, source="shop"),
        group_fingerprint(group(alert(), key="other"), ANN, source="shop"),
        group_fingerprint(sent, LOCAL, source="shop"),
        group_fingerprint(sent, ANN, source="bank"),
        group_fingerprint(sent, ANN, source=None),
    ]

    assert len(set(known)) == 5


def test_alerts_that_alertmanager_left_out_are_counted() -> None:
    """`max_alerts` of the receiver cuts the list; the question says how many there are."""
    cut = AlertGroup.model_validate(
        {**payload(alert(service="a"), alert(service="b")), "truncatedAlerts": 40}
    )

    submission = submission_of(cut, source=None)

    assert "HighErrorRate (42 alerts): service=a; service=b; and 40 more." in submission.question


@pytest.mark.parametrize("starts", ["0001-01-01T00:00:00Z", "1969-12-31T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_a_start_that_cannot_be_is_not_taken_for_an_onset(starts: str) -> None:
    """The notification is still worth a run."""
    assert submission_of(group(alert(starts=starts)), source=None).onset_s is None


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "3"},
        {"status": "pending"},
        {"groupKey": ""},
        {"alerts": None},
        {"alerts": [{"status": "firing"}]},
        {"alerts": [alert(starts="2024-01-01T14:05:00")]},
        {"alerts": [{**alert(), "labels": {"a": 1}}]},
    ],
)
def test_what_is_not_a_notification_is_refused(changes: dict[str, Any]) -> None:
    """Another version, no alerts, a start without a zone, labels that are no text."""
    with pytest.raises(ValidationError):
        AlertGroup.model_validate({**payload(alert()), **changes})


LABELS = st.dictionaries(st.text(max_size=10), st.text(max_size=40), max_size=3)
ZONES = st.sampled_from([UTC, timezone(timedelta(hours=8)), timezone(-timedelta(hours=3, minutes=30))])
ALERTS = st.builds(
    lambda status, labels, notes, starts: {
        "status": status,
        "labels": labels,
        "annotations": notes,
        "startsAt": starts,
    },
    st.sampled_from(["firing", "resolved"]),
    LABELS,
    st.dictionaries(st.sampled_from(["summary", "description", "x"]), st.text(max_size=40), max_size=2),
    st.datetimes(timezones=ZONES).map(lambda at: at.isoformat()) | st.none(),
)


@given(st.lists(ALERTS, max_size=7), LABELS, st.text(min_size=1, max_size=20))
def test_any_notification_makes_a_question_that_may_be_asked(
    alerts: list[dict[str, Any]], common: dict[str, str], key: str
) -> None:
    """One that the application takes: not empty, not too long, no NUL, an onset that can be, and masked."""
    content = {**payload(*alerts, key=key), "commonLabels": common}
    submission = submission_of(AlertGroup.model_validate(content), source=None)
    request = request_of(
        submission, ANN, RunKind.BACKGROUND, rules=RULES, clock=ManualClock(), ids=CountingIds()
    )
    assert request.question
    assert "\n" not in request.question


def test_a_secret_in_a_label_is_not_kept() -> None:
    """The question is masked as every other is."""
    submission = submission_of(group({**alert(), "labels": {"password": "hunter2hunter2"}}), source=None)
    request = request_of(
        submission, ANN, RunKind.BACKGROUND, rules=RULES, clock=ManualClock(), ids=CountingIds()
    )
    assert "hunter2" not in request.question


def test_a_notification_of_any_size_makes_a_question_of_a_bounded_one() -> None:
    """Thousands of alerts with long labels; what matters comes first."""
    many = [alert(service=f"s{place}", detail="x" * 5_000) for place in range(2_000)]
    submission = submission_of(group(*many), source=None)
    assert len(submission.question) <= 4_000
    assert submission.question.startswith("Alert firing: HighErrorRate (2000 alerts): ")
    assert submission.question.endswith("and 1995 more. Errors above 5% for 10 minutes. What is the cause?")
