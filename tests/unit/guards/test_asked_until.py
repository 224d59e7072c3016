"""A question about a span of time: what a tool compared must end with it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.support.inquiries import inquiry

from diagnosis_harness.diagnosis.inquiry import Inquiry, OnsetOrigin
from diagnosis_harness.diagnosis.question import TimeRead, read_question_time
from diagnosis_harness.guards.asked import question_scope
from diagnosis_harness.kernel.window import TimeWindow, parse_utc
from diagnosis_harness.testing.evidence import WINDOW, ready_record
from diagnosis_harness.tools.evidence import EvidenceItem, ItemKind

UNTIL_S = WINDOW.start_s + 300.0
MOVED = EvidenceItem(
    "i1", ItemKind.SIGNAL_CHANGE, "latency of checkout rose", entity="checkout", window=WINDOW
)


def asks_until(until_s: float | None) -> Inquiry:
    """A question whose words name the beginning, and perhaps an end."""
    asked = inquiry("checkout")
    return replace(
        asked,
        onset_s=WINDOW.start_s,
        onset_origin=OnsetOrigin.QUESTION,
        reading=replace(asked.reading, time=TimeRead(WINDOW.start_s, until_s)),
    )


@pytest.mark.parametrize(
    ("asked_s", "given_s", "end_s", "counts"),
    [
        (UNTIL_S, UNTIL_S, UNTIL_S, True),
        (UNTIL_S, None, WINDOW.end_s, False),  # it compares more than was asked about
        (UNTIL_S, None, UNTIL_S, True),  # a tool that takes no end, and went no further
        (UNTIL_S, UNTIL_S + 60.0, UNTIL_S, False),
        (None, UNTIL_S, UNTIL_S, False),  # an end that a policy chose
        (None, None, WINDOW.end_s, True),
    ],
)
def test_a_comparison_counts_only_up_to_the_end_that_was_asked_about(
    asked_s: float | None, given_s: float | None, end_s: float, counts: bool
) -> None:
    """A policy chooses the arguments of its calls, so the end of one proves nothing by itself."""
    item = replace(MOVED, window=TimeWindow(WINDOW.start_s, end_s))
    record = ready_record(item, scope="{}" if given_s is None else json.dumps({"until": given_s}))
    scope = question_scope(asks_until(asked_s), [record])

    assert scope.is_at_its_time(record, item) is counts


@pytest.mark.parametrize(
    ("question", "at", "until"),
    [
        ("what changed before 14:05?", None, "14:05"),
        ("was checkout slow until 14:05", None, "14:05"),
        ("14:05 之前有哪些变更", None, "14:05"),
        ("why was checkout slow from 13:40 until 14:05", "13:40", "14:05"),
        ("what broke just before 14:05?", "14:05", None),
        ("14:05 前后有什么变化", "14:05", None),
        ("before and after 14:05", "14:05", None),
        ("why did checkout fail before 14:05?", None, "14:05"),
        ("Why is shop slow? It was fine until 14:05", "14:05", None),
        ("shop was fast until 14:05, why is it slow now?", "14:05", None),
        ("everything was ok before 14:05, what broke?", "14:05", None),
        ("before 14:05 everything worked, what broke?", "14:05", None),
        ("before 14:05, all was normal. Why is it slow?", "14:05", None),
        ("no errors before 14:05, then many", "14:05", None),
        ("checkout didn't fail before 14:05", "14:05", None),
        ("14:05 之前一切正常，shop 为什么变慢？", "14:05", None),
        ("直到 14:05 都没问题，为什么现在报错", "14:05", None),
        ("latency was 20 ms until 14:05, now it is 2 s", "14:05", None),
        ("截止 14:05 有哪些变更", None, "14:05"),
        ("from 2024-05-01T14:05:00Z until 2024-05-01T14:12:00Z", "14:05", "14:12"),
        ("from 2024-05-01 14:05 to 2024-05-01 14:12", "14:05", "14:12"),
    ],
)
def test_a_time_may_end_what_is_asked_about(question: str, at: str | None, until: str | None) -> None:
    """`before 14:05` is no beginning."""
    recorded = TimeWindow(parse_utc("2024-05-01T13:00:00Z"), parse_utc("2024-05-01T15:00:00Z"))

    def second(clock: str | None) -> float | None:
        return None if clock is None else parse_utc(f"2024-05-01T{clock}:00Z")

    assert read_question_time(question, recorded) == TimeRead(second(at), second(until))
