"""Plain text logs: an entry begins with a time; lines without one, as of a stack trace, belong to it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.log_records import (
    PRIORITIES,
    LogRow,
    entity_of_labels,
    level_of_labels,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    LOG_COLUMNS,
    FileContent,
    FileHead,
    FileReader,
    RoleRows,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.series_names import labels_in
from diagnosis_harness.adapters.sources.incident_folder.listing import Role

_CLOCK: Final = r"\d{2}:\d{2}:\d{2}"
_MONTHS: Final = {
    "Jan": 1, "Feb": 2, "Mar": 3, "Apr": 4, "May": 5, "Jun": 6, "Jul": 7, "Aug": 8, "Sep": 9, "Oct": 10,
    "Nov": 11, "Dec": 12,
}  # fmt: skip
_MONTH: Final = "|".join(_MONTHS)
_LEVEL: Final = re.compile(
    r"\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|CRIT(?:ICAL)?|FATAL|PANIC|SEVERE|EMERG|LOG|HINT)\b"
    r"|[\[<(](?:\w+:)?(trace\d?|debug|info|notice|warn(?:ing)?|error|err|crit(?:ical)?|fatal|alert|emerg)[\]>)]"
    r"|\b(?:level|lvl|severity)=\"?([A-Za-z]+)"
)
_LEVEL_REACH: Final = 120
_JOINED_CHARACTERS: Final = 20_000
_SHARE: Final = 0.3
"""Least share of first lines that begin with a time; low, since a stack trace has many lines without."""
_ZONED: Final = re.compile(r"(?:Z|[+-]\d{2}:?\d{2})$")
_ZONE_LINES: Final = 5_000
"""Lines of a file that are read to see whether its programs write zones: each has written some by then."""
_GENERIC: Final = frozenset(
    [
        "app", "application", "server", "out", "output", "stdout", "stderr", "error", "access", "system",
        "syslog", "messages", "all", "combined", "console", "log", "logs", "service", "main", "root",
        "current", "latest", "export", "explore", "errors", "requests", "ssl", "other", "vhosts", "vhost",
        "localhost", "json",
    ]
)  # fmt: skip
"""Words of file names that do not identify the owner of a log."""
_STREAM: Final = r"(?:ssl|access|errors?|stdout|stderr|logs?|json|\d{4}-\d{2}-\d{2}|\d{8})"
_OF_STREAM: Final = re.compile(rf"(?:{_STREAM}[-_. ]+)*(?P<owner>.+?)(?:[-_. ]+{_STREAM})*", re.IGNORECASE)
"""A name between words for what an owner wrote, and when: `checkout` in `checkout-access-20260506`."""
_PREFIXED: Final = re.compile(
    r"\[(?:pod|deployment)/(?P<pod>[^/\]]+)(?:/[^\]]*)?\] |(?P<container>[\w.-]+?)(?:[-_]\d{1,4})? +\| "
)
"""The owner of a line, as `kubectl logs --prefix` and `docker compose logs` write it."""
_COLOUR: Final = re.compile(r"\x1b\[[\d;]*m")
_SYSLOG_PROCESS: Final = re.compile(r"(\S+) ([^\s:\[]+)(?:\[\d+\])?: ")
_JOURNAL_PROCESS: Final = re.compile(r"([\w.-]+) (?:([^\s:\[]+)\[\d+\]|(kernel)): ")
"""Behind a time of ISO 8601 as well, where the number of the process tells it from a logger and a level."""
_KLOG: Final = {"I": "INFO", "W": "WARNING", "E": "ERROR", "F": "FATAL"}
_LOGFMT: Final = re.compile(r'([A-Za-z_][\w.]*)=("(?:[^"\\]|\\.)*"|\S*)')

Parsed = tuple[str, str | None, str | None]
"""The time as ISO 8601, and the line's owner and level if its beginning states them."""


@dataclass(frozen=True, slots=True)
class LineStart:
    """One form of the beginning of a log entry."""

    pattern: re.Pattern[str]
    take: Callable[[re.Match[str], int], Parsed | None]
    """Match and default year → the parsed start; None if it is not a time."""


def _iso(match: re.Match[str], year: int) -> Parsed | None:
    del year
    date = match["date"].replace("/", "-").replace("T", " ")
    offset = (match["offset"] or "").strip()
    offset = "Z" if offset in {"UTC", "GMT", "Z"} else offset
    return f"{date}{(match['part'] or '').replace(',', '.')}{offset}", None, None


def _yearless(match: re.Match[str], year: int) -> Parsed | None:
    day = f"{year}-{_MONTHS[match['month']]:02}-{int(match['day']):02}"
    return f"{day} {match['clock']}{match['part'] or ''}", None, None


