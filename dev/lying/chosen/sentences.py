"""Reads published sentences: quotations, numbers, times, names and words.

It was written from the sentences alone, and shares no code with what checks or renders them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|“[^”]*”|「[^」]*」')
_ESCAPED = re.compile(r"\\u([0-9a-f]{4})")
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)")
_CLOCK = re.compile(r"(?<![\d:-])(\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?![\d:])")
_NUMBER = re.compile(
    r"(?<![\w.])(-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)\s?"
    r"(ns|µs|us|ms|s\b|min\b|h\b|KiB|MiB|GiB|kB|KB|MB|GB|TB|bytes|B\b|%|percent"
    r"|ratio|/s|times|倍|毫秒|秒|个百分点)?"
)
_SIZE = {
    "ns": 1e-9, "µs": 1e-6, "us": 1e-6, "ms": 1e-3, "毫秒": 1e-3, "s": 1.0, "秒": 1.0, "min": 60.0,
    "h": 3600.0,
    "B": 1.0, "bytes": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 1024.0,
    "MiB": 1024.0**2, "GiB": 1024.0**3, "%": 0.01, "percent": 0.01, "ratio": 1.0, "/s": 1.0, "1/s": 1.0,
}  # fmt: skip
_TIMES = ("times", "倍")
_CLEAN = re.compile(r"[\w.\-/:@]{1,128}")
UP = ("rose", "rise", "increased", "jumped", "grew", "climbed", "上升", "升到", "增加", "升高", "上涨")
DOWN = ("fell", "fall", "dropped", "decreased", "sank", "下降", "降到", "减少", "降低")
_WORDS = """
    a about above across affected after again against agent alert all alone also among amount an and
    any are as ask asked at away back baseline be bear bears became because been before began begin
    behind below best better between beyond both bounds brought budget but by bytes call called
    calls can candidate candidates cannot cause caused causes change changed changes check checked
    checking checks citations cites clear cleared clearly collecting compare compared comparison
    concluded conclusion confidence configuration contain contains cores could count counted cpu
    data deadline dependency deploy deployed did differ direction dns does down drafted during each
    edge edges end ended ends entity error errors events every evidence explained explains fail
    failed failing fails failure failures far fell field find first flag folder for found from
    further gb give given go had has have held higher highest hit how if in incident increased
    indicator indicators instance instances is it its itself kb kib kind kinds known larger last
    latency latest less level limit line lines listed log logs longer look looked looking looks
    lower made may mb memory messages metric metrics mib min missing more most moved movement ms
    name named narrower near needed neither network new next no nobody none nor normal normally not
    nothing now ns number of off on once one only onset operation operations or other out own part
    path per percent period probability prove proven question questions ran ranked ranking rate
    rather ratio reached reaches read ready record recorded recording recordings reports request
    requests resource rest result rise risen rose rule ruled run running runs same saturated saw say
    scope score search searched second seconds see seen series service share show showed shown shows
    signal signals since slow slowed so some source sources span spans stand stands started stated
    statement stayed still stood stopped strongest supply tb than that the their them then there
    these they this those through time times to took tool topology traced traces traffic under unit
    unknown until up us use used usual usually utc value verified version very was way well went
    were what when where whether which while who whole why window windows with within without words
    works yet you others go follows naming wrote like starts
    beside broke independent independently leads exactly stays
"""
_KNOWN_WORDS = frozenset(_WORDS.split())


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text, in the smallest unit of its kind; `factor` if it is a ratio."""

    text: str
    value: float
    bare: bool
    factor: bool


def strip_quotes(text: str) -> str:
    """The text without its quotations."""
    return _QUOTED.sub(' "" ', text)


def quotes_in(text: str) -> tuple[str, ...]:
    """The quotations, with escapes undone."""
    return tuple(_plain(found.group()[1:-1]) for found in _QUOTED.finditer(text))


def _plain(text: str) -> str:
    text = _ESCAPED.sub(lambda found: chr(int(found.group(1), 16)), text)
    return text.replace('\\"', '"').replace("\\\\", "\\")


def is_clean(name: str) -> bool:
    """Whether a name may be printed as it is: letters or digits of one script, a few marks, no blanks."""
    return _CLEAN.fullmatch(name) is not None and len({_script(c) for c in name if c.isalpha()}) <= 1


def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNKNOWN").split(" ", 1)[0]


def without(text: str, names: Iterable[str]) -> str:
    """The text without these names, the longest first; a name inside a longer word stays."""
    for name in sorted({each for each in names if each in text}, key=len, reverse=True):
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", " \x00 ", text)
    return text


def prose_in(text: str, prose: Iterable[str]) -> str | None:
    """The first of these texts, or a meaningful part of one, that is outside quotation marks."""
    bare = strip_quotes(text)
    for each in prose:
        if each in text and any(mark in each for mark in '"“”「」') and each not in quotes_in(text):
            return each
        for part in (each, *re.split(r'["“”「」.:：。;；,，]', each)):
            told = part.strip()
            if told in bare and not is_clean(told) and _says_something(told):
                return told
    return None


def _says_something(text: str) -> bool:
    """Whether a text has words that the product's sentences do not use."""
    if text.isascii():
        return len(text) >= 6 and any(
            word.lower() not in _KNOWN_WORDS for word in re.findall("[A-Za-z]+", text)
        )
    return len(text) >= 4


def odd_words(text: str, names: Iterable[str]) -> tuple[str, ...]:
    """English words of a sentence, except names and quotations, that no sentence of the product uses."""
    bare = without(strip_quotes(text), names)
    return tuple(word for word in re.findall(r"[A-Za-z]{2,}", bare) if word.lower() not in _KNOWN_WORDS)


def instants(text: str) -> tuple[float, ...]:
    """Every time that a text names; a time of day belongs to the preceding date in the text."""
    found: list[float] = []
    day = ""
    bare = strip_quotes(text)
    for match in re.finditer(rf"{_INSTANT.pattern}|{_CLOCK.pattern}", bare):
        day = match.group(1) or day
        clock = match.group(2) or match.group(3)
        if day:
            found.append(datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=UTC).timestamp())
    return tuple(found)


def numbers(text: str, names: Iterable[str]) -> Iterator[Number]:
    """Every number of a text that is not part of a name, a quotation or a time."""
    bare = without(strip_quotes(text), names)
    bare = _CLOCK.sub(" ", _INSTANT.sub(" ", bare))
    for match in _NUMBER.finditer(bare):
        unit = match.group(2) or ""
        value = float(match.group(1).replace(",", ""))
        yield Number(match.group(), value * _SIZE.get(unit, 1.0), not unit, unit in _TIMES)


def in_base(value: float, unit: str | None) -> float:
    """A number of the data in the smallest unit of its kind, as `numbers` gives them."""
    return value * _SIZE.get({"seconds": "s", "share": "ratio"}.get(unit or "", unit or ""), 1.0)


def directions_in(text: str, names: Iterable[str]) -> frozenset[str]:
    """The directions of movement that a sentence states: UP, DOWN, both or none."""
    bare = without(strip_quotes(text), names)
    words = frozenset(re.findall(r"[a-z]+", bare.lower()))

    def says(some: tuple[str, ...]) -> bool:
        return any(word in words if word.isascii() else word in bare for word in some)

    return frozenset(way for way, some in (("UP", UP), ("DOWN", DOWN)) if says(some))
