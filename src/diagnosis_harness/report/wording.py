"""Chooses the words of a language."""

from __future__ import annotations

from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.words import Words
from diagnosis_harness.report.words_en import english
from diagnosis_harness.report.words_zh import chinese


def words_of(language: Language) -> Words:
    """The words of a language."""
    return chinese() if language is Language.ZH else english()
