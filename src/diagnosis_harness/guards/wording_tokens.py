"""Splits a sentence into tokens: names, quotes, times, numbers with units, words. No character is skipped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from diagnosis_harness.diagnosis.word_class import WordClass
from diagnosis_harness.guards.wording_words import HAN, PHRASE_CLASSES, WORDS, words
from diagnosis_harness.kernel.names import is_identifier, quote_text


class TokenKind(StrEnum):
    """The kind of a token."""

    NAME = "NAME"  # one of the given names, in full
    QUOTE = "QUOTE"
    INSTANT = "INSTANT"  # a date, a time of day, or both
    NUMBER = "NUMBER"
    FACTOR = "FACTOR"  # a number of times: 12 times, doubled, 三倍
    IDENTIFIER = "IDENTIFIER"  # contains a digit, `_`, `.`, `-`, `/`, or inner capitals
    PHRASE = "PHRASE"
    WORD = "WORD"
    OTHER = "OTHER"  # not allowed in a sentence


@dataclass(frozen=True, slots=True)
class Token:
    """One token: `text` is lower case for words and unchanged for all else.

    `value` and `unit` are for numbers.

    `pause`: whether punctuation, which is not a token itself, precedes it.
    """

    kind: TokenKind
    text: str
    value: float = 0.0
    unit: str | None = None
    pause: bool = False


_UNITS = {
    "ns": "ns",
    "us": "us",
    "µs": "us",
    "μs": "us",
    "ms": "ms",
    "s": "s",
    "sec": "s",
    "secs": "s",
    "second": "s",
    "seconds": "s",
    "msec": "ms",
    "millisecond": "ms",
    "milliseconds": "ms",
    "microseconds": "us",
    "min": "min",
    "mins": "min",
    "minute": "min",
    "minutes": "min",
    "h": "h",
    "hour": "h",
    "hours": "h",
    "b": "B",
    "byte": "B",
    "bytes": "B",
    "kb": "kB",
    "mb": "MB",
    "gb": "GB",
    "tb": "TB",
    "kib": "KiB",
    "mib": "MiB",
    "gib": "GiB",
    "tib": "TiB",
    "%": "%",
    "percent": "%",
    "ratio": "ratio",
    "/s": "/s",
    "/min": "/min",
    "/h": "/h",
    "per second": "/s",
    "per minute": "/min",
    "rps": "/s",
    "qps": "/s",
    "cores": "cores",
    "core": "cores",
    "毫秒": "ms",
    "微秒": "us",
    "纳秒": "ns",
    "秒": "s",
    "秒钟": "s",
    "分钟": "min",
    "小时": "h",
    "字节": "B",
    "％": "%",
    "次/秒": "/s",
    "次每秒": "/s",
    "核": "cores",
    "个": "",
    "次": "",
    "条": "",
    "count": "",
    "requests/s": "/s",
}
_UNIT_TEXT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_SCALES = {"千": 1e3, "万": 1e4, "百万": 1e6, "亿": 1e8, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_SCALE_TEXT = "|".join(sorted(_SCALES, key=len, reverse=True))
_ONES_TEXT = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS_TEXT = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES = {word: value for value, word in enumerate(_ONES_TEXT.split())}
_TENS = {word: 10 * value for value, word in enumerate(_TENS_TEXT.split(), start=2)}
_FACTORS = {
    "half": 0.5,
    "halved": 0.5,
    "halves": 0.5,
    "halving": 0.5,
    "doubled": 2.0,
    "double": 2.0,
    "doubles": 2.0,
    "doubling": 2.0,
    "twice": 2.0,
    "tripled": 3.0,
    "triple": 3.0,
    "triples": 3.0,
    "tripling": 3.0,
    "thrice": 3.0,
    "quadrupled": 4.0,
    "quadruple": 4.0,
    "tenfold": 10.0,
    "翻倍": 2.0,
    "翻了一倍": 2.0,
    "翻番": 2.0,
    "翻了一番": 2.0,
    "翻了两番": 4.0,
    "减半": 0.5,
    "一半": 0.5,
    "增加一倍": 2.0,
    "增加了一倍": 2.0,
    "twofold": 2.0,
    "threefold": 3.0,
    "fourfold": 4.0,
    "fivefold": 5.0,
}
_PHRASES_BY_START = {
    start: tuple(phrase for phrase in PHRASE_CLASSES if phrase[0] == start)
    for start in {each[0] for each in PHRASE_CLASSES}
}
_HAN_MOST = max(map(len, (*HAN, *_FACTORS)))
_HAN_DIGITS = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_HAN_PLACES = {"十": 10, "百": 100, "千": 1000}
_ALSO_NUMBERS = words(
    "first third fourth fifth dozen dozens several many few couple multiple 几 数 多 若干 首"
)
"""Words for quantities that cannot be checked; read as a number that matches nothing."""

_QUOTE = re.compile(
    r'"([^"]*)"|“([^”]*)”|「([^」]*)」|『([^』]*)』|`([^`]*)`|‘([^’]*)’|(?<![\w])\'([^\']*)\'(?!\w)'
)
_DATE = r"\d{4}-\d\d-\d\d|(?:\d{4}年)?\d{1,2}月\d{1,2}日"
_CLOCK = r"\d{1,2}:\d\d(?::\d\d(?:\.\d{1,6})?)?|\d{1,2}[点时]\d{1,2}分(?:\d{1,2}秒)?"
_INSTANT = re.compile(
    rf"(?<![\w.:-])(?:(?:{_DATE})(?:[T ]?(?:{_CLOCK}))?|(?:{_CLOCK}))(?:Z| UTC)?(?!\w|:\d|[.-]\d)", re.ASCII
)
_DIGITS = r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?"
_NUMBER = re.compile(
    rf"({_DIGITS})(?: ?({_SCALE_TEXT})(?![A-Za-z]))?(?: ?({_UNIT_TEXT})(?![A-Za-z0-9_]|/\w))?"
    r"(?![A-Za-z0-9_]|[.,:/-]?\d)",
    re.IGNORECASE,
)
_PERCENT_HAN = re.compile(rf"百分之({_DIGITS}|[零〇一二两三四五六七八九十百]+)")
_TIMES = re.compile(r"[ -]?(?:times|fold|倍|x)(?![A-Za-z0-9_])")
_FACTOR = re.compile(rf"({_DIGITS})[ -]?(?:times|fold|倍|x)(?![A-Za-z0-9_])")
_POSSESSIVE = re.compile(r"['’]s(?![A-Za-z0-9_])")
_HAN_NUMBER = re.compile(rf"([零〇一二两三四五六七八九十百千]+)(?:(万|亿)?)({_UNIT_TEXT}|倍)?", re.IGNORECASE)
_IDENTIFIER = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_]|[.\-/:@](?=[A-Za-z0-9_]))*")
_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")
_PLAIN_WORD = re.compile(r"[A-Z]?[a-z]+")
_SPACE = re.compile(r"\s+")
_PUNCTUATION = frozenset(",.;:!?()，。；：、！？（）–—…=[]【】")
_ARROW = re.compile(r"->|→|=>")


def tokenize(text: str, names: Sequence[str]) -> tuple[Token, ...]:
    """All tokens of a sentence in order; blanks and plain punctuation are dropped."""
    ordered = sorted(filter(None, names), key=len, reverse=True)
    return tuple(_scan(text, tuple(_Name(name, is_identifier(name), quote_text(name)) for name in ordered)))


def class_of(token: Token) -> WordClass | None:
    """The class of a token by itself; None if it is not in the vocabulary."""
    if token.kind is TokenKind.PHRASE:
        return PHRASE_CLASSES[token.text]
    if token.kind is TokenKind.WORD:
        return WORDS.get(token.text) or HAN.get(token.text)
    return None


def token_unit_of(unit: str | None) -> str:
    """A unit as the tables of `kernel.quantity` spell it; counts have none."""
    text = (unit or "").strip()
    if text.lower() in {"", "1", "none", "count", "counts"}:
        return ""
    if text.lower() in {"1/s", "per_second", "hz", "req/s", "ops", "requests/s"}:
        return "/s"
    return (
        text
        if text in {"kB", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"}
        else _UNITS.get(text.lower(), text)
    )


class _Name(NamedTuple):
    """A name that the sentence may contain: bare if it is an identifier, otherwise quoted."""

    text: str
    is_plain: bool
    marked: str


def _scan(text: str, names: Sequence[_Name]) -> Iterator[Token]:
    at, pause = 0, False
    while at < len(text):
        if blank := _SPACE.match(text, at):
            at = blank.end()
        elif text[at] in _PUNCTUATION:
            at, pause = at + 1, True
        else:
            token, at = _next(text, at, names)
            if token.kind is TokenKind.NAME and (possessive := _POSSESSIVE.match(text, at)):
                at = possessive.end()
            yield replace(token, pause=True) if pause else token
            pause = False


def _next(text: str, at: int, names: Sequence[_Name]) -> tuple[Token, int]:
    for name in names:
        if text.startswith(name.marked, at):
            return Token(TokenKind.NAME, name.text), at + len(name.marked)
    if quote := _QUOTE.match(text, at):
        inner = next(group for group in quote.groups() if group is not None)
        # A name in other quotation marks is accepted, unless part of it had to be escaped.
        known = any(name.text == inner and name.marked == f"“{inner}”" for name in names)
        kind = TokenKind.NAME if known else TokenKind.QUOTE
        return Token(kind, inner), quote.end()
    if arrow := _ARROW.match(text, at):
        return Token(TokenKind.WORD, "to"), arrow.end()
    for name in names:
        end = at + len(name.text)
        if name.is_plain and text.startswith(name.text, at) and _stands_alone(text, at, end):
            return Token(TokenKind.NAME, name.text), end
    for read in (_phrase, _instant, _number, _han, _latin):
        found = read(text, at)
        if found is not None:
            return found
    return Token(TokenKind.OTHER, text[at]), at + 1


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the text between is not a part of a longer identifier."""
    before = text[max(0, start - 2) : start]
    after = text[end : end + 2]
    inside = re.search(r"[A-Za-z0-9_]$|[A-Za-z0-9_][.\-/:@]$", before)
    return not inside and not re.match(r"[A-Za-z0-9_]|[.\-/:@][A-Za-z0-9_]", after)


