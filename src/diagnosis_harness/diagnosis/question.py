"""Reads the time that a question names. Pure; it does not guess.

A library for dates in free text would read more, but it guesses: which of two days, which half of the day, or
that `12.4` is a date. A wrong time leads to a wrong answer, so only unambiguous forms are read. Zones come
from `zoneinfo`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo

from diagnosis_harness.diagnosis.zones import relative_span, write_clocks, zone_of
from diagnosis_harness.kernel.window import TimeWindow

_CLOCK = re.compile(
    r"(?<![0-9:：.])([01]?[0-9]|2[0-3])[:：]([0-5][0-9])(?:[:：]([0-5][0-9])(?:[.,]([0-9]{1,9}))?)?(?![0-9:：])"
)
_ZONE = re.compile(
    r"\s?(?:(?:UTC|GMT)?(?P<sign>[+-])(?P<h>[0-9]{1,2})(?::?(?P<m>[0-9]{2}))?(?![0-9:])"
    r"|(?P<utc>Z|UTC|GMT)(?![A-Za-z0-9]))",
    re.IGNORECASE,
)

_ZONE_NAMES = (
    r"(?:CES?T|[ECMPA][SD]T|EES?T|WES?T|JST|KST|IST|BST|HKT|SGT|MSK|AE[SD]T|NZ[SD]T|HST|AK[SD]T|[ECMP]T"
    r"|(?:Europe|America|Asia|Africa|Australia|Pacific|Atlantic)/[a-z_]+|eastern|pacific"
    r"|[a-z]+\s(?:standard|daylight|summer)\stime"
    r"|(?:local|eastern|central|pacific|mountain|beijing|london|tokyo)\stime)"
)
_PLACE_TIME = (
    r"(?:北京|东京|当地|本地|香港|纽约|伦敦|美东|美西|美国|太平洋|东部|西部|中部|欧洲|中欧)"
    r"(?:标准|夏令)?时间?"
)
_ZONE_AFTER = re.compile(
    rf"[\s(（]*(?P<name>{_ZONE_NAMES}(?![A-Za-z0-9-])|{_PLACE_TIME})[)）]?", re.IGNORECASE
)
_ZONE_BEFORE = re.compile(
    rf"(?P<name>(?<![A-Za-z0-9-]){_ZONE_NAMES}|{_PLACE_TIME})[\s,，:：]*$", re.IGNORECASE
)

_PARTS_OF_DAY: tuple[tuple[str, range], ...] = (
    (r"a\.?m\b\.?", range(12)),
    (r"p\.?m\b\.?", range(12, 24)),
    (r"in the morning", range(1, 12)),
    (r"in the afternoon", range(12, 19)),
    (r"in the evening", range(16, 24)),
    (r"at night", range(18, 24)),
    ("凌晨", range(6)),
    ("早上|早晨|清晨|清早|上午", range(4, 12)),
    ("中午", range(11, 14)),
    ("下午|午后", range(12, 19)),
    ("傍晚", range(16, 21)),
    ("晚上|夜里|夜间|晚间", range(18, 24)),
)
"""Words for a part of the day, and the hours that each allows."""
_ANY_PART = "|".join(words for words, _ in _PARTS_OF_DAY)
_BESIDE = 80
"""Characters examined on either side of a clock time."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<name>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DATES: tuple[str, ...] = (
    r"(?<![0-9])(?P<y>[0-9]{4})\s?(?P<sep>[-/.年])\s?(?P<m>[0-9]{1,2})\s?[-/.月]\s?(?P<d>[0-9]{1,2})\s?[日号]?(?![0-9])",
    r"(?<![0-9])(?P<m>[0-9]{1,2})\s?月\s?(?P<d>[0-9]{1,2})\s?[日号]?(?![0-9])",
    rf"(?<![A-Za-z]){_MONTH}\s?(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?(?![0-9:])(?:,?\s(?P<y>[0-9]{{4}})(?![0-9]))?",
    rf"(?<![0-9])(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?(?:\sof)?\s{_MONTH}(?:,?\s(?P<y>[0-9]{{4}})(?![0-9]))?",
    r"(?<![0-9])(?P<d>[0-9]{1,2})\.(?P<m>[0-9]{1,2})\.(?P<y>[0-9]{4})?(?![0-9])",
    r"(?<![0-9/.-])(?P<a>[0-9]{1,2})[/-](?P<b>[0-9]{1,2})(?![0-9/:-])",  # either may be the month
)
_BETWEEN = r"(?:[\s,，、(（的T]|\b(?:at|on|the|of|around|about)\b|在|于|约|大约|UTC|Z)*"
"""Text allowed between a date and its clock time."""
_BEFORE = tuple(re.compile(rf"{each}(?:{_BETWEEN})$", re.IGNORECASE) for each in _DATES)
_AFTER = tuple(re.compile(rf"{_BETWEEN}{each}", re.IGNORECASE) for each in _DATES)

