"""What a question says of when and what: read where it is plain, left alone where it is not."""

from __future__ import annotations

from datetime import UTC, tzinfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.diagnosis.question import (
    read_question_time,
    timestamp_in_question,
    timestamp_outside_recording,
)
from diagnosis_harness.diagnosis.zones import number_in_words, zone_of
from diagnosis_harness.kernel.window import TimeWindow, parse_utc
from diagnosis_harness.players.embedded.question import symptom_in_question

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
        ("slow between 13:10 and 13:40?", DAY, "2024-05-01T13:10:00Z"),
        ("slow since 09:00?", DAY, None),
        ("slow since 14:05?", WEEK, None),
        ("slow since 14:05?", None, None),
        ("v2.14:05 of the image", DAY, None),
        ("ratio 3:1 and port 10.0.0.1:8080", DAY, None),
        ("at 2024-13-45 99:99", DAY, None),
        ("why?", DAY, None),
    ],
)
def test_a_time_is_taken_where_there_is_just_one(
    question: str, recorded: TimeWindow | None, instant: str | None
) -> None:
    """Inside the recording, UTC, and no guess between several."""
    found = timestamp_in_question(question, recorded)
    assert found == (None if instant is None else parse_utc(instant))


@pytest.mark.parametrize(
    ("question", "clock"),
    [
        ("Why did storefront fail at 2024-05-01T13:50:00Z?", "13:50:00"),
        ("fail at 2024-05-01T15:50:00+02:00?", "13:50:00"),
        ("fail at 2024-05-01T15:50:00+0200?", "13:50:00"),
        ("fail at 2024-05-01 15:50 +02:00?", "13:50:00"),
        ("fail at 2024-05-01T08:50:00-0500?", "13:50:00"),
        ("fail at 2024-05-01T15:50:00.5+02:00?", "13:50:00.500"),
        ("fail at 2024-05-01 1:50 pm?", "13:50:00"),
        ("fail at 15:50+02:00?", "13:50:00"),
        ("fail at 15:50 UTC+2?", "13:50:00"),
        ("fail at 13:50Z?", "13:50:00"),
        ("fail at 13:50 UTC?", "13:50:00"),
        ("fail at 13:50 GMT?", "13:50:00"),
        ("fail at 1:50 pm?", "13:50:00"),
        ("fail at 1:50 p.m.?", "13:50:00"),
        ("fail at 1:50pm?", "13:50:00"),
        ("fail at 1:50 in the afternoon?", "13:50:00"),
        ("下午 1:50 为什么失败", "13:50:00"),
        ("下午1:50为什么失败", "13:50:00"),
        ("中午 1:50 为什么失败", "13:50:00"),
        ("fail at 1:50 am?", None),
        ("fail at 13:50 am?", None),
        ("上午 1:50 为什么失败", None),
        ("晚上 1:50 为什么失败", None),
        ("fail at 13:50 CET?", None),
        ("fail at 13:50 EST?", None),
        ("fail at 13:50 PST?", None),
        ("fail at 13:50 Pacific time?", None),
        ("fail at 13:50 Europe/Berlin?", None),
        ("fail at 2024-05-01 13:50 CEST?", None),
        ("北京时间 13:50 为什么失败", None),
        ("从 13:50（北京时间）起失败", None),
        ("在 5月1日 13:50 失败", "13:50:00"),
        ("在2024年5月1日13:50失败", "13:50:00"),
        ("在 5月1日下午 1:50 失败", "13:50:00"),
        ("fail on May 1 at 13:50?", "13:50:00"),
        ("fail at 13:50 on May 1st?", "13:50:00"),
        ("fail at 13:50 on 1 May 2024?", "13:50:00"),
        ("fail on 1.5. at 13:50?", "13:50:00"),
        ("fail on 5/1 at 13:50?", "13:50:00"),
        ("在 4月30日 13:50 失败", None),
        ("fail on April 30 at 13:50?", None),
        ("fail at 13:50 on 30 April?", None),
        ("fail on 30.4. at 13:50?", None),
        ("fail on 4/30 at 13:50?", None),
        ("13:50 on 2024-04-30?", None),
        ("ratio 13:50 of requests", None),
        ("a ratio of 13:50", None),
        ("at 13:50 ratio", None),
        ("成功与失败比例 13:50", None),
        ("image 13:50 fails", None),
        ("the error ratio rose at 13:50", "13:50:00"),
        ("around 13:50, why?", "13:50:00"),
        ("since about 13:50?", "13:50:00"),
        ("before 13:50 all was well", "13:50:00"),
        ("13:50, why?", "13:50:00"),
        ("(13:50) why?", "13:50:00"),
        ("自13:50以来变慢", "13:50:00"),
        ("在13:50变慢", "13:50:00"),
        ("约 13:50 变慢", "13:50:00"),
        ("结账 13:50 开始变慢", "13:50:00"),
        ("why at 13:50 GET /cart fails", "13:50:00"),
        ("from 13:10-13:40?", "13:10:00"),
        ("from 09:00 to 13:40?", None),
        ("从 13:10 到 13:40", "13:10:00"),
        ("between 13:10 and 13:40 CET?", None),
        ("ratio 13:10 and 13:40", None),
        ("at 2024-05-01T13:50:00Z (15:50 CEST)?", "13:50:00"),
    ],
)
def test_a_time_is_read_with_its_zone_its_date_and_its_part_of_the_day(
    question: str, clock: str | None
) -> None:
    """The words beside a clock time are part of it: without them, the answer is about another time."""
    assert timestamp_in_question(question, DAY) == (
        None if clock is None else parse_utc(f"2024-05-01T{clock}Z")
    )