def _phrase(text: str, at: int) -> tuple[Token, int] | None:
    lowered = text[at : at + 48].lower()
    for phrase in _PHRASES_BY_START.get(lowered[:1], ()):
        if lowered.startswith(phrase) and (
            not phrase.isascii() or not lowered[len(phrase) : len(phrase) + 1].isalnum()
        ):
            return Token(TokenKind.PHRASE, phrase), at + len(phrase)
    return None


def _instant(text: str, at: int) -> tuple[Token, int] | None:
    found = _INSTANT.match(text, at)
    return None if found is None else (Token(TokenKind.INSTANT, found[0]), found.end())


def _number(text: str, at: int) -> tuple[Token, int] | None:
    if percent := _PERCENT_HAN.match(text, at):
        value = float(percent[1]) if percent[1][-1].isdigit() else float(han_value(percent[1]))
        return Token(TokenKind.NUMBER, percent[0], value, "%"), percent.end()
    if factor := _FACTOR.match(text, at):
        return Token(TokenKind.FACTOR, factor[0], float(factor[1].replace(",", ""))), factor.end()
    found = _NUMBER.match(text, at)
    if found is None:
        return None
    value = float(found[1].replace(",", "")) * _SCALES.get((found[2] or "").lower(), 1.0)
    unit = None if found[3] is None else token_unit_of(found[3])
    return Token(TokenKind.NUMBER, found[0], value, unit), found.end()


