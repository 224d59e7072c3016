"""Checks token by token that an agent's own sentence states only what its claim cites (DESIGN §6).

Every token must be accounted for: a name that the claim or its supporting item contains, a number with its
unit in the right role (value, baseline, ratio, difference), a time in the right role, or a word of a closed
vocabulary that says no more than the claim does. The whole sentence must also have one of the known forms.
Any token that cannot be accounted for is an objection. A sentence with an objection is not shown; the
rendered sentence is shown instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from diagnosis_harness.diagnosis.claim import Claim, Predicate
from diagnosis_harness.diagnosis.predicate_rule import Normality, Part, PredicateRule, rule_of
from diagnosis_harness.diagnosis.word_class import WordClass
from diagnosis_harness.guards.wording_facts import Facts, facts_of
from diagnosis_harness.guards.wording_forms import has_form
from diagnosis_harness.guards.wording_numbers import (
    are_marks_clear,
    supports_factor,
    supports_instants,
    supports_number,
)
from diagnosis_harness.guards.wording_roles import are_roles_clear
from diagnosis_harness.guards.wording_tokens import Token, TokenKind, class_of, tokenize
from diagnosis_harness.guards.wording_words import HAN, PHRASE_CLASSES, WORDS
from diagnosis_harness.tools.evidence import Direction, EvidenceItem

LENGTH_MAX = 400
"""Maximum length of a wording, which is one sentence, in characters."""


class WordingCode(StrEnum):
    """Why a wording is not shown."""

    UNREADABLE = "UNREADABLE"  # too long, or contains characters that no sentence needs
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
    PREDICATE_NOT_STATED = "PREDICATE_NOT_SAID"
    ROLES_NOT_CLEAR = "ROLES_NOT_CLEAR"  # unclear which of two entities is which
    NO_BASELINE = "NO_BASELINE"  # a word such as usually or now with no number beside it
    NO_KNOWN_FORM = "NO_KNOWN_FORM"  # every word is allowed, but the sentence has none of the known forms
    NO_OWN_WORDS = "NO_OWN_WORDS"  # claims of this predicate always use the rendered sentence


@dataclass(frozen=True, slots=True)
class WordingFinding:
    """One objection and the token it concerns; empty if it concerns the whole sentence."""

    code: WordingCode
    token: str = ""


def wording_objections(
    wording: str, claim: Claim, items: Sequence[EvidenceItem]
) -> tuple[WordingFinding, ...]:
    """Objections to a wording of a supported claim; empty if one of its items grounds all of it.

    `items` are the cited items that support the claim. Without any, or if the predicate allows no wording,
    the rendered sentence is used.
    """
    rule = rule_of(claim.predicate)
    if rule is None or not rule.own_words or not items:
        return (WordingFinding(WordingCode.NO_OWN_WORDS),)
    nearest: tuple[WordingFinding, ...] | None = None
    for item in items:
        found = _objections(wording, facts_of(claim, item), rule)
        if not found:
            return ()
        if nearest is None or len(found) < len(nearest):
            nearest = found
    return nearest or ()


def _objections(wording: str, facts: Facts, rule: PredicateRule) -> tuple[WordingFinding, ...]:
    if not wording.strip() or len(wording) > LENGTH_MAX or not wording.isprintable():
        return (WordingFinding(WordingCode.UNREADABLE),)
    read = tokenize(wording, (*facts.names, *facts.foreign))
    found = [
        WordingFinding(code, read[place].text)
        for place in range(len(read))
        if (code := _objection_to(read, place, facts, rule)) is not None
    ]
    if not supports_instants(read, facts):
        instants = [token.text for token in read if token.kind is TokenKind.INSTANT]
        found.append(WordingFinding(WordingCode.TIME_NOT_CITED, ", ".join(instants)))
    found += _sentence_objections(read, facts, rule)
    return tuple(found)


def _objection_to(read: Sequence[Token], place: int, facts: Facts, rule: PredicateRule) -> WordingCode | None:
    token = read[place]
    match token.kind:
        case TokenKind.NUMBER | TokenKind.FACTOR:
            supports = supports_number if token.kind is TokenKind.NUMBER else supports_factor
            return None if supports(read, place, facts) else WordingCode.NUMBER_NOT_CITED
        case TokenKind.PHRASE:
            return _class_objection(PHRASE_CLASSES[token.text], facts, rule)
        case TokenKind.WORD:
            return _word_objection(token.text, facts, rule)
        case TokenKind.INSTANT:
            return None  # judged for all names together: which is which depends on how many there are
        case TokenKind.OTHER:
            return WordingCode.WORD_NOT_KNOWN if token.text.isalpha() else WordingCode.UNREADABLE
        case TokenKind.QUOTE:
            return WordingCode.QUOTE_NOT_CITED  # a part of a line may omit what qualifies it
        case TokenKind.NAME | TokenKind.IDENTIFIER:
            by_itself = token.kind is TokenKind.IDENTIFIER and _is_identifier_cited(token.text, facts)
            return None if by_itself or token.text in facts.names else WordingCode.NAME_NOT_CITED


def _is_identifier_cited(text: str, facts: Facts) -> bool:
    return text.lower() in facts.parts or WORDS.get(text.lower()) is WordClass.PLAIN


def _word_objection(word: str, facts: Facts, rule: PredicateRule) -> WordingCode | None:
    kind = WORDS.get(word) or HAN.get(word)
    if kind is None:
        return None if word in facts.parts else WordingCode.WORD_NOT_KNOWN
    if kind is not WordClass.PLAIN and word in facts.parts and kind in _NAMED:
        return None
    return _class_objection(kind, facts, rule)


_NAMED = frozenset({WordClass.FAIL, WordClass.CALL, WordClass.LIMIT, WordClass.DEPLOY})
"""Word classes that are harmless inside a signal's own name, as in `error_rate`."""


