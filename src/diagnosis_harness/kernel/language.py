"""The two languages of every text for people, and texts in both."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class Language(StrEnum):
    """Language of a text for people; wire values are ISO 639-1."""

    EN = "en"
    ZH = "zh"


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text in both languages; `{names}` in it are filled in by `render`.

    Both languages use the same names; a house test checks every `Text` of the package.
    """

    en: str
    zh: str

    def in_(self, language: Language) -> str:
        """The text as written, including its placeholders."""
        return self.en if language is Language.EN else self.zh

    def render(self, language: Language, /, **values: str | float) -> str:
        """The text with its placeholders filled in."""
        return self.in_(language).format(**values)


def language_of(question: str) -> Language:
    """The language of a question, judged by its sentence and not by names in it.

    `why is 预订 slow` is English, `checkout 为什么慢` Chinese: Han characters make it Chinese,
    unless English words surround them and no Chinese word asks.
    """
    if not any(_is_han(character) for character in question):
        return Language.EN
    framed = len({word for word in _WORD.findall(question.casefold()) if word in _FRAME})
    return Language.EN if framed >= _FRAME_LEAST and not _ASKS_ZH.search(question) else Language.ZH


_WORD = re.compile("[a-z]+")
_FRAME_LEAST = 2
"""Words that mark a sentence as English; a single one may be part of a name (`the` in `the-cart`), or
slang."""
_FRAME_TEXT = """
why is are was were the a did does do what when how which since at in of from has have to and or for with
"""
_FRAME = frozenset(_FRAME_TEXT.split())
_ASKS_ZH = re.compile("为什么|为何|为啥|怎么|什么|吗|呢|是不是|是否|开始|变慢|之后|以来|哪|请|的")


def _is_han(character: str) -> bool:
    point = ord(character)
    return 0x3400 <= point <= 0x4DBF or 0x4E00 <= point <= 0x9FFF or 0x20000 <= point <= 0x323AF
