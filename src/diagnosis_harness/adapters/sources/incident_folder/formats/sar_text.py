"""Reads output of `sar`, `mpstat` and `pidstat`: rows below a header, each with a time of day."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    METRIC_COLUMNS,
    Cell,
    FileContent,
    FileHead,
    FileReader,
    RoleRows,
    number_of,
)
from diagnosis_harness.adapters.sources.incident_folder.formats.sysstat import unit_of_column
from diagnosis_harness.adapters.sources.incident_folder.listing import Role
from diagnosis_harness.adapters.sources.incident_folder.settings_file import SETTINGS_NAME, files_table
from diagnosis_harness.kernel.errors import InvalidInput

_FIRST: Final = re.compile(
    r"Linux \S+ \((?P<host>[^)]+)\)\s+(?P<date>\S+)(?:\s+_\S+_)?(?:\s+\(\d+ CPUs?\))?\s*"
)
_ROW: Final = re.compile(r"(?P<clock>\d{1,2}:\d{2}:\d{2})(?: (?P<half>[AP]M))?\s+(?P<rest>\S.*)")
_NUMBERS_DATE: Final = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{2}|\d{4})")
_OTHER_DATES: Final = ("%Y-%m-%d", "%d.%m.%Y", "%d.%m.%y", "%Y年%m月%d日", "%Y/%m/%d")
_DEVICES: Final = frozenset(
    ["CPU", "DEV", "IFACE", "TTY", "INTR", "FILESYSTEM", "MOUNTPOINT", "BUS", "FAN", "IN", "TEMP", "DEVICE",
     "FCHOST", "NODE", "BAT"]
)  # fmt: skip
_ALL_DEVICES: Final = frozenset({"all", "sum", "-1"})
_PROCESS: Final = ("PID", "TGID", "TID", "Command")
_NOT_MEASURED: Final = frozenset({*_PROCESS, "UID", "USER"})
_KILOBYTES: Final = {"B": 2.0**-10, "k": 1.0, "M": 2.0**10, "G": 2.0**20, "T": 2.0**30}
"""Factors of the letters that `--human` writes after a number, in kilobytes."""

_Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class _Day:
    """The date of the first line, and a remark for the user on how it was read."""

    day: date
    remark: str = ""


@dataclass(slots=True)
class _Blocks:
    """State from the preceding lines: the host, the header and the day of the rows that follow."""

    host: str = "host"
    first: date = field(default_factory=lambda: date(1970, 1, 1))
    names: tuple[str, ...] = ()
    reached: dict[tuple[str, ...], datetime] = field(default_factory=dict)
    """The last time below each header, where a repeated header continues."""

    def start(self, host: str, day: date) -> None:
        self.host, self.first, self.names = host, day, ()
        self.reached.clear()

    def read_time(self, clock: str, half: str | None) -> datetime:
        """The time of a row. A time of day earlier than the previous one belongs to the next day."""
        form = "%I:%M:%S %p" if half else "%H:%M:%S"
        of_day = datetime.strptime(f"{clock} {half}" if half else clock, form).time()  # noqa: DTZ007 - only a time of day
        before = self.reached.get(self.names)
        found = datetime.combine(self.first if before is None else before.date(), of_day)
        if before is not None and found < before:
            found += timedelta(days=1)
        self.reached[self.names] = found
        return found


def _is_sar(head: FileHead) -> bool:
    return bool(head.lines) and _FIRST.fullmatch(head.lines[0].rstrip("\r")) is not None


def _read(content: FileContent) -> Iterable[RoleRows]:
    first = next((found for line in content.lines() if (found := _FIRST.fullmatch(line))), None)
    day = None if first is None else _day_of(first["date"], content, halves=_has_halves(content))
    if not any(_rows(content)):
        raise InvalidInput(
            content.file.name,
            "none of its rows says at what time it was measured",
            "save what `sar` or `sadf -d` prints instead",
        )
    yield RoleRows(Role.METRICS, METRIC_COLUMNS, _rows(content), "" if day is None else day.remark)


def _has_halves(content: FileContent) -> bool:
    """Whether the times of day are written with AM and PM."""
    rows = (row for line in content.lines() if (row := _ROW.match(line)))
    return any(row["half"] for row in rows)


def _rows(content: FileContent) -> Iterator[_Row]:
    blocks, halves = _Blocks(), _has_halves(content)
    for line in content.lines():
        first = _FIRST.fullmatch(line)
        if first is not None:
            blocks.start(first["host"], _day_of(first["date"], content, halves=halves).day)
            continue
        row = _ROW.match(line)
        if row is None or "LINUX RESTART" in line:  # an average, or a blank line
            continue
        cells = row["rest"].split()
        if all(number_of(cell) is None for cell in cells) and not _is_below(blocks.names, cells):
            blocks.names = tuple(cells)
        elif _is_below(blocks.names, cells):
            time = blocks.read_time(row["clock"], row["half"]).isoformat(sep=" ")
            yield from _values(blocks.names, cells, (time, blocks.host))


def _is_below(names: Sequence[str], cells: Sequence[str]) -> bool:
    """Whether cells are a row of that header: equally many, with a number among them."""
    return 0 < len(names) == len(cells) and any(
        number_of(cell.rstrip("%BkMGT")) is not None for cell in cells
    )


def _values(names: Sequence[str], cells: Sequence[str], whose: tuple[str, str]) -> Iterator[_Row]:
    of_process = "PID" in names or "TGID" in names
    label_columns = _PROCESS if of_process else _DEVICES
    devices = [cell for name, cell in zip(names, cells, strict=True) if name in label_columns and cell != "-"]
    device = " ".join(one for one in devices if one not in _ALL_DEVICES)
    inside = f"{{{device}}}" if device else ""
    for name, cell in zip(names, cells, strict=True):
        if name in _DEVICES or (of_process and name in _NOT_MEASURED):
            continue
        yield *whose, f"{name}{inside}", _number(name, cell), unit_of_column(name)


def _number(name: str, cell: str) -> float | None:
    """A cell as a number; the letters of `--human` are converted to the unit that the column names."""
    if "kb" in name.lower() and cell[-1] in _KILOBYTES:
        number = number_of(cell[:-1])
        return None if number is None else number * _KILOBYTES[cell[-1]]
    return number_of(cell.removesuffix("%"))


def _day_of(text: str, content: FileContent, *, halves: bool) -> _Day:
    """The date of the first line.

    Its form depends on the language of the machine. If it consists of numbers only, a date after the file was
    written is impossible; the month comes first if the times have AM or PM, or the year has two digits.

    Raises:
        InvalidInput: it can be read in two ways, or in none.
    """
    stated = content.file.settings.time_format
    for form in (stated,) if stated is not None else _OTHER_DATES:
        if (day := _parse_date(text, form)) is not None:
            return _Day(day)
    year = "%Y" if len(text.rpartition("/")[2]) == 4 else "%y"  # the four digits of a year
    forms = [f"%m/%d/{year}", f"%d/%m/{year}"] if _NUMBERS_DATE.fullmatch(text) and stated is None else []
    days = {form: day for form in forms if (day := _parse_date(text, form)) is not None}
    # The file's time is in UTC; the zone of the date may be almost a day ahead of it.
    latest = datetime.fromtimestamp(content.changed_s + 86_400, UTC).date()
    possible = {form: day for form, day in days.items() if day <= latest} or days
    place = f"under {files_table(content.file.name)} in {SETTINGS_NAME}"
    if not possible:
        raise InvalidInput(content.file.name, f"its date {text!r} is in no known form",
                           f'set `time_format = "%d/%m/%Y"`, as the date is written, {place}')  # fmt: skip
    form, day = next(iter(possible.items()))
    if len(set(possible.values())) == 1:
        return _Day(day)
    if halves or year == "%y":
        return _Day(
            day, f'its date {text} read as {day}; `time_format = "{forms[1]}"` {place} reads it otherwise'
        )
    raise InvalidInput(
        content.file.name,
        f"its date {text} can be read in two ways",
        f'set `time_format = "{forms[0]}"` or `"{forms[1]}"` {place}',
    )


def _parse_date(text: str, form: str) -> date | None:
    try:
        return datetime.strptime(text, form).date()  # noqa: DTZ007 - only a date
    except ValueError:
        return None


SAR_READERS: Final = (FileReader("sar", "the output of sar", _is_sar, _read, is_text=True),)
