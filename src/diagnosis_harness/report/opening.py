"""Sentences around the answer itself, on unknown and corrected names and on times.

Pure, and from the inquiry alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

from diagnosis_harness.diagnosis.inquiry import Inquiry, OnsetOrigin
from diagnosis_harness.diagnosis.names import NameRead, NameReading
from diagnosis_harness.diagnosis.zones import zone_of
from diagnosis_harness.kernel.language import Language, Text
from diagnosis_harness.kernel.names import display_name
from diagnosis_harness.report.timestamps import display_time

NAMES_SEEN_MAX = 8
"""How many known names are listed if none is similar; more would fill the screen."""

NAME_UNKNOWN: Final = Text(
    en="There is no {name} in the data, so there is no conclusion about it.{seen}",
    zh="数据中没有 {name}，因此不对它下任何结论。{seen}",
)
NAME_NEAREST: Final = Text(en=" Did you mean {names}?", zh="是指 {names} 吗？")
SEEN: Final = Text(en=" The data contains {names}.", zh="数据中有：{names}。")
SEEN_SOME: Final = Text(
    en=" The data contains {names} and {count} more.", zh="数据中有 {names} 等，另有 {count} 个。"
)
READ_AS: Final = Text(en="Read {said} as {name}.", zh="已将 {said} 理解为 {name}。")
ALERT_READ_AS: Final = Text(
    en="The alert names {said}, which was read as {name}.", zh="告警中的 {said} 已理解为 {name}。"
)
ALERT_UNKNOWN: Final = Text(
    en="The alert names {name}, which is not in the data, so there is no conclusion about it.{seen}",
    zh="告警所指的 {name} 不在数据中，因此不对它下任何结论。{seen}",
)
TIME_UNREAD: Final = Text(
    en="Not used as a time: {times}. Say it with --onset, or as 2026-05-06 14:05 +02:00.",
    zh="未作为时间使用：{times}。请用 --onset 指定，或写成 2026-05-06 14:05 +02:00。",
)
TIME_RELATIVE: Final = Text(
    en="Read {said} back from the end of the data, {end}: {at}.",
    zh="{said} 从数据结束时间 {end} 往前推算：{at}。",
)
TIME_ZONE: Final = Text(
    en="Times are in {zone}: {local} there is {at}.", zh="时间按 {zone} 理解：当地 {local} 即 {at}。"
)
TIME_END: Final = Text(
    en="The question is about what was before {end}.", zh="问题所问的是 {end} 之前的情况。"
)
TIME_UNTIL: Final = Text(
    en="The question is about {start} to {end}.", zh="问题所问的时间为 {start} 至 {end}。"
)
COMMA: Final = Text(en=", ", zh="、")


def unknown_sentences(inquiry: Inquiry, language: Language) -> Iterator[str]:
    """A sentence for each unknown name, with the closest known names; these come first."""
    reading = inquiry.reading
    for each in reading.names:
        if each.name is None:
            yield NAME_UNKNOWN.render(language, name=_quote_name(each), seen=_offer(each, inquiry, language))
    alert = reading.alert_name
    if alert is not None and alert.name is None:
        yield ALERT_UNKNOWN.render(language, name=_quote_name(alert), seen=_offer(alert, inquiry, language))


def reading_sentences(inquiry: Inquiry, language: Language) -> Iterator[str]:
    """A sentence for each name that was read as another one."""
    reading = inquiry.reading
    for each in reading.names:
        if each.name is not None and each.how is not NameReading.EXACT:
            yield READ_AS.render(language, said=_quote_name(each), name=display_name(each.name))
    alert = reading.alert_name
    if alert is not None and alert.name is not None and alert.how is not NameReading.EXACT:
        yield ALERT_READ_AS.render(language, said=_quote_name(alert), name=display_name(alert.name))


def _quote_name(read: NameRead) -> str:
    return (
        f"`{read.written}`"
        if "`" not in read.written and read.written.isprintable()
        else display_name(read.written)
    )


def _offer(read: NameRead, inquiry: Inquiry, language: Language) -> str:
    """The similar names; if there are none, names of the data."""
    if read.nearest:
        return NAME_NEAREST.render(language, names=_join(read.nearest, language))
    known = inquiry.inventory.entities
    services = sorted({each.owner or each.name for each in known if "->" not in each.name})
    if not services:
        return ""
    shown, more = services[:NAMES_SEEN_MAX], len(services) - NAMES_SEEN_MAX
    if more > 0:
        return SEEN_SOME.render(language, names=_join(shown, language), count=more)
    return SEEN.render(language, names=_join(shown, language))


def _join(names: tuple[str, ...] | list[str], language: Language) -> str:
    return COMMA.in_(language).join(display_name(name) for name in names)


def time_sentences(inquiry: Inquiry, language: Language) -> Iterator[str]:
    """How the times of the question were read: their zone, what they count from, and which were not used."""
    time, zone = inquiry.reading.time, zone_of(inquiry.reading.zone) or UTC
    if time.unread:
        yield TIME_UNREAD.render(
            language, times=COMMA.in_(language).join(f"`{each}`" for each in time.unread)
        )
    if time.at_s is None and inquiry.until_s is not None:
        yield TIME_END.render(language, end=display_time(inquiry.until_s))
    if time.at_s is None or inquiry.onset_origin is not OnsetOrigin.QUESTION:
        return
    if time.relative is not None and inquiry.inventory.incident is not None:
        end = display_time(inquiry.inventory.incident.end_s)
        yield TIME_RELATIVE.render(language, said=f"`{time.relative}`", at=display_time(time.at_s), end=end)
    elif zone is not UTC:
        local = datetime.fromtimestamp(time.at_s, tz=zone).strftime("%Y-%m-%d %H:%M")
        zoned = TIME_ZONE.render(language, local=local, zone=inquiry.reading.zone, at=display_time(time.at_s))
        yield zoned
    if time.until_s is not None:
        start, end = display_time(time.at_s), display_time(time.until_s)
        yield TIME_UNTIL.render(language, start=start, end=end)