def _han(text: str, at: int) -> tuple[Token, int] | None:
    if not "\u3400" <= text[at] <= "\u9fff" and text[at] != "〇":
        return None
    for size in range(min(_HAN_MOST, len(text) - at), 0, -1):
        part = text[at : at + size]
        if part in _FACTORS:
            return Token(TokenKind.FACTOR, part, _FACTORS[part]), at + size
        if part in HAN and not _counts(text, at, size):
            return Token(TokenKind.WORD, part), at + size
    if number := _HAN_NUMBER.match(text, at):
        value = float(han_value(number[1])) * _SCALES.get(number[2], 1.0)
        if number[3] == "倍":
            return Token(TokenKind.FACTOR, number[0], value), number.end()
        unit = None if number[3] is None else token_unit_of(number[3])
        return Token(TokenKind.NUMBER, number[0], value, unit), number.end()
    if text[at] in _ALSO_NUMBERS:
        return Token(TokenKind.NUMBER, text[at], float("nan")), at + 1
    return Token(TokenKind.OTHER, text[at]), at + 1


def _counts(text: str, at: int, size: int) -> bool:
    """Whether a word that begins like a number is one: 一次 inside 十一次 is not a word of its own."""
    return at > 0 and text[at] in _HAN_DIGITS and text[at - 1] in {*_HAN_DIGITS, *_HAN_PLACES} and size > 1


