"""Whether an agent's own sentence says nothing but what its claim cites, token by token (DESIGN §6).

The sentence is read as tokens, and every one must be accounted for: a name that the claim or the item that
bears it holds, a number with its unit in its right role (value, baseline, ratio, difference), a time in its
right role, a verbatim quote, or a word of a closed vocabulary that says no more than the claim does. What
cannot be accounted for is an objection, and a sentence with an objection is not shown: the rendered one
stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.diagnosis.claim import Claim, Predicate
from diagnosis_harness.guards.wording_facts import Facts, facts_of
from diagnosis_harness.guards.wording_numbers import bears_factor, bears_instants, bears_number
from diagnosis_harness.guards.wording_roles import are_roles_clear, class_of
from diagnosis_harness.guards.wording_tokens import Token, TokenKind, tokens
from diagnosis_harness.guards.wording_words import (
    HAN,
    PHRASES,
    SAID_BY,
    WORDS,
    WordClass,
    allowed,
)
from diagnosis_harness.tools.evidence import Direction, EvidenceItem

_QUOTE_LEAST_WORDS = 3
"""A shorter quote could put a right number into a wrong role."""
LENGTH_MAX = 400
"""Characters; a claim is one sentence."""


_VERSION = re.compile(r"[vV]?\d[\w.]*")


class WordingCode(StrEnum):
    """Why a wording is not shown."""

    UNREADABLE = "UNREADABLE"  # too long, or characters that no sentence needs
    QUOTE_NOT_CITED = "QUOTE_NOT_CITED"
    NUMBER_NOT_CITED = "NUMBER_NOT_CITED"
    TIME_NOT_CITED = "TIME_NOT_CITED"
    NAME_NOT_CITED = "NAME_NOT_CITED"
    WORD_NOT_KNOWN = "WORD_NOT_KNOWN"
    DIRECTION_NOT_CLAIMED = "DIRECTION_NOT_CLAIMED"
    NEGATION_NOT_CLAIMED = "NEGATION_NOT_CLAIMED"
    WIDER_THAN_CLAIMED = "WIDER_THAN_CLAIMED"
    NOT_OF_THIS_PREDICATE = "NOT_OF_THIS_PREDICATE"
    ENTITY_NOT_NAMED = "ENTITY_NOT_NAMED"
    PREDICATE_NOT_SAID = "PREDICATE_NOT_SAID"
    ROLES_NOT_CLEAR = "ROLES_NOT_CLEAR"  # which of two entities is which


@dataclass(frozen=True, slots=True)
class WordingFinding:
    """One objection, and the token it concerns; empty where it concerns the sentence."""

    code: WordingCode
    token: str = ""


def grounded(wording: str, claim: Claim, items: Sequence[EvidenceItem]) -> tuple[WordingFinding, ...]:
    """Objections to a wording of a claim that stands; empty when one of its items grounds all of it.

    `items` are the cited items that bear the claim; none for an absence, whose words are then grounded in the
    claim's own scope.
    """
    nearest: tuple[WordingFinding, ...] | None = None
    for item in items or (None,):
        found = _objections(wording, facts_of(claim, item))
        if not found:
            return ()
        if nearest is None or len(found) < len(nearest):
            nearest = found
    return nearest or ()


def _objections(wording: str, facts: Facts) -> tuple[WordingFinding, ...]:
    if not wording.strip() or len(wording) > LENGTH_MAX or not wording.isprintable():
        return (WordingFinding(WordingCode.UNREADABLE),)
    read = tokens(wording, (*facts.names, *facts.foreign))
    found = [
        finding for place in range(len(read)) if (finding := _token_objection(read, place, facts)) is not None
    ]
    if not bears_instants(read, facts):
        instants = [token.text for token in read if token.kind is TokenKind.INSTANT]
        found.append(WordingFinding(WordingCode.TIME_NOT_CITED, ", ".join(instants)))
    found += _sentence_objections(read, facts)
    return tuple(found)


def _token_objection(read: Sequence[Token], place: int, facts: Facts) -> WordingFinding | None:
    bad = _objection_to(read, place, facts)
    return None if bad is None else WordingFinding(bad, read[place].text)


def _objection_to(read: Sequence[Token], place: int, facts: Facts) -> WordingCode | None:
    token = read[place]
    match token.kind:
        case TokenKind.NUMBER | TokenKind.FACTOR:
            bears = bears_number if token.kind is TokenKind.NUMBER else bears_factor
            return None if bears(read, place, facts) else WordingCode.NUMBER_NOT_CITED
        case TokenKind.PHRASE:
            return _class_objection(PHRASES[token.text], facts)
        case TokenKind.WORD:
            return _word_objection(token.text, facts)
        case TokenKind.INSTANT:
            return None  # all of them together: which is which depends on their number
        case TokenKind.OTHER:
            return WordingCode.WORD_NOT_KNOWN if token.text.isalpha() else WordingCode.UNREADABLE
        case TokenKind.QUOTE:
            return None if _is_cited(token.text, facts) else WordingCode.QUOTE_NOT_CITED
        case TokenKind.NAME | TokenKind.IDENTIFIER:
            by_itself = token.kind is TokenKind.IDENTIFIER and _is_identifier_cited(token.text, facts)
            return None if by_itself or token.text in facts.names else WordingCode.NAME_NOT_CITED


def _is_cited(quote: str, facts: Facts) -> bool:
    """A quote is a name, or a verbatim part of the line, whole words, long enough to be no trick."""
    if quote in facts.names:
        return True
    if len(quote.split()) < _QUOTE_LEAST_WORDS:
        return False
    return re.search(rf"(?<!\w){re.escape(quote)}(?!\w)", facts.line) is not None


def _is_identifier_cited(text: str, facts: Facts) -> bool:
    if text.lower() in facts.parts or WORDS.get(text.lower()) is WordClass.PLAIN:
        return True
    # A version may stand in the line alone; any other name there may be another entity's.
    return (
        _VERSION.fullmatch(text) is not None
        and re.search(rf"(?<![\w.\-]){re.escape(text)}(?![\w\-]|\.\w)", facts.line) is not None
    )


def _word_objection(word: str, facts: Facts) -> WordingCode | None:
    kind = WORDS.get(word) or HAN.get(word)
    if kind is WordClass.FAIL and facts.claim.predicate is Predicate.ABSENT:
        return None if _FAILING.intersection(facts.parts) else WordingCode.WIDER_THAN_CLAIMED
    if kind is None:
        return None if word in facts.parts else WordingCode.WORD_NOT_KNOWN
    if kind is not WordClass.PLAIN and word in facts.parts and kind in _NAMED:
        return None
    return _class_objection(kind, facts)


_FAILING = frozenset({"error", "errors", "fail", "failed", "failure", "failures", "failing"})
_NAMED = frozenset({WordClass.FAIL, WordClass.CALL, WordClass.LIMIT, WordClass.DEPLOY})
"""Classes whose words are harmless as a part of a signal's own name, as in `error_rate`."""


