"""Fences untrusted text in a prompt, so that it cannot be taken for instructions.

    <<<data 7c0e…
    what somebody else wrote
    7c0e… data>>>

The mark is a digest of the text, counted on until the text does not contain it, so that its author cannot
close the fence. A fence does not make the text true or harmless; it shows where the text begins and ends, and
makes hidden characters visible.
"""

from __future__ import annotations

import hashlib
import itertools
import re
import unicodedata

from diagnosis_harness.kernel.errors import ContractViolation

FENCED_MAX = 24_000
"""The most characters of one fenced text."""

_LABEL = re.compile(r"[a-z]{1,24}")
_FENCED = re.compile(r"<<<([a-z]{1,24}) ([0-9a-f]{32})\n(.*)\n\2 \1>>>", re.DOTALL)
_KEPT = frozenset("\n\t")


def fence(text: str, *, label: str = "data", limit: int = FENCED_MAX) -> str:
    """The text between two marks of its own, all that is invisible in it shown, `limit` characters at most.

    The same text always gives the same fence. What is left out is counted in a last line.

    Raises:
        ContractViolation: the label is not a short word of lower case letters, or the limit is not positive.
    """
    if _LABEL.fullmatch(label) is None or limit < 1:
        raise ContractViolation("a fence has a short lower case label and a positive limit")
    content = visible(text, limit=limit)
    mark = _mark(content)
    return f"<<<{label} {mark}\n{content}\n{mark} {label}>>>"


def read_fence(text: str) -> str | None:
    """The content of a text that is exactly one fence, else None."""
    found = _FENCED.fullmatch(text)
    if found is None or found[2] in found[3]:
        return None
    return found[3]


def visible(text: str, *, limit: int = FENCED_MAX) -> str:
    r"""The text with control, format and bidi characters, line separators and half surrogates as `\u202e`.

    Line feeds and tabs stay. Cut after `limit` characters at most, never inside such a code or between a
    letter and the marks that belong to it.
    """
    parts: list[str] = []
    size = 0
    for place, character in enumerate(text):
        shown = character if _is_plain(character) else _code(character)
        if size + len(shown) > limit:
            parts = _without_broken_letter(parts, character)
            return "".join(parts) + f"\n… {len(text) - place} characters left out"
        parts.append(shown)
        size += len(shown)
    return "".join(parts)


def _mark(content: str) -> str:
    """The first digest of the content, counted on, that does not stand in it."""
    data = content.encode()
    for turn in itertools.count():
        mark = hashlib.sha256(b"%d:" % turn + data).hexdigest()[:32]
        if mark not in content:
            return mark
    raise AssertionError("a text of finite length holds finitely many marks")


def _is_plain(character: str) -> bool:
    return character.isprintable() or character in _KEPT or unicodedata.category(character) == "Zs"


def _code(character: str) -> str:
    point = ord(character)
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"


def _without_broken_letter(parts: list[str], following: str) -> list[str]:
    """Without the last letter when the mark that follows it did not fit."""
    if not unicodedata.combining(following):
        return parts
    end = len(parts)
    while end and unicodedata.combining(parts[end - 1][0]):
        end -= 1
    return parts[: max(0, end - 1)]