@pytest.mark.parametrize(
    ("question", "outside"),
    [
        ("fail at 2024-04-30T13:50:00Z?", "2024-04-30T13:50:00Z"),
        ("fail at 2024-05-01T13:50:00+02:00?", "2024-05-01T11:50:00Z"),
        ("在 4月30日 13:50 失败", "2024-04-30T13:50:00Z"),
        ("fail at 13:50 on April 30?", "2024-04-30T13:50:00Z"),
        ("2024-04-30T13:50:00Z was well, and 2024-05-01T13:50:00Z?", None),
        ("fail at 2024-04-30 13:50 CST?", None),
        ("fail at 2024-13-45 13:50?", None),
        ("fail at 09:00?", None),
        ("why?", None),
    ],
)
def test_a_time_with_its_date_outside_of_the_recording_is_found(question: str, outside: str | None) -> None:
    """It is refused; a clock time alone may be about anything."""
    assert timestamp_outside_recording(question, DAY) == (None if outside is None else parse_utc(outside))
    assert timestamp_outside_recording(question, None) is None


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
    assert symptom_in_question(question) == signal


@given(st.text(), st.floats(0, 2e9), st.floats(0, 4e6))
def test_any_text_names_a_time_of_the_recording_or_none(text: str, start_s: float, length_s: float) -> None:
    """No question raises, and nothing outside the recording is ever taken."""
    recorded = TimeWindow(start_s, start_s + length_s)
    found = timestamp_in_question(f"{text} 14:05 {text}", recorded)
    assert found is None or recorded.contains(found)


BERLIN = zone_of("Europe/Berlin")


@pytest.mark.parametrize(
    ("question", "zone", "clock"),
    [
        ("since 15:50?", BERLIN, "13:50:00"),
        ("since 13:50 UTC?", BERLIN, "13:50:00"),
        ("since 15:50 CEST?", UTC, "13:50:00"),
        ("since 15:50 Europe/Berlin?", UTC, "13:50:00"),
        ("since 9:50 eastern?", UTC, "13:50:00"),
        ("北京时间 21:50 起失败", UTC, "13:50:00"),
        ("since 9:50 pm 北京时间", UTC, "13:50:00"),
        ("since 2 pm?", UTC, "14:00:00"),
        ("下午两点起为什么慢", UTC, "14:00:00"),
        ("从下午两点零五分起变慢", UTC, "14:05:00"),
        ("从下午一点半起变慢", UTC, "13:30:00"),
        ("since today 14:05?", UTC, "14:05:00"),
        ("今天 14:05 起变慢", UTC, "14:05:00"),
        ("for the last half hour", UTC, "14:00:00"),
        ("since 10 minutes ago", UTC, "14:20:00"),
        ("最近半小时变慢", UTC, "14:00:00"),
        ("十分钟前开始变慢", UTC, "14:20:00"),
    ],
)
def test_a_time_is_read_in_its_zone_and_back_from_the_end_of_the_data(
    question: str, zone: tzinfo, clock: str
) -> None:
    """The zone of the question wins; relative times count from the last point."""
    assert read_question_time(question, DAY, zone).at_s == parse_utc(f"2024-05-01T{clock}Z")


@pytest.mark.parametrize(
    ("question", "unread"),
    [
        ("since 13:50 CST?", ("13:50 CST",)),
        ("since 09:00?", ("09:00",)),
        ("13:20, 13:40 or 14:05?", ("13:20", "13:40", "14:05")),
        ("for the last 10 hours", ("for the last 10 hours",)),
        ("why is it slow?", ()),
        ("a ratio of 13:50", ()),
    ],
)
def test_a_time_that_is_not_used_is_named(question: str, unread: tuple[str, ...]) -> None:
    """It is never dropped without a word."""
    found = read_question_time(question, DAY)

    assert found.at_s is None
    assert found.unread == unread


@pytest.mark.parametrize("question", ["from 13:50 to 14:05", "between 13:50 and 14:05?", "13:50 到 14:05"])
def test_two_linked_times_are_the_ends_of_a_span(question: str) -> None:
    """It began at the first of them."""
    found = read_question_time(f"slow at {question}", DAY)

    assert (found.at_s, found.until_s) == (
        parse_utc("2024-05-01T13:50:00Z"),
        parse_utc("2024-05-01T14:05:00Z"),
    )


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("六", 6),
        ("十", 10),
        ("十九", 19),
        ("二十", 20),
        ("二十三", 23),
        ("两", 2),
        ("零五", 5),
        ("12", 12),
        ("x", None),
    ],
)
def test_a_chinese_number_is_read(text: str, number: int | None) -> None:
    """As far as hours and minutes go."""
    assert number_in_words(text) == number
