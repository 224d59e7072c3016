"""The work of the masking patterns is proportional to the text, on every Python, whatever it contains."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from re import _constants as op  # the parsed form of a pattern has no public name
from re import _parser as parser
from re._compiler import (  # type: ignore[import-not-found]  # nor has its compiler a public one
    compile as compile_parsed,
)
from typing import Any

import pytest

from diagnosis_harness.kernel import masking_names
from diagnosis_harness.kernel.masking import mask
from diagnosis_harness.kernel.masking_rule import MaskingRule
from diagnosis_harness.kernel.masking_rules import MASKING_RULES

ALPHABET = [chr(code) for code in range(128)] + list("éßѐАя文密，；：、（İ\u3000\U0001f600")
"""Every ASCII character, and some of each other kind that the patterns name."""

_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT)
_UNSURE = (op.POSSESSIVE_REPEAT, op.ATOMIC_GROUP)


@dataclass(frozen=True)
class Rest:
    """What follows a place of a pattern: the characters it can begin with, and whether it can be empty."""

    first: frozenset[str]
    empty: bool
    open: bool = False
    """Whether a repeat without bound is in it."""

    def then(self, after: Rest) -> Rest:
        """This one with what follows it."""
        first = self.first | after.first if self.empty else self.first
        return Rest(first, self.empty and after.empty, self.open or after.open)


END = Rest(frozenset(), empty=True)


class Reader:
    """Walks a parsed pattern from behind, and notes each repeat that could be left at more than one place."""

    def __init__(self, flags: int) -> None:
        self._flags = flags & ~re.DEBUG
        self.unsure: list[str] = []

    def rest_of(self, tokens: Sequence[Any], after: Rest) -> Rest:
        """What a sequence of tokens and what follows it can begin with."""
        for token in reversed(list(tokens)):
            after = self._token(token, after)
        return after

    def _token(self, token: Any, after: Rest) -> Rest:
        code, argument = token
        if code in _UNSURE:
            self.unsure.append(f"not before Python 3.11.5: {code}")
            return after
        if code in _REPEATS:
            return self._repeat(argument, after)
        if code is op.SUBPATTERN:
            return self.rest_of(argument[-1], after)
        if code is op.BRANCH:
            branches = [self.rest_of(branch, after) for branch in argument[1]]
            return Rest(
                frozenset().union(*(branch.first for branch in branches)),
                any(branch.empty for branch in branches),
                any(branch.open for branch in branches),
            )
        if code is op.AT:
            return Rest(frozenset(), empty=False) if argument is op.AT_END_STRING else after
        if code in (op.ASSERT, op.ASSERT_NOT):
            self.rest_of(argument[1], END)
            return after
        if code is op.GROUPREF:  # of one sign at most, in all our patterns
            return Rest(frozenset(" -"), empty=True).then(after)
        return Rest(self._one(token), empty=False).then(after)

    def _repeat(self, argument: Any, after: Rest) -> Rest:
        least, most, body = argument
        alone = self.rest_of(body, END)
        if most is not op.MAXREPEAT:
            again = alone.first if most > 1 else frozenset()
            inner = self.rest_of(body, Rest(after.first | again, after.empty, after.open))
            first = inner.first | after.first if least == 0 else inner.first
            return Rest(first, least == 0 and after.empty, inner.open)
        if alone.first & after.first and after.open:
            self.unsure.append(f"a repeat that can give back before another one: {argument}")
        within = self.rest_of(body, Rest(after.first | alone.first, empty=True, open=True))
        first = within.first if least else within.first | after.first
        return Rest(first, least == 0 and after.empty, open=True)

    def _one(self, token: Any) -> frozenset[str]:
        """The characters of one token."""
        state = parser.State()
        state.flags = self._flags
        alone = compile_parsed(parser.SubPattern(state, [token]), self._flags)
        return frozenset(character for character in ALPHABET if alone.fullmatch(character))


def unsure(pattern: re.Pattern[str]) -> list[str]:
    """The places of a pattern that can make work grow faster than a text."""
    reader = Reader(pattern.flags)
    reader.rest_of(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE), END)
    return reader.unsure


@pytest.mark.parametrize("rule", MASKING_RULES, ids=lambda rule: f"{rule.kind}-{rule.pattern.pattern[:24]}")
def test_no_rule_tries_again_what_it_read(rule: MaskingRule) -> None:
    """What a repeat gives back, nothing that follows it could read; at most the last one is open to doubt."""
    assert unsure(rule.pattern) == []


@pytest.mark.parametrize(
    "pattern",
    ["(?:a+)+b", "a*[ab]*c", r"(?:\w+\s?)*$", "(?:[ab]*,?)*x+", "a++b", "(?>ab|a)c"],
)
def test_the_analysis_knows_patterns_that_explode(pattern: str) -> None:
    """Each of them takes quadratic time or more, or cannot be relied on before Python 3.11.5."""
    assert unsure(re.compile(pattern))


@pytest.mark.parametrize("pattern", [r'"[^"\\]*(?:\\.[^"\\]*)*"', "a+b", r"(?:[ab]\.)+c", "(?:a*,)*x"])
def test_the_analysis_lets_patterns_pass_that_do_not(pattern: str) -> None:
    """Each of them is left at one place only."""
    assert unsure(re.compile(pattern)) == []


@pytest.mark.parametrize("name", ["_ENGLISH", "_ABROAD_KEY", "_SHORT_KEY"])
def test_the_names_of_secrets_have_no_open_repeat(name: str) -> None:
    """Finding names is one pass."""
    tokens = parser.parse(getattr(masking_names, name).pattern)
    reader = Reader(0)
    assert not reader.rest_of(tokens, END).open
    assert reader.unsure == []


PIECES = [
    "a", "1", "password=", 'password="', 'password=\\"', "password: |\n ", "token: ", "://a:", "a@", "a.b@c.",
    "eyJ", "eyJ.", "-----BEGIN A-----", "-----BEGIN ", "+1 ", "1-", "A/", "cookie: a=b; ", "password=a,b=",
    "密码", "[masked:", "password>", "curl ", "curl -u a:", "htpasswd ", "https://a/hooks/", "hook?",
    "DE89 3704 ", "%40a.", "password for a ", "пароль: ", "\n password:\n value: ", "PASS ", "echo a|",
    "x@tcp(", "SG.", "+1.",
]  # fmt: skip


@pytest.mark.proof
@pytest.mark.parametrize("piece", PIECES)
def test_a_long_text_made_to_hurt_is_masked(piece: str, scale: float) -> None:
    """Quadratic work on a megabyte, or a third of one, would not end within a test's limit."""
    size = round(1_000_000 * scale**0.5)
    text = (piece * (size // len(piece) + 1))[:size]
    assert len(mask(text).text) <= 3 * len(text)