_TIME_WORD = re.compile(
    r"(?:^|(?<![a-z])(?:at|since|around|about|from|before|after|by|until|till|between|past|circa|ca|near|roughly"
    r"|approximately|approx|exactly|time|when|starting|began|begins|today|yesterday|tonight|morning|noon"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|is it|as of)"
    r"|[从自在于约当起至到@]|自从|截止|大约|大概|今天|昨天|今日|昨日|今早|昨晚|到了|时间|时刻)"
    r"[\W_]*$",
    re.IGNORECASE,
)
_TIME_WORD_AFTER = re.compile(
    r"[\s,，(（]*(?:onwards?\b|today\b|yesterday\b|开始|起|之?后|以后|之?前|以前|左右|许|的?时|突然)",
    re.IGNORECASE,
)
_LINK = re.compile(r"\s*(?:and|or|to|until|till|和|或|到|至|与|及|[-–—~～,、/])\s*", re.IGNORECASE)
"""Text between two clock times, which shows whether they are the ends of a span or two times."""
_ENDS_BEFORE = re.compile(
    r"(?<!since )(?<!just )(?<!shortly )(?<!right )(?<!already )"
    r"\b(?:before|until|till|up\s+to)\s+(?:about\s+|around\s+)?"
    r"(?:[\d./-]{4,10}[T\s]+)?$|(?:直到|截至|截止到?)\s*$",
    re.IGNORECASE,
)
"""Text before a clock time that ends, rather than begins, the period in question."""
_ENDS_AFTER = re.compile(r"\s*(?:之|以)?前(?!后|面|\s*[和与跟及])|\s*为止")
_WAS_WELL = re.compile(
    r"\b(?:fine|ok(?:ay)?|normal(?:ly)?|healthy|good|well|fast|quick|stable|green|up|usual|nothing|none|never"
    r"|no|not|without|worked|working|works|ran|running|responded|served)\b|n't\b"
    r"|正常|没问题|没有|没出|没事|无|好好的|还好|很快|稳定|健康|未",
    re.IGNORECASE,
)
"""Text in the clause of a clock time that says all was well until then, so the trouble began there."""
_SINCE_THEN = re.compile(
    r"\b(?:now|since\s+then|then|afterwards|after\s+that)\b|现在|如今|之后|后来", re.IGNORECASE
)
"""Text after such a time: the question is about what followed."""
_CLAUSE_END = re.compile(
    r"[,;.?!，。；？！](?:\s|$)|[，。；？！]|\b(?:but|and|so|then|why|what)\b|但|为什么|为何", re.IGNORECASE
)
_RATIO = re.compile(
    r"(?:ratio|proportion|odds|score|scale|port|line|比例|比率|比值|比分|端口)[\s:：]*"
    r"(?:(?:is|was|of|about|around|near|roughly|exactly|by|为|是|约|大约|在)\s*)*$",
    re.IGNORECASE,
)
_RATIO_AFTER = re.compile(r"\s*(?:的)?(?:ratio|proportion|odds|split|比例|比率|比值)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _WrittenTime:
    """A time of day in a question, with the dates that its words may mean.

    Attributes:
        since_midnight: in the given zone.
        offset: of the zone from UTC.
        dates: year (if written), month and day; empty if there is no date beside the time.
    """

    since_midnight: timedelta
    zone: tzinfo
    dates: tuple[tuple[int | None, int, int], ...]
    ends_span: bool = False
    ends: bool = False


@dataclass(frozen=True, slots=True)
class OnsetWords:
    """An onset written as people write times; read against a recording, like the times of a question.

    Attributes:
        zone: for a time without one, as the caller states it; None means that of the source.
    """

    words: str
    zone: str | None = None

    def read(self, recorded: TimeWindow | None, source_zone: str | None) -> float | None:
        """The timestamp of the words; None if they match no time of the recording, or several."""
        zone = zone_of(self.zone or source_zone or "UTC") or UTC
        onset_words = self.words.strip()
        lead = "" if relative_span(onset_words) is not None else "since "
        return read_question_time(f"{lead}{onset_words}", recorded, zone).at_s


@dataclass(frozen=True, slots=True)
class TimeRead:
    """The times that a question states.

    Attributes:
        at_s: when it began; None if the question states no time or several.
        until_s: the end of the span that the question names; None without one.
        relative: the words counted back from the end of the recording, if they gave the time.
        unread: text that looks like a time and was not used.
    """

    at_s: float | None = None
    until_s: float | None = None
    relative: str | None = None
    unread: tuple[str, ...] = ()


def read_question_time(question: str, recorded: TimeWindow | None, zone: tzinfo = UTC) -> TimeRead:
    """Read the time, or the span, of the recording that a question names.

    A clock time without a date is taken from the recording if it occurs there exactly once. One that could be
    a ratio is not a time; one in an unknown zone is unread.

    Args:
        zone: for times without one.
    """
    if recorded is None:
        return TimeRead()
    times = tuple(_times_in(write_clocks(question, recorded, zone), zone))
    if not times:
        return _read_relative(question, recorded)
    dated = [each for _, each in times if each is not None and each.dates]
    found = {
        written: [] if each is None else [at for at in _instants(each, recorded) if recorded.contains(at)]
        for written, each in times
        if not dated or (each is not None and each.dates)
    }
    unread = tuple(written for written, at in found.items() if len(set(at)) != 1)
    if not dated and unread:
        return TimeRead(
            unread=tuple(written for written, _ in times)
        )  # the other time may be the end of a span
    named = {at for timestamps in found.values() for at in timestamps}
    if len(named) == 1:
        at_s = next(iter(named))
        is_end = len(times) == 1 and times[0][1] is not None and times[0][1].ends
        return TimeRead(until_s=at_s) if is_end else TimeRead(at_s)
    if len(named) == 2 and len(times) == 2 and times[1][1] is not None and times[1][1].ends_span:
        start_s, end_s = (found[written][0] for written, _ in times)
        if start_s < end_s:
            return TimeRead(start_s, end_s)
    return TimeRead(unread=tuple(written for written, _ in times))


def _read_relative(question: str, recorded: TimeWindow) -> TimeRead:
    """The time that lies the stated length before the end of the recording."""
    span = relative_span(question)
    if span is None:
        return TimeRead()
    at_s = recorded.end_s - span[1]
    return TimeRead(at_s, relative=span[0]) if recorded.contains(at_s) else TimeRead(unread=(span[0],))


def timestamp_in_question(question: str, recorded: TimeWindow | None, zone: tzinfo = UTC) -> float | None:
    """When it began, according to the question (`read_question_time`); None if it names no such time."""
    return read_question_time(question, recorded, zone).at_s


def timestamp_outside_recording(
    question: str, recorded: TimeWindow | None, zone: tzinfo = UTC
) -> float | None:
    """The first dated time in a question, if none of its dated times was recorded; else None."""
    if recorded is None:
        return None
    text = write_clocks(question, recorded, zone)
    dated = (each for _, each in _times_in(text, zone) if each is not None and each.dates)
    named = [at for each in dated for at in _instants(each, recorded)]
    return None if not named or any(recorded.contains(at) for at in named) else named[0]


def _times_in(question: str, zone: tzinfo) -> Iterator[tuple[str, _WrittenTime | None]]:
    """The times in a question as written; None for one whose zone or half of the day is unclear."""
    read_to = 0
    time_to: int | None = None
    for found in _CLOCK.finditer(question):
        if found.start() < read_to:
            continue  # the offset of the previous one
        before = question[max(0, found.start() - _BESIDE) : found.start()]
        after = question[found.end() : found.end() + _BESIDE]
        offset = _zone(after, is_dated=bool(_date_before(before)))
        read_to = found.end() + (0 if offset is None else offset.end())
        after = after[read_to - found.end() :]
        dates, parts = _dates_beside(before, after), _parts_of_day(before, after)
        bare = re.sub(rf"^\s*(?:{_ANY_PART})", "", after, flags=re.IGNORECASE)
        named = _ZONE_AFTER.match(bare) or _ZONE_BEFORE.search(before)
        link = None if time_to is None else _LINK.fullmatch(_without_date(question[time_to : found.start()]))
        if not (dates or offset or parts or named or link or _is_time(before, after)):
            continue
        time_to = read_to
        written = found[0] if offset is None else found[0] + offset[0]
        own = zone_of(offset[0]) if offset is not None else zone if named is None else zone_of(named["name"])
        hour = _hour(int(found[1]), parts)
        if named is not None:
            written = f"{written} {named['name'].strip()}"
        if own is None or hour is None:
            yield written, None
        else:
            second = float(f"{found[3] or 0}.{found[4] or 0}")
            since = timedelta(hours=hour, minutes=int(found[2]), seconds=second)
            span = link is not None and _is_span(link[0])
            ends = _ends_question(before, after)
            yield written, _WrittenTime(since, own, dates, ends_span=span, ends=ends)


def _without_date(between: str) -> str:
    """The text between two clock times, without the date of the second."""
    date = _date_before(between)
    return between if date is None else f"{between[: date.start()]} "


def _ends_question(before: str, after: str) -> bool:
    """Whether the words beside a clock time mark the end of the question's period, not the onset.

    `What changed before 14:05?` ends there; of `it was fine until 14:05` the trouble began then.
    """
    lead, tail = _ENDS_BEFORE.search(before), _ENDS_AFTER.match(after)
    if lead is None and tail is None:
        return False
    past = before if lead is None else before[: lead.start()]
    rest = after if tail is None else after[tail.end() :]
    if _SINCE_THEN.search(rest):
        return False
    return _WAS_WELL.search(_last_clause(past)) is None and _WAS_WELL.search(_first_clause(rest)) is None


def _last_clause(text: str) -> str:
    ends = [found.end() for found in _CLAUSE_END.finditer(text)]
    return text[ends[-1] if ends else 0 :]


def _first_clause(text: str) -> str:
    text = text.lstrip(" ,，")
    found = _CLAUSE_END.search(text)
    return text if found is None else text[: found.start()]


def _is_span(link: str) -> bool:
    return re.search(r"and|to|til|到|至|和|与|[-–—~～]", link, re.IGNORECASE) is not None


def _is_time(before: str, after: str) -> bool:
    """Whether the words beside a number without date and zone show that it is a clock time."""
    if _RATIO.search(before) or _RATIO_AFTER.match(after):
        return False
    return bool(_TIME_WORD.search(before) or _TIME_WORD_AFTER.match(after))


def _zone(after: str, *, is_dated: bool) -> re.Match[str] | None:
    """The zone after a clock time. After one without a date, `-15:00` is the end of a span."""
    found = _ZONE.match(after)
    if found is None or (found["sign"] == "-" and not is_dated and not found[0].strip()[0].isalpha()):
        return None
    return found


def _parts_of_day(before: str, after: str) -> list[range]:
    """The hours allowed by each word for a part of the day beside a clock time."""
    return [
        hours
        for words, hours in _PARTS_OF_DAY
        if re.search(rf"(?:{words})[\s的]*$", before, re.IGNORECASE)
        or re.match(rf"\s*(?:{words})", after, re.IGNORECASE)
    ]


def _hour(hour: int, parts: list[range]) -> int | None:
    """The hour of the day; None if the words beside it allow none, or two."""
    readings = {hour % 12, hour % 12 + 12} if parts and 1 <= hour <= 12 else {hour}
    left = [each for each in readings if all(each in hours for hours in parts)]
    return left[0] if len(left) == 1 else None


def _date_before(before: str) -> re.Match[str] | None:
    bare = re.sub(rf"(?:{_ANY_PART})\s*$", "", before, flags=re.IGNORECASE)
    return next((found for each in _BEFORE if (found := each.search(bare))), None)


def _dates_beside(before: str, after: str) -> tuple[tuple[int | None, int, int], ...]:
    """The possible readings of the date beside a clock time: year (if written), month and day."""
    behind = re.sub(rf"^\s*(?:{_ANY_PART})", "", after, flags=re.IGNORECASE)
    found = _date_before(before) or next((at for each in _AFTER if (at := each.match(behind))), None)
    if found is None:
        return ()
    groups = found.groupdict()
    if groups.get("a"):
        one, other = int(groups["a"]), int(groups["b"])
        return (None, one, other), (None, other, one)
    month = _MONTHS.index(groups["name"][:3].casefold()) + 1 if groups.get("name") else int(groups["m"])
    return ((int(groups["y"]) if groups.get("y") else None, month, int(groups["d"])),)


def _instants(time: _WrittenTime, recorded: TimeWindow) -> list[float]:
    """The timestamps that a time may mean; without a date, only on days of the recording."""
    first = datetime.fromtimestamp(recorded.start_s, tz=time.zone).date()
    if time.dates:
        last = datetime.fromtimestamp(recorded.end_s, tz=time.zone).date()
        years = range(first.year, min(last.year, first.year + 1) + 1)
        days = [
            day
            for year, month, number in time.dates
            for each in (years if year is None else (year,))
            if (day := _day(each, month, number)) is not None
        ]
    else:
        count = min(int(recorded.duration_s // 86_400) + 3, 40)
        days = [first + timedelta(days=n) for n in range(-1, count)]
    return [
        (datetime(day.year, day.month, day.day, tzinfo=time.zone) + time.since_midnight).timestamp()
        for day in days
    ]


def _day(year: int, month: int, number: int) -> date | None:
    """The date; None if no such day exists, or for the first and last year that Python represents."""
    try:
        return date(year, month, number) if 1 < year < 9999 else None
    except ValueError:
        return None
