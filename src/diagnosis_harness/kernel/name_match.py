"""Finds known names in a text, and defines which names count as the same; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

LEAST_LETTERS = 3
"""Shorter names are not searched for inside a text: they match too many ordinary words."""
_SEPARATORS = re.compile(r"[-_./\s]+")


def fold_name(name: str) -> str:
    """A name in lower case with its words joined by one space: equal for names that count as the same."""
    return _SEPARATORS.sub(" ", name.casefold())


def places_of(text: str, known: Iterable[str]) -> tuple[tuple[int, int, str], ...]:
    """Start, end and name of the known names in a text, as whole words; of nested names, the longest.

    Offsets are in the folded text (`fold_name`). Case and the joining of words do not count: `order service`
    names `order-service`. Names of fewer than three letters are not searched for; two are enough in a script
    without spaces.
    """
    folded_text = fold_name(text)
    found: list[tuple[int, int, str]] = []
    for name in sorted(known):
        folded = fold_name(name)
        least = LEAST_LETTERS if folded.isascii() else 2
        if len(folded.strip()) >= least and folded in folded_text:
            # A name may touch Chinese characters, which are written without spaces, and no other letter.
            pattern = rf"(?<![a-z0-9]){re.escape(folded)}(?![a-z0-9])"
            found.extend((each.start(), each.end(), name) for each in re.finditer(pattern, folded_text))
    chosen: list[tuple[int, int, str]] = []
    for start, end, name in sorted(found, key=lambda each: (each[0] - each[1], each[0], each[2])):
        if all(end <= taken_start or start >= taken_end for taken_start, taken_end, _ in chosen):
            chosen.append((start, end, name))
    return tuple(sorted(chosen))


def names_in(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known names in a text, as whole words (`places_of`), in the order of their first mention."""
    return tuple(dict.fromkeys(name for _, _, name in places_of(text, known)))
