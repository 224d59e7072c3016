"""The search terms of a text: stemmed English words, identifiers and their parts, CJK characters."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Protocol

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
_TOKEN = re.compile(rf"(?P<cjk>[{_CJK}])|(?P<word>[^\W_{_CJK}]+)")
_JOINED = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]+(?:[-_./:][A-Za-z0-9]+)+")
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_IDENTIFIER_MAX = 80
_APART = re.compile(
    r"\b(roll|fail|time|start|shut|scale|log|sign)(?:s|ed|ing|led|ling)? (back|over|out|up|down|in)\b",
    re.IGNORECASE,
)
"""Two words that documents also write as one: `roll back` is `rollback` as well."""

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being but by can could
    did do does doing done for from get gets getting give go going had has have having he her here him
    his how i if in into is it its just keep let like ll made make may me might more most much must my
    no not now of off on one only or other our out over please re s same say see shall she should since
    so some still such t tell than that the their them then there these they thing this those though to
    too until up us ve very want was we were what when where which while who whom whose why will with
    would yet you your
    """.split()  # noqa: SIM905 - a list literal would take a page
)
STOP_CHARACTERS = frozenset(
    "的了吗呢吧啊么怎什哪谁请问我你您他她它们这那个些该要想会能可以是在有和与或就都也还很把被让给对从到为因所"
)


class Stemmer(Protocol):
    """Cuts words to their stems."""

    def stemWord(self, word: str) -> str:  # noqa: N802 - the name is snowballstemmer's
        """The stem of a word in lower case."""
        ...


def terms_of(text: str) -> list[str]:
    """The terms of a document, in order, with repetitions.

    `checkout-service` and `HTTPTimeout` give themselves, in lower case, and each of their parts.
    """
    plain = unicodedata.normalize("NFKC", text)
    found = [
        identifier.lower()
        for match in _JOINED.finditer(plain)
        if len(identifier := match[0]) <= _IDENTIFIER_MAX
    ]
    found += [stem(f"{match[1]}{match[2]}".lower()) for match in _APART.finditer(plain)]
    for match in _TOKEN.finditer(plain):
        token = match[0]
        if match.lastgroup == "cjk":
            found.append(token)
            continue
        if token.isascii() and not token.islower() and len(parts := _HUMPS.findall(token)) > 1:
            found += [stem(part.lower()) for part in parts if len(part) > 1]
        found.append(stem(token.lower()))
    return found


def terms_of_question(question: str) -> tuple[str, ...]:
    """The terms of a question that carry meaning, each once, in order."""
    return tuple(dict.fromkeys(term for term in terms_of(question) if is_content_term(term)))


def is_content_term(term: str) -> bool:
    """Whether a term is not a mere function word."""
    return term not in STOP_WORDS and term not in STOP_CHARACTERS


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The stem of an English word in lower case; other words as they are."""
    if len(word) < 3 or not word.isascii() or not word.isalpha() or word in STOP_WORDS:
        return word
    return _stemmer().stemWord(word)


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer:
    from snowballstemmer.english_stemmer import (  # type: ignore[import-untyped]  # it has none
        EnglishStemmer,
    )

    stemmer: Stemmer = EnglishStemmer()
    return stemmer