def _klog(match: re.Match[str], year: int) -> Parsed | None:
    day = f"{year}-{match['month']}-{match['day']}"
    return f"{day} {match['clock']}{match['part'] or ''}", None, _KLOG[match["level"]]


def _day_month(match: re.Match[str], year: int) -> Parsed | None:
    del year
    day = f"{match['year']}-{_MONTHS[match['month']]:02}-{int(match['day']):02}"
    return f"{day} {match['clock']}{(match['part'] or '').replace(',', '.')}", None, None


def _syslog(match: re.Match[str], year: int) -> Parsed | None:
    del year
    whose = next((name for name in (match["app"], match["host"]) if name != "-"), None)
    return match["time"], whose, PRIORITIES[int(match["priority"]) % len(PRIORITIES)]


def _start(pattern: str, take: Callable[[re.Match[str], int], Parsed | None]) -> LineStart:
    return LineStart(re.compile(pattern, re.ASCII), take)


_STARTS: Final = (
    _start(
        rf"\[?(?P<date>\d{{4}}[-/]\d{{2}}[-/]\d{{2}}[T ]{_CLOCK})(?P<part>[.,]\d+)?"
        r"(?P<offset>Z| ?(?:UTC|GMT)| ?[+-]\d{2}:?\d{2})?\]?(?=\W|$)",
        _iso,
    ),
    _start(
        r"(?:ts|time|timestamp)=\"?"
        rf"(?P<date>\d{{4}}-\d{{2}}-\d{{2}}[T ]{_CLOCK})(?P<part>[.,]\d+)?"
        r"(?P<offset>Z|[+-]\d{2}:?\d{2})?\"?",
        _iso,
    ),
    _start(
        r"<(?P<priority>\d{1,3})>1 (?P<time>\d{4}-\d{2}-\d{2}T"
        rf"{_CLOCK}(?:\.\d+)?(?:Z|[+-]\d{{2}}:\d{{2}})) (?P<host>\S+) (?P<app>\S+) \S+ \S+ "
        r"(?:-|(?:\[(?:[^\]\\]|\\.)*\])+)(?:\s|$)",
        _syslog,
    ),
    _start(
        rf"\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?P<month>{_MONTH}) (?P<day>[ \d]\d) (?P<clock>{_CLOCK})"
        r"(?P<part>\.\d+)? (?P<year>\d{4})\]",
        _day_month,
    ),
    _start(rf"(?P<month>{_MONTH})  ?(?P<day>\d{{1,2}}) (?P<clock>{_CLOCK})(?P<part>\.\d+)? ", _yearless),
    _start(
        rf"(?P<level>[IWEF])(?P<month>\d{{2}})(?P<day>\d{{2}}) (?P<clock>{_CLOCK})(?P<part>\.\d+)?\s", _klog
    ),
    _start(
        rf"(?:\d+:[A-Z] )?\[?(?P<day>\d{{1,2}})[- /](?P<month>{_MONTH})[- /](?P<year>\d{{4}})[: ]"
        rf"(?P<clock>{_CLOCK})(?P<part>[.,]\d+)?",
        _day_month,
    ),
)


def _best_start(head: FileHead) -> LineStart | None:
    """The form in which most of the first lines begin, if enough of them do."""
    lines = [_owner_and_text(line)[1] for line in head.lines]
    counted = [(sum(1 for line in lines if one.pattern.match(line)), one) for one in _STARTS]
    count, best = max(counted, key=lambda pair: pair[0])
    return best if count and count >= min(_SHARE * len(lines), 3) else None


def _is_text_log(head: FileHead) -> bool:
    start = None if head.records else _best_start(head)
    if start is None:
        return False
    # Rows of a table also begin with a time, but below a header with as many separators.
    first, *others = head.lines
    header = start.pattern.match(first) is None
    rows = others[:-1] or others
    return not any(
        header and {line.count(sign) for line in rows} == {first.count(sign)}
        for sign in ",;\t"
        if sign in first
    )


def _read_text_log(content: FileContent) -> Iterable[RoleRows]:
    year = content.changed_year
    start = _start_of(content.lines()) or _STARTS[0]
    remark = "" if start.take not in {_yearless, _klog} else f"its times name no year, taken as {year}"
    entity = entity_of_file(content.stem)
    first = _entries(_first(content.lines(), _ZONE_LINES), start, year, entity)
    zoned = {_ZONED.search(str(row[0])) is not None for row in first}
    rows = _entries(content.lines(), start, year, entity)
    if len(zoned) > 1:
        remark = "times without a zone beside others with one are read as UTC, as containers keep it"
        rows = (row if _ZONED.search(str(row[0])) else (f"{row[0]}Z", *row[1:]) for row in rows)
    return [RoleRows(Role.LOGS, LOG_COLUMNS, rows, remark)]


