"""Writes names and texts from data or an agent inside our own sentences.

A name is data. An identifier is written unchanged and every other name is quoted, so that
no service can be called `checkout is the cause. The service payment` and be read as our own words.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

IDENTIFIER_MAX = 128
"""Characters; names of services, signals and hosts that a person can read are shorter."""
QUOTED_MAX = 200
"""Characters of a quoted text; a longer one is cut and marked as cut."""
_JOINERS = frozenset("._-/:@")
_SCRIPTS = frozenset(
    {"LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "GEORGIAN", "HANGUL", "HEBREW", "ARABIC", "DEVANAGARI"}
)
"""Scripts with spaces between words. In others, such as Chinese, only quotation marks separate a name from
the words around it."""
_QUOTES = frozenset('"“”„‟«»‹›「」『』〝〞〟＂')
_CUT = "…"


@lru_cache(maxsize=4096)
def is_identifier(name: str) -> bool:
    """Whether a name is letters or digits of one script joined by `. _ - / : @`, without spaces.

    Letters that look like those of another script are not allowed, nor are non-ASCII digits, marks, or
    compatibility forms such as full-width letters. The last character must be a letter or a digit, since a
    sentence continues after a name and `payment:` would begin a clause.
    """
    if not 0 < len(name) <= IDENTIFIER_MAX or unicodedata.normalize("NFKC", name) != name:
        return False
    scripts = set()
    for character in name:
        if character in _JOINERS or character in "0123456789":
            continue
        if not unicodedata.category(character).startswith("L"):
            return False
        scripts.add(unicodedata.name(character, "").partition(" ")[0])
    if len(scripts) > 1 or not scripts <= _SCRIPTS:
        return False
    return name[-1] not in _JOINERS or (name[-1] in "_/" and any(each.isalnum() for each in name))


def display_name(name: str) -> str:
    """A name inside a sentence: an identifier as it is, anything else quoted."""
    return name if is_identifier(name) else quote_text(name)


def quote_text(text: str, *, most: int = QUOTED_MAX) -> str:
    """A foreign text in quotation marks on one line; what could end, hide or reverse it is escaped."""
    whole = "".join(map(_escape, text[: most + 1]))
    if len(text) > most:
        whole = "".join(map(_escape, text[: most - 1])) + _CUT
    return f"“{whole}”"


def plain(text: str) -> str:
    """A foreign text on a line of its own; invisible and direction-changing characters are escaped."""
    return "".join(character if is_shown(character) else _code(character) for character in text)


def is_shown(character: str) -> bool:
    """Whether a character may be printed unchanged: visible or a space, and not changing the direction."""
    return character == " " or (character.isprintable() and unicodedata.category(character) != "Cf")


def _escape(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if character in _QUOTES or not is_shown(character):
        return _code(character)
    return character


def _code(character: str) -> str:
    return f"\\u{ord(character):04x}"