def _class_objection(kind: WordClass, facts: Facts) -> WordingCode | None:
    if kind in allowed(facts.claim.predicate):
        return None
    match kind:
        case WordClass.UP | WordClass.DOWN | WordClass.FLAT | WordClass.SLOW | WordClass.FAST:
            return None if _is_direction_claimed(kind, facts) else WordingCode.DIRECTION_NOT_CLAIMED
        case WordClass.NEGATION:
            return WordingCode.NEGATION_NOT_CLAIMED
        case WordClass.WIDE:
            return WordingCode.WIDER_THAN_CLAIMED
        case _:
            return WordingCode.NOT_OF_THIS_PREDICATE


def _is_direction_claimed(kind: WordClass, facts: Facts) -> bool:
    if facts.claim.predicate in (Predicate.NORMAL, Predicate.CALLS, Predicate.CAUSED, Predicate.DEPLOYED):
        return False
    match kind:
        case WordClass.UP:
            return facts.direction is Direction.UP
        case WordClass.DOWN:
            return facts.direction is Direction.DOWN
        case WordClass.FLAT:
            return facts.direction is Direction.FLAT
        case WordClass.SLOW:
            return facts.direction is Direction.UP and facts.is_time
        case _:
            return facts.direction is Direction.DOWN and facts.is_time


# ------------------------------------------------------------------ the sentence as a whole


def _sentence_objections(read: Sequence[Token], facts: Facts) -> Iterable[WordingFinding]:
    claim = facts.claim
    named = [token.text for token in read if token.kind is TokenKind.NAME]
    if not facts.subjects.intersection(named):
        yield WordingFinding(WordingCode.ENTITY_NOT_NAMED, claim.entity)
    if not _is_predicate_said(read, claim):
        yield WordingFinding(WordingCode.PREDICATE_NOT_SAID)
    if not are_roles_clear(read, facts):
        yield WordingFinding(WordingCode.ROLES_NOT_CLEAR)
    if claim.predicate is Predicate.ABSENT:
        yield from _absence_objections(read, facts)


def _is_predicate_said(read: Sequence[Token], claim: Claim) -> bool:
    needed = SAID_BY.get(claim.predicate)
    return needed is None or any(class_of(token) in needed for token in read)


def _absence_objections(read: Sequence[Token], facts: Facts) -> Iterable[WordingFinding]:
    """One denial, since two turn it around; of the very signal, and inside a window that is named."""
    if sum(class_of(token) is WordClass.NEGATION for token in read) != 1:
        yield WordingFinding(WordingCode.NEGATION_NOT_CLAIMED)
    texts = {token.text for token in read}
    signal = facts.claim.signal
    if signal is not None and signal not in texts and not any(class_of(t) is WordClass.FAIL for t in read):
        yield WordingFinding(WordingCode.WIDER_THAN_CLAIMED, signal)
    timed = any(token.kind is TokenKind.INSTANT for token in read) or not _WINDOW_WORDS.isdisjoint(texts)
    if facts.claim.window is not None and not timed:
        yield WordingFinding(WordingCode.WIDER_THAN_CLAIMED, str(facts.claim.window))


_WINDOW_WORDS = frozenset({"window", "period", "scope", "窗口", "时段", "期间", "范围"})
