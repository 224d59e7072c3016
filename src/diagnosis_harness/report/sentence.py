"""Renders a claim as its published sentence. Pure: the sentence says only what the claim holds."""

from __future__ import annotations

from diagnosis_harness.diagnosis.claim import Claim
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report import sentence_en, sentence_zh


def sentence(claim: Claim, language: Language, *, scoped: bool = False) -> str:
    """One sentence, ending in a full stop.

    Values are rounded to three significant digits and shown in a fitting unit; counts and states keep all
    digits. The ratio of a value to its baseline is the only number that is not in the claim itself. `scoped`
    is set for a cause that may lie in what its entity calls.
    """
    return (
        sentence_zh.chinese_sentence(claim, scoped=scoped)
        if language is Language.ZH
        else sentence_en.english_sentence(claim, scoped=scoped)
    )
