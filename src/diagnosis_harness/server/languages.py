"""Chooses a language by the Accept-Language header (RFC 9110). Pure."""

from __future__ import annotations

from diagnosis_harness.kernel.language import Language

_LENGTH_MAX = 500


def preferred_language(header: str) -> Language:
    """The preferred language; English if the client accepts neither of ours, or both equally."""
    weights = dict.fromkeys(Language, 0.0)
    for part in header[:_LENGTH_MAX].split(","):
        name, _, parameters = part.partition(";")
        primary = name.strip().lower().partition("-")[0]
        for language in Language:
            if primary == language.value:
                weights[language] = max(weights[language], _weight(parameters))
    return Language.ZH if weights[Language.ZH] > weights[Language.EN] else Language.EN


def _weight(parameters: str) -> float:
    """The weight in `q=0.8`; 1 if there is none, 0 if it is malformed."""
    name, _, value = parameters.strip().partition("=")
    if not name:
        return 1.0
    try:
        weight = float(value)
    except ValueError:
        return 0.0
    return weight if name.strip().lower() == "q" and 0.0 <= weight <= 1.0 else 0.0
