"""Output of `sadf` about a host: JSON (`sadf -j`) and lines with semicolons (`sadf -d`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from diagnosis_harness.adapters.sources.incident_folder.formats.reader import (
    METRIC_COLUMNS,
    Cell,
    FileContent,
    FileHead,
    FileReader,
    RoleRows,
    at,
    list_at,
    number_of,
    string_at,
)
from diagnosis_harness.adapters.sources.incident_folder.listing import Role
from diagnosis_harness.adapters.sources.incident_folder.names import unit_of_signal

_DEVICES: Final = ("cpu", "disk-device", "iface", "dev", "number", "intr", "filesystem")
_MILLISECONDS: Final = frozenset({"await", "r_await", "w_await", "f_await", "svctm"})
_LINE_START: Final = "# hostname;interval;timestamp"
_PLAIN_COLUMNS: Final = 3

_Row = tuple[Cell, ...]


def unit_of_column(name: str) -> str | None:
    """The unit of a column of sar by its name: `%user`, `kbmemused`, `rxkB/s`, `tps`."""
    if name.startswith("%"):
        return "percent"
    if "kb" in name.lower():
        return "kB/s" if name.endswith("/s") else "kB"
    return "1/s" if name == "tps" else "ms" if name in _MILLISECONDS else unit_of_signal(name)


def _is_json(head: FileHead) -> bool:
    return isinstance(at(head.lone, "sysstat", "hosts"), list)


def _read_json(content: FileContent) -> Iterable[RoleRows]:
    return [RoleRows(Role.METRICS, METRIC_COLUMNS, _json_rows(content))]


def _json_rows(content: FileContent) -> Iterator[_Row]:
    for document in content.records():
        for host in list_at(document, "sysstat", "hosts"):
            name = string_at(host, "nodename") or content.stem or "host"
            for sample in list_at(host, "statistics"):
                date, clock = string_at(sample, "timestamp.date"), string_at(sample, "timestamp.time")
                # Without `utc` the version is old, and writes UTC; 0 is the clock of the host.
                zone = "" if string_at(sample, "timestamp.utc") == "0" else "Z"
                time = f"{date} {clock}{zone}" if date and clock else None
                for group, value in sample.items() if isinstance(sample, dict) else []:
                    if group != "timestamp":
                        yield from _values(value, (time, name), group)


def _values(value: object, whose: tuple[str | None, str], path: str) -> Iterator[_Row]:
    """All numbers inside, named by the keys that lead to them; device names distinguish them."""
    if isinstance(value, list):
        for one in value:
            yield from _values(one, whose, path)
    elif isinstance(value, dict):
        device = next((str(value[key]) for key in _DEVICES if key in value), None)
        inside = "" if device in {None, "all", "-1"} else f"{{{device}}}"
        for key, one in value.items():
            if key in _DEVICES:
                continue
            number = number_of(one)
            if number is None:
                yield from _values(one, whose, f"{path} {key}")
            else:
                signal = f"{path} {key}"
                unit = "percent" if path == "cpu-load" or "percent" in key else unit_of_signal(key)
                yield *whose, f"{signal}{inside}", number, unit


def _is_lines(head: FileHead) -> bool:
    return bool(head.lines) and head.lines[0].startswith(_LINE_START)


def _read_lines(content: FileContent) -> Iterable[RoleRows]:
    return [RoleRows(Role.METRICS, METRIC_COLUMNS, _line_rows(content))]


def _line_rows(content: FileContent) -> Iterator[_Row]:
    names: list[str] = []
    for line in content.lines():
        cells = line.split(";")
        if line.startswith("#"):
            names = cells
            continue
        if len(cells) != len(names) or len(cells) <= _PLAIN_COLUMNS:
            continue
        host, time = cells[0], _line_time(cells[2])
        device, first = "", _PLAIN_COLUMNS
        if (not names[first].startswith("%") and number_of(cells[first]) is None) or names[first] == "CPU":
            device, first = cells[first], first + 1
        inside = "" if device in {"", "-1", "all"} else f"{{{device}}}"
        for name, cell in zip(names[first:], cells[first:], strict=True):
            yield time, host, f"{name}{inside}", number_of(cell), unit_of_column(name)


def _line_time(text: str) -> Cell:
    """`2026-05-06 09:30:01 UTC`; without the zone, as with -t, a time of the host; with -U epoch seconds."""
    number = number_of(text)
    return number if number is not None else text.replace(" UTC", "Z")


SYSSTAT_READERS: Final = (
    FileReader("sadf-json", "sadf -j", _is_json, _read_json),
    FileReader("sadf", "sadf -d", _is_lines, _read_lines),
)
