"""The embedded IntentRouter: finds phrases of a rule table; the path with the most weight wins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import product

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingDecision, RoutingReason, RoutingTurn
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.players.embedded.router_rules import (
    FOLLOWING_WEIGHT,
    ROUTER_PHRASES,
    ROUTER_REQUESTS,
    ROUTER_RULES,
)

MATCHED_MAX = 12
"""The most phrases that a decision lists."""
LEAST_LENGTH, MOST_LENGTH = 6, 16
"""The length from which a word is matched with a typing error; shorter ones are too similar."""
PRECEDENCE = (IntentType.DIAGNOSIS, IntentType.KNOWLEDGE_QUERY, IntentType.SYSTEM_CHAT)
"""Which path wins a tie."""

# No repeat backtracks into what follows it, so matching takes time linear in the text.
_TOKEN = re.compile(
    r"(?P<clock>\d{1,2}:\d\d(?::\d\d|(?!:\d\d))(?![a-z0-9]))"
    r"|(?P<status>[45](?:\d\d|xx)s?(?![a-z0-9]|\.\d))"
    r"|(?P<measure>\d+(?:\.\d+)?(?:%|(?:ms|s|k|mb|gb|mi|gi)(?![a-z0-9])))"
    r"|(?P<word>[a-z0-9]+(?:'[a-z]+)?)"
    r"|(?P<sign>[^\W_a-z0-9])"
)
_EXCEPTION = re.compile(r"[a-z]{3,}(?:exception|error)")
_PLAIN = {0xFF01 + place: 0x21 + place for place in range(94)} | {ord("’"): "'"}
"""Replace full-width signs, letters and digits by plain ones."""


class EmbeddedRouter:
    """Plays `IntentRouter`; never waits, never fails, spends no tokens."""

    def __init__(self) -> None:
        self._lexicon = Lexicon()

    async def route(
        self, ctx: RunContext, question: str, history: Sequence[RoutingTurn]
    ) -> tuple[RoutingDecision, TokenUsage]:
        """The path with the most weight."""
        del ctx  # the question and the turn before it decide alone
        return path_of(question, history, self._lexicon), TokenUsage(0, 0)


def path_of(question: str, history: Sequence[RoutingTurn], lexicon: Lexicon) -> RoutingDecision:
    """The path of a question. Pure; takes time linear in its length.

    Each reason found counts once, with its weight. If none is found, the question takes the path of the
    previous one; without a previous one it is about the monitored system, unless it has no words.
    """
    words = [lexicon.spell(word) for word in question_words(question)]
    found = lexicon.find(words)
    before = history[-1].intent if history else None
    weights = {reason: lexicon.weight_of(reason, before) for reason in found}
    totals = {
        path: sum(weight for intent, weight in weights.values() if intent is path) for path in PRECEDENCE
    }
    best = max(PRECEDENCE, key=lambda path: totals[path])
    if totals[best] > 0:
        reasons = [reason for reason in found if weights[reason][0] is best]
        matched = [phrase for reason in reasons for phrase in found[reason]]
        return RoutingDecision(
            best,
            max(reasons, key=lambda reason: weights[reason][1]),
            tuple(dict.fromkeys(matched))[:MATCHED_MAX],
            tuple(reasons),
        )
    if before is not None:
        return RoutingDecision(before, RoutingReason.FOLLOWS_BEFORE)
    path = IntentType.DIAGNOSIS if words else IntentType.SYSTEM_CHAT
    return RoutingDecision(path, RoutingReason.NOTHING_RECOGNISED)


def question_words(text: str) -> list[str]:
    """The words of a text: Latin words and numbers, single characters of other scripts, and number classes.

    Width, case, spaces and punctuation make no difference.
    """
    return [_token(match) for match in _TOKEN.finditer(text.translate(_PLAIN).casefold())]


def _token(match: re.Match[str]) -> str:
    match match.lastgroup:
        case "word":
            word = match[0]
            return "<exception>" if _EXCEPTION.fullmatch(word) else word
        case "sign":
            return match[0]
        case kind:
            return f"<{kind}>"


@dataclass(slots=True)
class _Node:
    """A node in the tree of phrases: its next words, and the reason whose phrase ends here."""

    after: dict[str, _Node] = field(default_factory=dict)
    ends: RoutingReason | None = None
    is_end: bool = False


class Lexicon:
    """The phrases of the rules as a tree of words; immutable once built."""

    def __init__(self) -> None:
        self._rules = {rule.reason: rule for rule in ROUTER_RULES}
        self._root = _Node()
        self._words: set[str] = set()
        for reason, phrases in ROUTER_PHRASES:
            self._add(phrases, reason)
        self._add(ROUTER_REQUESTS, None)
        self._near = {
            form: word for word in sorted(self._words) if word.isascii() for form in _without_one(word)
        }

    def weight_of(self, reason: RoutingReason, before: IntentType | None) -> tuple[IntentType | None, int]:
        """The path that a reason supports, and its weight; None if a continuation has no previous path."""
        if reason is RoutingReason.FOLLOWS_BEFORE:
            return before, FOLLOWING_WEIGHT
        return self._rules[reason].intent, self._rules[reason].weight

    def find(self, words: Sequence[str]) -> dict[RoutingReason, list[str]]:
        """The reasons found in a text, each with its phrases."""
        found: dict[RoutingReason, list[str]] = {}
        at = 0
        while at < len(words):
            end, reason = self._longest(words, at)
            if reason is not None:
                found.setdefault(reason, []).append(join_words(words[at:end]))
            at = max(end, at + 1)
        return found

    def spell(self, word: str) -> str:
        """The known word that is one typing error away."""
        if word in self._words:
            return word
        forms = (word, *_without_one(word))
        near = (self._near[form] for form in forms if form in self._near)
        return next((known for known in near if _is_slip(word, known)), word)

    def _longest(self, words: Sequence[str], start: int) -> tuple[int, RoutingReason | None]:
        """The end and reason of the longest phrase from `start`; the tree's depth bounds the steps."""
        node, end, reason = self._root, start, None
        for at in range(start, len(words)):
            following = node.after.get(words[at])
            if following is None:
                break
            node = following
            if node.is_end:
                end, reason = at + 1, node.ends
        return end, reason

    def _add(self, phrases: str, reason: RoutingReason | None) -> None:
        """Add every phrase; an existing phrase keeps its first reason."""
        for phrase in spell_out(phrases):
            node = reduce(lambda node, word: node.after.setdefault(word, _Node()), phrase, self._root)
            self._words.update(phrase)
            if not node.is_end:
                node.ends, node.is_end = reason, True


