"""Wrap text to a width in terminal cells; a character may take one cell or two."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

_NEVER_FIRST = frozenset("，。、：；！？）」』》％,.;:!?)]%")
_NEVER_LAST = frozenset("（「『《([")


def hang(prefix: Text, body: Text, width: int) -> tuple[Text, ...]:
    """`prefix` and `body`, with further lines indented below the body; no trailing spaces."""
    indent = cell_len(prefix.plain)
    parts = wrap(body, max(width - indent, 8))
    lines = [prefix + parts[0], *(Text(" " * indent) + part for part in parts[1:])]
    for line in lines:
        line.rstrip()
    return tuple(lines)


def wrap(text: Text, width: int) -> tuple[Text, ...]:
    """The text in lines of at most `width` cells, broken at spaces and wide characters, else inside words."""
    offsets = list(_breaks(text.plain, width))
    lines = text.divide(offsets) if offsets else [text.copy()]
    for line in lines:
        line.rstrip()
    return tuple(lines)


def _breaks(text: str, width: int) -> Iterator[int]:
    """The offsets of line breaks."""
    at = used = 0
    for unit in _units(text):
        visible = cell_len(unit.rstrip(" "))
        if used and used + visible > width:
            yield at
            used = 0
        for place, character in enumerate(unit):
            if character != " " and used + cell_len(character) > width:
                yield at + place
                used = 0
            used += cell_len(character)
        at += len(unit)


def _units(text: str) -> Iterator[str]:
    """The pieces between which a line may break, each with its trailing spaces."""
    start = 0
    for place in range(1, len(text)):
        if _may_break(text[place - 1], text[place]):
            yield text[start:place]
            start = place
    yield text[start:]


def _may_break(before: str, after: str) -> bool:
    if after == " ":
        return False
    if before == " ":
        return True
    if after in _NEVER_FIRST or before in _NEVER_LAST:
        return False
    return cell_len(before) == 2 or cell_len(after) == 2
