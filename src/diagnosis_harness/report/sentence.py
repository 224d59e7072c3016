"""Renders a claim as its published sentence. Pure: it says what the claim holds, and nothing else."""

from __future__ import annotations

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report import sentence_en, sentence_zh


def sentence(claim: Claim, language: Language, *, scoped: bool = False) -> str:
    """One sentence, ending in a full stop.

    Values are rounded to three digits that count and shown at the unit that fits; counts and states keep all
    their digits. How many times a value is its baseline is the only number that the claim does not hold
    itself. `scoped` holds of a claim of a cause that may lie in what its entity calls.
    """
    return (
        sentence_zh.chinese_sentence(claim, scoped=scoped)
        if language is Language.ZH
        else sentence_en.english_sentence(claim, scoped=scoped)
    )
