"""Templates of log lines: which masked texts were written by one statement of the code.

Masking has replaced what holds digits. What is left to find are words that vary: names of users and tables.
A place in a text varies where many texts differ in it alone. That is the whole rule, so that two sentences
which differ in one of a few words ("payment accepted", "payment rejected") stay two templates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from diagnosis_harness.analysis.log_text import ANY

VARIANTS: Final = 8
"""Texts that differ in one word alone, from which on that word is a value: no statement has as many
outcomes."""
WORDS_MAX: Final = 40
"""Words looked at; behind them two texts count as the same."""
TEXTS_MAX: Final = 20_000
"""Different masked texts that are compared with one another; those beyond it, the rarest, stay as they
are."""
_ROUNDS: Final = 3
"""How often it is done again: a second varying word shows only when the first has been replaced."""


def merge_texts(lines_by_text: Mapping[str, int]) -> dict[str, str]:
    """The template of each masked text, which may be the text itself; the same for any order of the texts."""
    common = sorted(lines_by_text, key=lambda text: (-lines_by_text[text], text))[:TEXTS_MAX]
    words = {text: tuple(text.split()[:WORDS_MAX]) for text in common}
    for _ in range(_ROUNDS):
        replaced = _replace_varying(sorted(set(words.values())))
        if not replaced:
            break
        words = {text: replaced.get(held, held) for text, held in words.items()}
    return {text: " ".join(words.get(text, text.split()[:WORDS_MAX])) for text in lines_by_text}


def _replace_varying(texts: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Texts in which a word varies, with that word replaced; of several places the one with most variants."""
    alike: dict[tuple[int, tuple[str, ...]], int] = defaultdict(int)
    for words in texts:
        for key in _open_places(words):
            alike[key] += 1
    found = {}
    for words in texts:
        keys = [key for key in _open_places(words) if alike[key] >= VARIANTS]
        if keys:
            _, found[words] = max(keys, key=lambda key: (alike[key], -key[0]))
    return found


def _open_places(words: tuple[str, ...]) -> list[tuple[int, tuple[str, ...]]]:
    """The text with each of its words replaced in turn; one word alone is no text to compare."""
    if len(words) < 2:
        return []
    return [
        (place, (*words[:place], ANY, *words[place + 1 :])) for place, word in enumerate(words) if word != ANY
    ]
