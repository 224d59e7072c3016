"""Finds quickly which of many short texts occur in a line; most lines contain none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from operator import add
from typing import Generic, TypeVar

T = TypeVar("T")

_LONG = 2_000
"""For longer texts, searching for each hint is faster than building the set of all pairs of letters."""


class Hints(Generic[T]):
    """Hints, each mapped to a value."""

    __slots__ = ("_all", "_by_pair", "_signs")

    def __init__(self, hints: Iterable[tuple[str, T]]) -> None:
        self._all = list(hints)
        self._signs = [(hint, meaning) for hint, meaning in self._all if len(hint) == 1]
        self._by_pair: dict[str, list[tuple[str, T]]] = {}
        for hint, meaning in self._all:
            self._by_pair.setdefault(hint[:2], []).append((hint, meaning))

    def find(self, text: str) -> Iterator[T]:
        """The values of the hints that occur in a text."""
        if len(text) >= _LONG:
            candidates: Iterable[tuple[str, T]] = self._all
        else:
            pairs = self._by_pair.keys() & set(map(add, text, text[1:]))
            candidates = chain(self._signs, *(self._by_pair[pair] for pair in pairs))
        return (meaning for hint, meaning in candidates if hint in text)