_OBJECTION: dict[WordClass, WordingCode] = {
    WordClass.NEGATION: WordingCode.NEGATION_NOT_CLAIMED,
    WordClass.WIDE: WordingCode.WIDER_THAN_CLAIMED,
    WordClass.USUAL: WordingCode.NO_BASELINE,
    WordClass.NOW: WordingCode.NO_BASELINE,
}
_MOVES = frozenset({WordClass.UP, WordClass.DOWN, WordClass.FLAT, WordClass.SLOW, WordClass.FAST})


def _class_objection(kind: WordClass, facts: Facts, rule: PredicateRule) -> WordingCode | None:
    if kind is WordClass.PLAIN or kind in rule.words or kind is facts.change:
        return None
    if kind in _MOVES:
        return None if _is_direction_claimed(kind, facts, rule) else WordingCode.DIRECTION_NOT_CLAIMED
    return _OBJECTION.get(kind, WordingCode.NOT_OF_THIS_PREDICATE)


def _is_direction_claimed(kind: WordClass, facts: Facts, rule: PredicateRule) -> bool:
    """Whether a predicate about a move claims this direction.

    A signal that moved no further than normal has no direction. It counts as flat only if it really was:
    one that varied as widely as it normally does is neither unchanged nor steady.
    """
    if Part.DIRECTION not in rule.carries:
        return False
    if rule.normality is Normality.WITHIN and kind is not WordClass.FLAT:
        return False
    direction = {
        WordClass.UP: Direction.UP,
        WordClass.DOWN: Direction.DOWN,
        WordClass.FLAT: Direction.FLAT,
        WordClass.SLOW: Direction.UP,
        WordClass.FAST: Direction.DOWN,
    }[kind]
    timed = kind in (WordClass.SLOW, WordClass.FAST)
    return facts.direction is direction and (facts.is_time or not timed)


# ------------------------------------------------------------------ the sentence as a whole


def _sentence_objections(
    read: Sequence[Token], facts: Facts, rule: PredicateRule
) -> Iterable[WordingFinding]:
    named = [token.text for token in read if token.kind is TokenKind.NAME]
    if not facts.subjects.intersection(named):
        yield WordingFinding(WordingCode.ENTITY_NOT_NAMED, facts.claim.entity)
    second = facts.claim.affected
    is_a_way = second is not None and facts.claim.predicate is not Predicate.CAUSED
    if is_a_way and second not in facts.subjects and second not in named:
        # Without its other end, a path reads as the entity itself. A cause is one, whatever it explains.
        yield WordingFinding(WordingCode.ROLES_NOT_CLEAR, second or "")
    if rule.required_words and rule.required_words.isdisjoint(filter(None, map(class_of, read))):
        yield WordingFinding(WordingCode.PREDICATE_NOT_STATED)
    if not are_roles_clear(read, facts):
        yield WordingFinding(WordingCode.ROLES_NOT_CLEAR)
    if not are_marks_clear(read):
        yield WordingFinding(WordingCode.NO_BASELINE)
    if not has_form(read, facts):
        yield WordingFinding(WordingCode.NO_KNOWN_FORM)
