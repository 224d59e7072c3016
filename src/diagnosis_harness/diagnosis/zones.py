"""Reads time zones as people name them, and times not written as a clock. Pure; it does not guess."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import partial
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from diagnosis_harness.kernel.window import TimeWindow

_HOURS: Final = {
    "cet": 1, "cest": 2, "eet": 2, "eest": 3, "wet": 0, "west": 1, "msk": 3, "jst": 9, "kst": 9, "hkt": 8,
    "sgt": 8, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13, "est": -5, "edt": -4, "cdt": -5, "mst": -7,
    "mdt": -6, "pst": -8, "pdt": -7, "akst": -9, "akdt": -8, "hst": -10,
}  # fmt: skip
"""Unambiguous abbreviations; `CST`, `IST`, `BST` and `AST` have several meanings."""
_PLACES: Final = {
    "beijing time": "Asia/Shanghai", "北京时间": "Asia/Shanghai", "london time": "Europe/London",
    "伦敦时间": "Europe/London", "tokyo time": "Asia/Tokyo", "东京时间": "Asia/Tokyo",
    "eastern time": "America/New_York", "eastern": "America/New_York", "et": "America/New_York",
    "美东时间": "America/New_York", "纽约时间": "America/New_York", "central time": "America/Chicago",
    "mountain time": "America/Denver",
    "pacific time": "America/Los_Angeles", "pt": "America/Los_Angeles",
    "pacific": "America/Los_Angeles", "美西时间": "America/Los_Angeles", "香港时间": "Asia/Hong_Kong",
}  # fmt: skip
_OFFSET = re.compile(r"(?:UTC|GMT)?(?P<sign>[+-])(?P<h>\d{1,2})(?::?(?P<m>[0-5]\d))?", re.IGNORECASE)
_OFFSET_MAX = timedelta(hours=14)
"""No time zone is further from UTC."""


def zone_of(name: str) -> tzinfo | None:
    """The zone for a name, an abbreviation or an offset; None if it is unknown or ambiguous."""
    zone_text = " ".join(name.strip(" ()（）").split())
    folded = zone_text.casefold()
    if folded in {"", "z", "utc", "gmt", "etc/utc"}:
        return UTC
    if folded in _HOURS:
        return timezone(timedelta(hours=_HOURS[folded]))
    if (offset := _OFFSET.fullmatch(zone_text)) is not None:
        shift = timedelta(hours=int(offset["h"]), minutes=int(offset["m"] or 0))
        if shift > _OFFSET_MAX:
            return None
        return timezone(-shift if offset["sign"] == "-" else shift)
    place = _PLACES.get(folded) or _PLACES.get(f"{folded}间") or _PLACES.get(f"{folded}时间")
    if place is None and "/" not in zone_text:
        return None
    key = place or "/".join(part[:1].upper() + part[1:] for part in zone_text.split("/"))
    try:
        return ZoneInfo(key)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


_DIGITS: Final = {each: value for value, each in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_NUMBER = "[0-9零〇一二两三四五六七八九十]{1,4}"
_ZH_CLOCK = re.compile(rf"(?P<h>{_NUMBER})\s*[点點时](?!间|候|长)(?P<rest>半|[一三]刻|整|{_NUMBER}\s*分?)?")
_HOUR_ALONE = re.compile(r"(?<![\d:.])(?P<h>1[0-2]|0?[1-9])\s?(?P<half>[ap]\.?m\b\.?)", re.IGNORECASE)
_SINCE = r"\b(?P<w>at|since|around|from|until|before|after)"
_WORD_CLOCK: Final = (
    (re.compile(r"\b(?P<w>at|since|around|from|until|before|after)\s+noon\b", re.IGNORECASE), r"\g<w> 12:00"),
    (
        re.compile(r"\b(?P<w>at|since|around|from|until|before|after)\s+midnight\b", re.IGNORECASE),
        r"\g<w> 00:00",
    ),
)
_DAYS: Final = (
    (re.compile(r"\b(?:yesterday|last night)\b|昨天|昨日|昨晚|昨夜", re.IGNORECASE), 1),
    (re.compile(r"\btoday\b|今天|今日|今早|今晚", re.IGNORECASE), 0),
    (re.compile("前天"), 2),
)
_DAY_PART: Final = {"昨晚": "晚上", "昨夜": "晚上", "今早": "早上", "今晚": "晚上"}


def number_in_words(text: str) -> int | None:
    """A number up to 99 in figures or Chinese characters; None for anything else."""
    if text.isascii():
        return int(text) if text.isdigit() else None
    tens, ten, ones = text.partition("十")
    if not ten:
        figures = [_DIGITS.get(each) for each in text]
        return None if None in figures else int("".join(str(each) for each in figures))
    high = 1 if not tens else _DIGITS.get(tens)
    low = 0 if not ones else _DIGITS.get(ones)
    return None if high is None or low is None else high * 10 + low


def write_clocks(question: str, recorded: TimeWindow | None, zone: tzinfo) -> str:
    """Rewrite the times of day in a question as `HH:MM` and its days as dates, if they are clear.

    `yesterday` and `today` are relative to the day, in the zone, on which the recording ends.
    """
    text = _ZH_CLOCK.sub(_clock_text, question)
    text = _HOUR_ALONE.sub(r"\g<h>:00 \g<half>", text)
    for pattern, written in _WORD_CLOCK:
        text = pattern.sub(written, text)
    if recorded is None:
        return text
    end = datetime.fromtimestamp(recorded.end_s, tz=zone)
    for pattern, days in _DAYS:
        day = (end - timedelta(days=days)).strftime("%Y-%m-%d")
        text = pattern.sub(partial(_day_text, day), text)
    return text


def _day_text(day: str, found: re.Match[str]) -> str:
    return f"{day} {_DAY_PART.get(found[0], '')}"


def _clock_text(found: re.Match[str]) -> str:
    hour, rest = number_in_words(found["h"]), found["rest"] or ""
    minute: int | None
    if rest == "半":
        minute = 30
    elif rest.endswith("刻"):
        minute = 15 if rest[0] == "一" else 45
    else:
        minute = number_in_words(rest.removesuffix("分").strip()) if rest not in ("", "整") else 0
    if hour is None or minute is None or hour > 23 or minute > 59:
        return found[0]
    return f"{hour}:{minute:02d} "


_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_AMOUNT = r"(?P<n>\d{1,3}|an?|one|half an?|half|two|three|five|ten|fifteen|twenty|thirty)"
_UNIT = r"(?P<u>sec(?:ond)?s?|min(?:ute)?s?|hours?|hrs?|days?)"
_LAST = r"\b(?:for|in|over|during|within|since)\s+(?:the\s+)?(?:last|past)"
_RELATIVE = (
    re.compile(
        rf"{_LAST}\s+(?:{_AMOUNT}\s+)?{_UNIT}\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:since\s+|from\s+)?(?:about\s+|around\s+)?{_AMOUNT}[\s-]+(?:an\s+)?{_UNIT}\s+ago\b",
        re.IGNORECASE,
    ),
    re.compile(rf"(?:最近|过去|近)\s*(?P<n>半|{_NUMBER})?\s*个?(?P<u>小时|分钟|秒|天)"),
    re.compile(rf"(?P<n>半|{_NUMBER})\s*个?(?P<u>小时|分钟|秒|天)(?:之|以)?前"),
)
_WORDS: Final = {
    "a": 1.0, "an": 1.0, "one": 1.0, "half": 0.5, "half a": 0.5, "half an": 0.5, "two": 2.0,
    "three": 3.0, "five": 5.0, "ten": 10.0, "fifteen": 15.0, "twenty": 20.0, "thirty": 30.0, "半": 0.5,
}  # fmt: skip
_ZH_UNITS: Final = {"小时": 3600, "分钟": 60, "秒": 1, "天": 86_400}


def relative_span(question: str) -> tuple[str, float] | None:
    """The length of time before now that a question names, with its words; None if several or none."""
    found = [
        (match[0].strip(), seconds)
        for pattern in _RELATIVE
        for match in pattern.finditer(question)
        if (seconds := _seconds(match["n"], match["u"])) is not None
    ]
    return found[0] if len({seconds for _, seconds in found}) == 1 else None


def _seconds(amount: str | None, unit: str) -> float | None:
    each = _ZH_UNITS.get(unit) or _UNITS[unit[0].casefold()]
    if amount is None:
        return float(each)
    amount_text = " ".join(amount.casefold().split())
    count = _WORDS.get(amount_text)
    if count is None:
        number = number_in_words(amount_text)
        count = None if number is None else float(number)
    return None if count is None or count <= 0 else count * each
