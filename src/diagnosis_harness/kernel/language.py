"""The two languages of everything that people read, and texts that exist in both."""

from __future__ import annotations

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
        """The text as it is written, placeholders included."""
        return self.en if language is Language.EN else self.zh

    def render(self, language: Language, /, **values: str | float) -> str:
        """The text with its placeholders filled in."""
        return self.in_(language).format(**values)


def language_of(question: str) -> Language:
    """The language of a question by its script: one Han character makes it Chinese."""
    return Language.ZH if any(_is_han(character) for character in question) else Language.EN


def _is_han(character: str) -> bool:
    point = ord(character)
    return 0x3400 <= point <= 0x4DBF or 0x4E00 <= point <= 0x9FFF or 0x20000 <= point <= 0x323AF
