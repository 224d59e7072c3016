"""Handles names in files: makes them printable, matches usual ones, splits them into entity and signal."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from diagnosis_harness.toolbox.ports import UNNAMED_ENTITY

_SENTENCE_LIMIT: Final = 120
_UNIT_KEYS: Final = {
    "s": "s",
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "ms": "ms",
    "msec": "ms",
    "millis": "ms",
    "milliseconds": "ms",
    "us": "us",
    "micros": "us",
    "microseconds": "us",
    "ns": "ns",
    "nano": "ns",
    "nanos": "ns",
    "nanoseconds": "ns",
}
_UNIT_ENDINGS: Final = _UNIT_KEYS | {
    "bytes": "bytes",
    "percent": "percent",
    "pct": "percent",
    "ratio": "ratio",
    "celsius": "celsius",
    "cores": "cores",
}
_UNIT_SIGNS: Final = {"%": "percent", "µs": "us", "μs": "us", "B": "bytes"}
_RATES: Final = {
    "s": "1/s", "sec": "1/s", "secs": "1/s", "second": "1/s", "seconds": "1/s",
    "m": "1/min", "min": "1/min", "mins": "1/min", "minute": "1/min", "minutes": "1/min",
    "h": "1/h", "hr": "1/h", "hour": "1/h", "hours": "1/h",
}  # fmt: skip
"""The word after `per` or a slash → the unit of a rate, which is a frequency and not a time."""
_RATE: Final = re.compile(r"(?:(?:^|_)per_|_?/\s*)(?P<time>[a-z]+)\s*$")
_RATE_WORDS: Final = {"rps": "1/s", "qps": "1/s", "tps": "1/s", "iops": "1/s", "rpm": "1/min"}
_STATISTIC: Final = re.compile(
    r"(p\d{1,3}(\.\d+)?|avg|average|mean|median|min|max|minimum|maximum|sum|count|std|stddev|rate|total)",
    re.IGNORECASE,
)
_BRACKETED: Final = re.compile(r"[(\[]([^()\[\]]{1,16})[)\]]\s*$")
_NOT_A_WORD: Final = re.compile(r"[^0-9a-z%]+")
_CAMEL_CASE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def printable(text: str) -> str:
    r"""The text without surrounding spaces, with unprintable characters as visible escapes.

    Controls, line breaks, direction marks and the like (Unicode categories C*, Zl, Zp) become `\x1b`,
    `\u202e` …, so that different names stay different and none can move the cursor or reverse a line.
    """
    text = text.strip()
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(sign) for sign in text)


def quote(text: str) -> str:
    """A cell or a name for an error message: printable, in single quotes, cut if it is long."""
    shown = printable(text)
    if len(shown) > _SENTENCE_LIMIT:
        shown = f"{shown[:_SENTENCE_LIMIT]}…"
    return f"'{shown}'"


def _visible(sign: str) -> str:
    if unicodedata.category(sign)[0] == "C" or sign in "\u2028\u2029":
        code = ord(sign)
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return sign


def plain_key(name: str) -> str:
    """A column name in the form used for matching: `startTimeNano` → `start_time_nano`."""
    return _NOT_A_WORD.sub("_", _CAMEL_CASE.sub("_", name.strip()).lower()).strip("_")


def time_unit_of(name: str) -> tuple[str, str | None]:
    """A plain column name without its time unit, and the unit: `ts_ns` → (`ts`, `ns`)."""
    key = plain_key(name)
    base, _, ending = key.rpartition("_")
    if base and ending in _UNIT_KEYS:
        return base, _UNIT_KEYS[ending]
    return key, None


def unit_of_signal(signal: str) -> str | None:
    """The unit that a signal's name ends in (`latency_ms`, `latency_ms_p90`, `CpuUsage(%)`), or None.

    `errors_per_sec`, `requests/s` and `bytes_per_second` are rates, not times: `1/s` or `bytes/s`.
    """
    bracketed = _BRACKETED.search(signal)
    if bracketed:
        inner = bracketed.group(1).strip()
        return _UNIT_SIGNS.get(inner) or _UNIT_ENDINGS.get(inner.lower()) or printable(inner) or None
    if signal.lstrip().startswith("%"):  # as sar names its columns
        return "percent"
    rate = _rate_of(signal)
    if rate is not None:
        return rate
    words = plain_key(signal).split("_")
    while len(words) > 1 and _STATISTIC.fullmatch(words[-1]):
        words.pop()
    return _UNIT_ENDINGS.get(words[-1]) if len(words) > 1 else None


def _rate_of(signal: str) -> str | None:
    """The unit of a rate, if the name says that it is one: `errors_per_sec`, `reads/s`, `rps`."""
    words = _CAMEL_CASE.sub("_", signal.strip()).lower().replace(" ", "_").replace("-", "_").split("_")
    while len(words) > 1 and _STATISTIC.fullmatch(words[-1]):
        words.pop()
    if words[-1] in _RATE_WORDS:
        return _RATE_WORDS[words[-1]]
    found = _RATE.search("_".join(words))
    unit = _RATES.get(found["time"]) if found else None
    if found is None or unit is None:
        return None
    counted = re.split(r"[^a-z]+", "_".join(words)[: found.start()])[-1]
    return f"bytes/{unit.removeprefix('1/')}" if counted in {"bytes", "byte"} else unit


def split_series_name(name: str) -> tuple[str, str]:
    """Entity and signal of a wide column's name, both printable and not empty.

    The name is split at the last `|`, or else at the last dot whose right side looks like a signal: it begins
    with a letter or an underscore and is more than a statistic (`checkout.latency.p90` is `latency.p90` of
    `checkout`; `10.0.0.7.cpu` is `cpu` of `10.0.0.7`). A name that cannot be split is a signal of the
    entity `system`.
    """
    shown = printable(name)
    entity, bar, signal = shown.rpartition("|")
    if bar:
        return entity.strip() or UNNAMED_ENTITY, signal.strip() or "value"
    place, last = len(shown), None
    while (place := shown.rfind(".", 0, place)) > 0:
        signal = shown[place + 1 :].strip()
        entity = shown[:place].strip()
        if entity and (signal[:1].isalpha() or signal[:1] == "_"):
            if not _STATISTIC.fullmatch(signal):
                return entity, signal
            last = last or (entity, signal)
    return last or (UNNAMED_ENTITY, shown or "value")


def join_header(levels: tuple[str, ...]) -> tuple[str, str]:
    """Entity and signal of a column with several header rows: entity, signal, statistic from the top down.

    The statistic is joined to the signal by an underscore (`latency` + `p90` → `latency_p90`).
    """
    entity, *rest = (printable(level) for level in levels)
    return entity or UNNAMED_ENTITY, "_".join(part for part in rest if part) or "value"
