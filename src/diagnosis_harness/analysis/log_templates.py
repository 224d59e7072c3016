"""Finds templates of log lines: the masked texts that were written by one statement of the code.

Masking has already replaced everything with digits. What remains are words that vary, such as names of users
and tables. A position in a text is variable if many texts differ only there. There is no other rule, so two
sentences that differ in one of a few words ("payment accepted", "payment rejected") remain two templates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from diagnosis_harness.analysis.log_text import ANY

VARIANTS: Final = 8
"""Number of texts differing in a single word from which that word is a value: no statement has as many
fixed
outcomes."""
WORDS_MAX: Final = 40
"""Number of words compared; texts that differ only after them count as equal."""
TEXTS_MAX: Final = 20_000
"""Maximum number of different masked texts that are compared with one another; the rarest beyond it stay
unchanged."""
_ROUNDS: Final = 3
"""Number of passes: a second variable word is found only after the first was replaced."""


def merge_texts(lines_by_text: Mapping[str, int]) -> dict[str, str]:
    """The template of each masked text, possibly the text itself; independent of the order of the texts."""
    common = sorted(lines_by_text, key=lambda text: (-lines_by_text[text], text))[:TEXTS_MAX]
    words = {text: tuple(text.split()[:WORDS_MAX]) for text in common}
    for _ in range(_ROUNDS):
        replaced = _replace_varying(sorted(set(words.values())))
        if not replaced:
            break
        words = {text: replaced.get(template, template) for text, template in words.items()}
    return {text: " ".join(words.get(text, text.split()[:WORDS_MAX])) for text in lines_by_text}


def _replace_varying(texts: Sequence[tuple[str, ...]]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Replace the variable word of each text; if there are several, the one with most variants."""
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
    """The text with each of its words replaced in turn; empty for a text of a single word."""
    if len(words) < 2:
        return []
    return [
        (place, (*words[:place], ANY, *words[place + 1 :])) for place, word in enumerate(words) if word != ANY
    ]
