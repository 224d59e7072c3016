"""The two languages that a report is written in."""

from __future__ import annotations

from enum import StrEnum


class Language(StrEnum):
    """Language of everything that a person reads of a run; wire values are ISO 639-1."""

    EN = "en"
    ZH = "zh"


def language_of(question: str) -> Language:
    """The language of a question by its script: one Han character makes it Chinese."""
    return Language.ZH if any(_is_han(character) for character in question) else Language.EN


def _is_han(character: str) -> bool:
    point = ord(character)
    return 0x3400 <= point <= 0x4DBF or 0x4E00 <= point <= 0x9FFF or 0x20000 <= point <= 0x323AF
