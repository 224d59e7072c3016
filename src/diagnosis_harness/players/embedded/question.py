"""Find the symptom that a question names, in English or Chinese. Pure; it does not guess."""

from __future__ import annotations

_SYMPTOMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("latency", ("slow", "latency", "lag", "respon", "慢", "延迟", "卡顿", "耗时")),
    ("error", ("error", "fail", "5xx", "500", "exception", "错误", "失败", "报错", "异常")),
)
"""Words of a question, and the word in a signal's name that each refers to."""


def symptom_in_question(question: str) -> str | None:
    """The word for the signal that a question is about; None if it names no symptom, or several."""
    folded = question.casefold()
    found = [signal for signal, words in _SYMPTOMS if any(word in folded for word in words)]
    return found[0] if len(found) == 1 else None
