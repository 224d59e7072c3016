"""Checks numbers and times of a sentence against the facts, each in the role given by the words beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from math import floor, isfinite

from diagnosis_harness.diagnosis.word_class import WordClass
from diagnosis_harness.guards.wording_facts import Facts
from diagnosis_harness.guards.wording_tokens import Token, TokenKind, class_of
from diagnosis_harness.guards.wording_words import words
from diagnosis_harness.kernel.quantity import SHOWN_DIGITS, convert, is_rounding_of
from diagnosis_harness.kernel.window import TimeWindow


class NumberRole(StrEnum):
    """What a number is in its sentence."""

    VALUE = "VALUE"
    BASELINE = "BASELINE"
    DIFFERENCE = "DIFFERENCE"
    DURATION = "DURATION"


_TO_VALUE = words(
    "to reached reaching at 到 至 达到 达 变为 变成 上升到 上升至 升到 升至 升高到 升高至 增加到 "
    "增加至 增长到 增长至 增至 增到 提高到 飙升到 飙升至 攀升到 攀升至 涨到 涨至 上涨到 下降到 下降至 "
    "降到 降至 降低到 降低至 减少到 减少至 跌到 跌至 下跌到 回落到 回落至 骤降到 骤降至 保持在"
)
_TO_BASELINE = words("from 从 由")
_FORWARD_ONLY = words("versus vs against compared than 相比 对比 较")
"""Words of comparison, which are followed by the number compared with."""
_BETWEEN = words("the a its of at is was level value with to 的 为 是 值 水平 约 about nearly roughly")
"""Words allowed between such a word and its number."""
_BY = frozenset({"by", "了"})
_DURING = words("for within over during last lasted 内 持续 期间")
_EXACT_S = 1e-5
"""Rounding error of a computed time in seconds since the epoch."""
_NOT_AT = words("before earlier than until 之前 此前 以前 前")
"""Words beside a time that refer to a different time than the written one."""
_DATE = re.compile(r"(?:(\d{4})[-年])?(\d{1,2})[-月](\d{1,2})日?")
_CLOCK = re.compile(r"(\d{1,2})[:点时](\d{1,2})(?:[:分](\d{1,2}(?:\.\d+)?))?")


def supports_number(read: Sequence[Token], place: int, facts: Facts) -> bool:
    """Whether a number equals the facts in its role; a number without a checkable value never does."""
    token = read[place]
    if not isfinite(token.value) or (token.value == 0 and token.text.startswith("-")):
        return False
    match role_of(read, place):
        case NumberRole.VALUE:
            return _states(token, facts.value, facts.unit)
        case NumberRole.BASELINE:
            return _states(token, facts.baseline, facts.unit)
        case NumberRole.DIFFERENCE:
            return _supports_difference(token, facts)
        case NumberRole.DURATION:
            window = facts.window
            return window is not None and _states(token, window.duration_s, "s")


def supports_factor(read: Sequence[Token], place: int, facts: Facts) -> bool:
    """Whether `12 times`, `doubled` or 三倍 is the ratio of value and baseline of the item."""
    factor = read[place].value
    before = read[place - 1].text if place else ""
    if before in _BY or not isfinite(factor):
        return False  # `rose by 3 times` and 增加了三倍 are ambiguous
    value, baseline = facts.value, facts.baseline
    if value is None or baseline is None or baseline == 0:
        return False
    return is_rounding_of(factor, value / baseline)


def supports_instants(read: Sequence[Token], facts: Facts) -> bool:
    """Whether one time is the onset, or two are start and end of the window in this order.

    More are refused.
    """
    places = [place for place, token in enumerate(read) if token.kind is TokenKind.INSTANT]
    beside = {read[at].text for place in places for at in (place - 1, place + 1) if 0 <= at < len(read)}
    if not _NOT_AT.isdisjoint(beside):
        return False
    instants = [read[place].text for place in places]
    match len(instants):
        case 0:
            return True
        case 1:
            return facts.onset_s is not None and _is(instants[0], facts.onset_s)
        case 2:
            window = facts.window
            return window is not None and _is_window(instants, window)
        case _:
            return False


def role_of(read: Sequence[Token], place: int) -> NumberRole:
    """The role of a number in its sentence, from the words beside it."""
    before = _words_before(read, place)
    last = before[-1] if before else ""
    if last in _BY:
        return NumberRole.DIFFERENCE
    following = read[place + 1] if place + 1 < len(read) else None
    if read[place].unit in ("s", "min", "h", "ms") and (
        last in _DURING or (following and following.text == "内")
    ):
        return NumberRole.DURATION
    if any(mark_of(read, at) == place for at in _marks(read, WordClass.USUAL)):
        return NumberRole.BASELINE
    for word in reversed(before):
        if word in _TO_VALUE:
            return NumberRole.VALUE
        if word in _TO_BASELINE:
            return NumberRole.BASELINE
    return NumberRole.VALUE


def mark_of(read: Sequence[Token], place: int) -> int | None:
    """The number that a word such as `usually` or `now` marks; None if there is none, or two.

    The word follows its number directly, or precedes it with only an article between, on the same side of a
    comma.
    """
    found = []
    if place and read[place - 1].kind is TokenKind.NUMBER and not read[place].pause:
        found.append(place - 1)
    at = place + 1
    while at < len(read) and not read[at].pause and read[at].text in _BETWEEN:
        at += 1
    if at < len(read) and read[at].kind is TokenKind.NUMBER and not read[at].pause:
        found.append(at)
    if read[place].text in _FORWARD_ONLY:
        found = [number for number in found if number > place]
    return found[0] if len(found) == 1 else None


def are_marks_clear(read: Sequence[Token]) -> bool:
    """Whether each `usually` marks a baseline and each `now` a value."""
    usual = [mark_of(read, at) for at in _marks(read, WordClass.USUAL)]
    now = [mark_of(read, at) for at in _marks(read, WordClass.NOW)]
    if None in usual or None in now or not set(usual).isdisjoint(now):
        return False
    return all(role_of(read, at) is NumberRole.VALUE for at in now if at is not None)


def _marks(read: Sequence[Token], kind: WordClass) -> list[int]:
    return [place for place, token in enumerate(read) if class_of(token) is kind]


def _words_before(read: Sequence[Token], place: int) -> list[str]:
    """The words between the previous number and this one."""
    words: list[str] = []
    for token in read[:place]:
        if token.kind in (TokenKind.NUMBER, TokenKind.FACTOR, TokenKind.INSTANT):
            words = []
        elif token.kind in (TokenKind.WORD, TokenKind.NAME, TokenKind.IDENTIFIER):
            words.append(token.text.lower())
    return words


def _states(token: Token, exact: float | None, unit: str) -> bool:
    if exact is None:
        return False
    if token.unit is None:
        return unit == "" and is_rounding_of(token.value, exact, digits_least=SHOWN_DIGITS)
    converted = convert(exact, unit, token.unit)
    return converted is not None and is_rounding_of(token.value, converted, digits_least=SHOWN_DIGITS)


def _supports_difference(token: Token, facts: Facts) -> bool:
    """`by 3 s` is the difference; `by 40%` the relative one, unless the value is a share itself."""
    if facts.value is None or facts.baseline is None:
        return False
    if token.unit == "%":
        if facts.unit in ("%", "ratio", "percent") or facts.baseline == 0:
            return False
        share = abs(facts.value - facts.baseline) / abs(facts.baseline)
        return is_rounding_of(token.value, 100 * share, digits_least=SHOWN_DIGITS)
    return _states(token, abs(facts.value - facts.baseline), facts.unit)


def _is_window(instants: Sequence[str], window: TimeWindow) -> bool:
    return _is(instants[0], window.start_s) and _is(instants[1], window.end_s)


def _is(text: str, time_s: float) -> bool:
    """Whether a written time equals a time up to its precision: 22:13 equals 22:13:20."""
    utc = datetime.fromtimestamp(floor(time_s + 1e-6), tz=UTC)
    date, clock = _DATE.match(text), _CLOCK.search(text)
    if date is None and clock is None:
        return False
    if date is not None:
        year = int(date[1]) if date[1] else utc.year
        if (year, int(date[2]), int(date[3])) != (utc.year, utc.month, utc.day):
            return False
    if clock is None:
        return True
    if (int(clock[1]), int(clock[2])) != (utc.hour, utc.minute):
        return False
    return clock[3] is None or _is_second(clock[3], time_s)


def _is_second(text: str, time_s: float) -> bool:
    """Whether written seconds equal those of a time, cut or rounded to the written places."""
    places = len(text.partition(".")[2])
    step_s = 10.0**-places
    difference_s = float(text) - (time_s % 60.0)
    return -step_s + _EXACT_S < difference_s < (0.5 * step_s + _EXACT_S if places else _EXACT_S)
