"""What the table of problems holds of each kind."""

from __future__ import annotations

from dataclasses import dataclass

from diagnosis_harness.kernel.language import Language


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """What the table holds of a kind.

    Attributes:
        retry_after_s: when trying again may help; None where it does not.
        remedy_en, remedy_zh: what to do about it, where neither the title nor a field at fault says it.
    """

    status: int
    en: str
    zh: str
    retry_after_s: int | None = None
    remedy_en: str = ""
    remedy_zh: str = ""

    def title(self, language: Language) -> str:
        """The sentence for people."""
        return self.zh if language is Language.ZH else self.en

    def remedy(self, language: Language) -> str:
        """What to do about it; may be empty."""
        return self.remedy_zh if language is Language.ZH else self.remedy_en