def text_log_rows(lines: Sequence[str], *, entity: str | None, year: int) -> Iterator[LogRow]:
    """The entries of a text log inside another document; none if its lines do not begin with a time."""
    start = _start_of(iter(lines))
    return iter(()) if start is None else _entries(iter(lines), start, year, entity)


def _start_of(lines: Iterator[str]) -> LineStart | None:
    return _best_start(FileHead("", "\n".join(_first(lines, 60))))


def _first(lines: Iterator[str], limit: int) -> Iterator[str]:
    for _, line in zip(range(limit), lines, strict=False):
        yield line


@dataclass(slots=True)
class _OpenEntry:
    """An entry whose further lines, as of a stack trace, may still follow."""

    row: LogRow
    joined: list[str] = field(default_factory=list)
    room: int = _JOINED_CHARACTERS

    def join(self, line: str) -> None:
        if line.strip() and self.room > 0:
            self.joined.append(line)
            self.room -= len(line)

    def whole(self) -> LogRow:
        return (*self.row[:3], "\n".join([str(self.row[3]), *self.joined])) if self.joined else self.row


def _entries(lines: Iterator[str], start: LineStart, year: int, entity: str | None) -> Iterator[LogRow]:
    """The entries; if a tool wrote the owner before every line, those of each owner separately."""
    open_entries: dict[str | None, _OpenEntry] = {}
    for line in lines:
        whose, text = _owner_and_text(line)
        # Several programs write into one file here, each with times of its own form.
        starts = (start,) if whose is None else (start, *_STARTS)
        row = next((found for one in starts if (found := _entry(text, one, year, whose or entity))), None)
        if row is not None:
            if whose in open_entries:
                yield open_entries[whose].whole()
            open_entries[whose] = _OpenEntry(row)
        elif whose in open_entries:
            open_entries[whose].join(text)
        elif None in open_entries:
            open_entries[None].join(line)
        elif not open_entries:
            entity = _common_entity(line) or entity
    for one in open_entries.values():
        yield one.whole()


def _entry(line: str, start: LineStart, year: int, entity: str | None) -> LogRow | None:
    match = start.pattern.match(line)
    taken = start.take(match, year) if match is not None else None
    if match is None or taken is None:
        return None
    time, named, level = taken
    entity = named or entity
    rest = line[match.end() :].strip(" \t")
    if start.take in {_yearless, _iso}:
        process = (_SYSLOG_PROCESS if start.take is _yearless else _JOURNAL_PROCESS).match(rest)
        if process is not None and _LEVEL.fullmatch(process[1]) is None:
            entity, rest = process[process.lastindex or 2], rest[process.end() :]
    if rest.startswith("{") and '="' in rest:
        labels, rest = _stream_labels(rest)
        entity, level = entity_of_labels(labels) or entity, level_of_labels(labels)
    elif "msg=" in rest:
        labels = {key: value.strip('"') for key, value in _LOGFMT.findall(rest)}
        entity = entity_of_labels(labels) or entity
    level = level or _level_in(rest)
    return time, entity, level, rest


def _owner_and_text(line: str) -> tuple[str | None, str]:
    """The owner that a tool wrote before a line, and the line without that and without colours."""
    line = _COLOUR.sub("", line) if "\x1b" in line else line
    prefix = _PREFIXED.match(line)
    return (None, line) if prefix is None else (prefix["pod"] or prefix["container"], line[prefix.end() :])


def _stream_labels(rest: str) -> tuple[Mapping[str, str], str]:
    """The label set that logcli writes before a line, and the line."""
    end = rest.find("}")
    labels = labels_in(rest[: end + 1]) if end > 0 else None
    return ({}, rest) if labels is None else (labels, rest[end + 1 :].strip())


def _level_in(rest: str) -> str | None:
    found = _LEVEL.search(rest[:_LEVEL_REACH])
    return None if found is None else next(group for group in found.groups() if group)


def _common_entity(line: str) -> str | None:
    """The owner of the lines, from the head of a Grafana export."""
    _, mark, text = line.partition("Common labels: ")
    try:
        labels = json.loads(text) if mark else None
    except ValueError:
        labels = labels_in(text)
    known = {str(key): str(value) for key, value in labels.items()} if isinstance(labels, dict) else {}
    return entity_of_labels(known)


def entity_of_file(stem: str) -> str | None:
    """The owner of a log by its file name; None if the name says nothing."""
    words = [word for word in re.split(r"[-_. ]", stem.lower()) if word and not word.isdecimal()]
    owner = _OF_STREAM.fullmatch(stem)
    return owner["owner"] if owner is not None and words and not set(words) <= _GENERIC else None


TEXT_LOG_READERS: Final = (
    FileReader("text", "a plain text log", _is_text_log, _read_text_log, is_text=True),
)
