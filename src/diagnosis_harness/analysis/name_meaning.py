"""How a signal is judged by its name: by the table of conventions first, by its words second."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final

from diagnosis_harness.analysis.conventions import Conventions, load_conventions
from diagnosis_harness.analysis.meaning import SignalMeaning, SignalSide
from diagnosis_harness.analysis.signal_words import divide_labels, words_of
from diagnosis_harness.analysis.word_meaning import is_host_name, judge_words

_TELLING_LABELS = frozenset(
    ["code", "status", "status_code", "http_status_code", "response_code", "state", "mode", "result",
     "outcome", "reason", "phase", "condition", "severity", "level", "cpu_mode"]
)  # fmt: skip
"""Labels whose value defines what is counted: `requests{code=503}` are errors."""
_SIGNALS_MAX: Final = 4_096
"""Maximum number of cached meanings; a system of thousands of entities has some hundred signals."""


def meaning_of(
    signal: str, unit: str | None, *, entity: str = "", conventions: Conventions | None = None
) -> SignalMeaning:
    """How a signal is judged, by its name, the labels in the name, and its unit.

    Args:
        entity: its entity; a signal about the host counts as the entity's own if the entity is a host.
        conventions: the table; the shipped one by default.
    """
    about_host = is_host_name(words_of(entity))
    if conventions is None:
        return _default_meaning(signal, unit, about_host)
    return _meaning_in(conventions, signal, unit, about_host=about_host)


@lru_cache(maxsize=_SIGNALS_MAX)
def _default_meaning(signal: str, unit: str | None, about_host: bool) -> SignalMeaning:  # noqa: FBT001  # part of a key
    return _meaning_in(load_conventions(), signal, unit, about_host=about_host)


def _meaning_in(table: Conventions, signal: str, unit: str | None, *, about_host: bool) -> SignalMeaning:
    name, labels = divide_labels(signal)
    words = words_of(name)
    found = table.find(words, labels)
    if found is None:
        telling = [value for key, value in labels.items() if key in _TELLING_LABELS]
        label_words = tuple(word for value in telling for word in words_of(value))
        return judge_words(words + label_words, unit, about_host=about_host)
    if found.side is SignalSide.HOST and about_host:
        return replace(found, side=SignalSide.OWN)
    return found
