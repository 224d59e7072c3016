"""Checks that a sentence about two entities states in a plain order which one is which."""

from __future__ import annotations

from collections.abc import Sequence

from diagnosis_harness.diagnosis.claim import Predicate
from diagnosis_harness.diagnosis.word_class import WordClass
from diagnosis_harness.guards.wording_facts import Facts
from diagnosis_harness.guards.wording_tokens import Token, TokenKind, class_of
from diagnosis_harness.guards.wording_words import INVERTING, words

_IS = frozenset({"is", "was", "是", "为"})
_CAUSE_NOUNS = words("cause culprit reason origin source 原因 根因 根本原因 元凶")
_CAUSE_VERBS = words("caused causes led leads 导致 引起 造成 引发 致使 使得")
_STARTS = words("starts started 始于")
_WAY = frozenset({"to", "到", "至", "对", "calls", "calling", "调用"})


def are_roles_clear(read: Sequence[Token], facts: Facts) -> bool:
    """Whether the sentence leaves no doubt about the role of each entity.

    Plain forms only: `What B shows starts at A`, `A is the cause of what B shows`, `A caused B`, `A calls
    B`, `from A to B`, and the same in Chinese. A sentence in another order may be true, but is not shown.
    """
    if any(token.kind is TokenKind.WORD and token.text in INVERTING for token in read):
        return not _names_second(read, facts) and facts.claim.predicate is not Predicate.CAUSED
    match facts.claim.predicate:
        case Predicate.CAUSED:
            return _is_cause(read, facts) or _is_start(read, facts)
        case Predicate.CALLS:
            return _follows(read, facts.subjects, WordClass.CALL, facts.claim.affected)
        case Predicate.DROPPED:
            return _follows(read, None, WordClass.LACK, facts.claim.affected)
        case _:
            return not _names_second(read, facts) or _is_way(read, facts)


def _names_second(read: Sequence[Token], facts: Facts) -> bool:
    affected = facts.claim.affected
    if affected is None or affected in facts.subjects:
        return False
    return any(_is(token, affected) for token in read)


def _is_cause(read: Sequence[Token], facts: Facts) -> bool:
    """Whether it has one causal word after the claim's entity, and the second entity in its place."""
    kinds = [
        place
        for place, token in enumerate(read)
        if class_of(token) is WordClass.CAUSE and token.text != "root"
    ]
    subjects = [place for place, token in enumerate(read) if _is_one_of(token, facts.subjects)]
    seconds = [place for place, token in enumerate(read) if _names_second([token], facts)]
    if len(kinds) != 1 or not subjects:
        return False
    word, first = kinds[0], subjects[0]
    if read[word].text in _CAUSE_VERBS:
        passive = any(token.text in _IS for token in read[first + 1 : word])
        return bool(seconds) and max(subjects) < word < min(seconds) and not passive
    if read[word].text not in _CAUSE_NOUNS:
        return False
    if not seconds:
        return _has_link(read, first, word)
    if read[word].text.isascii():
        after = [token.text for token in read[word:]]
        return first < word < min(seconds) and _has_link(read, first, word) and not _IS.intersection(after)
    return first < min(seconds) and max(seconds) < word and read[first + 1].text in _IS


def _is_start(read: Sequence[Token], facts: Facts) -> bool:
    """Whether a word of starting follows the second entity and precedes the claim's own, without a cause."""
    if any(class_of(token) is WordClass.CAUSE for token in read):
        return False
    starts = [place for place, token in enumerate(read) if token.text in _STARTS]
    subjects = [place for place, token in enumerate(read) if _is_one_of(token, facts.subjects)]
    seconds = [place for place, token in enumerate(read) if _names_second([token], facts)]
    if len(starts) != 1 or not subjects:
        return False
    return max(seconds, default=-1) < starts[0] < min(subjects)


def _has_link(read: Sequence[Token], one: int, other: int) -> bool:
    """Whether exactly one `is` and no other name is between an entity and the cause."""
    between = read[min(one, other) + 1 : max(one, other)]
    owned = any(token.text in {"of", "for", "的"} for token in between)
    return sum(token.text in _IS for token in between) == 1 and not owned


def _follows(
    read: Sequence[Token], before: frozenset[str] | None, kind: WordClass, after: str | None
) -> bool:
    """Whether subject, word and second entity follow each other directly."""
    for place, token in enumerate(read):
        if class_of(token) is not kind or place + 1 >= len(read) or not _is(read[place + 1], after):
            continue
        if before is None or (place > 0 and read[place - 1].text in before):
            return True
    return False


def _is_way(read: Sequence[Token], facts: Facts) -> bool:
    """Whether the sentence has `A to B` directly, where A is the second entity and B the claim's own."""
    return any(
        _is(read[place], facts.claim.affected)
        and read[place + 1].text in _WAY
        and read[place + 2].text in facts.subjects
        for place in range(len(read) - 2)
    )


def _is_one_of(token: Token, names: frozenset[str]) -> bool:
    return token.kind is TokenKind.NAME and token.text in names


def _is(token: Token, name: str | None) -> bool:
    return token.kind is TokenKind.NAME and token.text == name
