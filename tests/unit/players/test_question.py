"""What a question says of when and what: read where it is plain, left alone where it is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.diagnosis.question import asked_instant
from diagnosis_harness.kernel.window import TimeWindow, parse_utc
from diagnosis_harness.players.embedded.question import asked_symptom

DAY = TimeWindow(parse_utc("2024-05-01T13:00:00Z"), parse_utc("2024-05-01T14:30:00Z"))
WEEK = TimeWindow(DAY.start_s, DAY.start_s + 7 * 86_400)


@pytest.mark.parametrize(
    ("question", "recorded", "instant"),
    [
        ("why is checkout slow since 14:05?", DAY, "2024-05-01T14:05:00Z"),
        ("结账为什么从 14:05 开始变慢？", DAY, "2024-05-01T14:05:00Z"),
        ("14:05:30之后为什么报错", DAY, "2024-05-01T14:05:30Z"),
        ("what broke at 2024-05-01T13:59:00Z?", DAY, "2024-05-01T13:59:00Z"),
        ("what broke at 2024-05-01 21:59:00+08:00?", DAY, "2024-05-01T13:59:00Z"),
        ("slow between 13:10 and 13:40?", DAY, None),
        ("slow since 09:00?", DAY, None),
        ("slow since 14:05?", WEEK, None),
        ("slow since 14:05?", None, None),
        ("v2.14:05 of the image", DAY, None),
        ("ratio 3:1 and port 10.0.0.1:8080", DAY, None),
        ("at 2024-13-45 99:99", DAY, None),
        ("why?", DAY, None),
    ],
)
def test_an_instant_is_taken_where_there_is_just_one(
    question: str, recorded: TimeWindow | None, instant: str | None
) -> None:
    """Inside the recording, UTC, and no guess between several."""
    found = asked_instant(question, recorded)
    assert found == (None if instant is None else parse_utc(instant))


@pytest.mark.parametrize(
    ("question", "signal"),
    [
        ("why is checkout slow?", "latency"),
        ("结账为什么变慢？", "latency"),
        ("why does checkout fail?", "error"),
        ("结账为什么报错？", "error"),
        ("why is checkout slow and failing?", None),
        ("what happened to checkout?", None),
    ],
)
def test_a_symptom_is_named_by_one_kind_of_word(question: str, signal: str | None) -> None:
    """Slow, or failing; both or neither is left open."""
    assert asked_symptom(question) == signal


@given(st.text(), st.floats(0, 2e9), st.floats(0, 4e6))
def test_any_text_names_an_instant_of_the_recording_or_none(
    text: str, start_s: float, length_s: float
) -> None:
    """No question raises, and nothing outside the recording is ever taken."""
    recorded = TimeWindow(start_s, start_s + length_s)
    found = asked_instant(f"{text} 14:05 {text}", recorded)
    assert found is None or recorded.contains(found)