def _latin(text: str, at: int) -> tuple[Token, int] | None:
    found = _IDENTIFIER.match(text, at)
    if found is None:
        return None
    word = _WORD.match(text, at)
    if word is not None and word.end() >= found.end() and _PLAIN_WORD.fullmatch(word[0].split("'")[0]):
        return _word(text, at, word[0].lower())
    return _number_word(text, at, found[0]) or (Token(TokenKind.IDENTIFIER, found[0]), found.end())


def _word(text: str, at: int, word: str) -> tuple[Token, int]:
    end = at + len(word)
    number = _number_word(text, at, word)
    if number is not None:
        return number
    return Token(TokenKind.WORD, word.removesuffix("'s").replace("'", "")), end


def _number_word(text: str, at: int, word: str) -> tuple[Token, int] | None:
    """Number words: twelve, twenty-five, doubled, two hundred; followed by `times`, a factor."""
    low, end = word.lower(), at + len(word)
    if low in _FACTORS:
        return Token(TokenKind.FACTOR, word, _FACTORS[low]), end
    if low in _ALSO_NUMBERS:
        return Token(TokenKind.NUMBER, word, float("nan")), end
    tens, _, ones = low.partition("-")
    if low in _ONES or low in _TENS:
        value = float(_ONES.get(low, _TENS.get(low, 0)))
    elif tens in _TENS and _ONES.get(ones, 0) in range(1, 10):
        value = float(_TENS[tens] + _ONES[ones])
    else:
        return None
    if scale := re.compile(r" (hundred|thousand|million)\b").match(text, end):
        value *= {"hundred": 1e2, "thousand": 1e3, "million": 1e6}[scale[1]]
        end = scale.end()
    if times := _TIMES.match(text, end):
        return Token(TokenKind.FACTOR, word, value), times.end()
    unit = re.compile(rf" ({_UNIT_TEXT})(?![A-Za-z0-9_])", re.IGNORECASE).match(text, end)
    if unit is None:
        return Token(TokenKind.NUMBER, word, value), end
    return Token(TokenKind.NUMBER, word, value, token_unit_of(unit[1])), unit.end()


def han_value(text: str) -> int:
    """The value of a Chinese numeral below ten thousand: 十二 is 12, 三百零五 is 305, 二〇 is 20."""
    if not any(character in _HAN_PLACES for character in text):
        return int("".join(str(_HAN_DIGITS[character]) for character in text))
    total = digit = 0
    for character in text:
        if character in _HAN_PLACES:
            total += (digit or 1) * _HAN_PLACES[character]
            digit = 0
        else:
            digit = _HAN_DIGITS[character]
    return total + digit