def spell_out(phrases: str) -> Iterator[tuple[str, ...]]:
    """Every phrase of a rule's text as a list of words, with alternatives expanded."""
    for line in filter(None, map(str.strip, phrases.splitlines())):
        places = [[_words(alternative) for alternative in place.split("|")] for place in line.split()]
        for chosen in product(*places):
            yield tuple(word for words in chosen for word in words)


def _without_one(word: str) -> list[str]:
    """A longer word's forms with one inner letter removed; words that share one differ by a slip or two.

    The first and last letters are kept, so that a plural or another tense is not a slip.
    """
    if not LEAST_LENGTH <= len(word) <= MOST_LENGTH:
        return []
    return [word[:at] + word[at + 1 :] for at in range(1, len(word) - 1)]


def _is_slip(word: str, known: str) -> bool:
    """Whether two words that share a form differ by one letter added, removed, replaced or swapped."""
    if len(word) != len(known):
        return True
    differing = [at for at in range(len(word)) if word[at] != known[at]]
    return len(differing) == 1 or (
        differing[-1] - differing[0] == 1 and word[differing[0]] == known[differing[-1]]
    )


def _words(alternative: str) -> Iterable[str]:
    return (alternative,) if alternative.startswith("<") else tuple(question_words(alternative))


def join_words(words: Sequence[str]) -> str:
    """A phrase for display: Latin words joined by spaces, other scripts without."""
    separator = " " if all(word.isascii() for word in words) else ""
    return separator.join(words)
