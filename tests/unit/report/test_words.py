"""Both languages of a report say the same things."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from string import Formatter

import pytest

from diagnosis_harness.diagnosis.claim import FaultKind
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason
from diagnosis_harness.harness.termination import RunState
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import FallbackType, ReleaseOutcome
from diagnosis_harness.report.wording import words_of


def leaves(value: object, path: str = "") -> dict[str, str]:
    """All texts of a set of words, by where they stand."""
    if isinstance(value, str):
        return {path: value}
    if isinstance(value, Mapping):
        parts = [(f"{path}[{key}]", held) for key, held in value.items()]
    else:
        assert is_dataclass(value)
        parts = [(f"{path}.{field.name}", getattr(value, field.name)) for field in fields(value)]
    found: dict[str, str] = {}
    for place, held in parts:
        found |= leaves(held, place)
    return found


def names_in(template: str) -> set[str]:
    """The names that a template uses."""
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def test_both_languages_say_the_same_things_of_the_same_values() -> None:
    """Nothing is missing from one language, and no template lacks a value."""
    english, chinese = leaves(words_of(Language.EN)), leaves(words_of(Language.ZH))

    assert english.keys() == chinese.keys()
    assert {place: names_in(text) for place, text in english.items()} == {
        place: names_in(text) for place, text in chinese.items()
    }


@pytest.mark.parametrize("language", Language)
def test_every_closed_set_has_all_its_words(language: Language) -> None:
    """A new value cannot leave a report without words."""
    words = words_of(language)
    pairs: list[tuple[set[StrEnum], type[StrEnum]]] = [
        (set(words.outcome), ReleaseOutcome),
        (set(words.fallback), FallbackType),
        (set(words.stop), DiagnosisStopReason),
        (set(words.ended), RunState),
        (set(words.fault), FaultKind),
    ]
    for worded, closed_set in pairs:
        assert worded == set(closed_set)
