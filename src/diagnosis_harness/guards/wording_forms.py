"""The closed set of sentence forms that an agent's own wording may have, by predicate.

Allowed words can still be combined into something that the claim does not say. So their order counts too: a
sentence is read as a sequence of labels (entity, signal, rose, from the baseline, to the value) and is
shown only if the whole sequence matches one of the forms below. Otherwise the rendered sentence is shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType

from diagnosis_harness.diagnosis.claim import Predicate
from diagnosis_harness.diagnosis.word_class import WordClass
from diagnosis_harness.guards.wording_facts import Facts
from diagnosis_harness.guards.wording_numbers import role_of
from diagnosis_harness.guards.wording_tokens import Token, TokenKind, class_of
from diagnosis_harness.guards.wording_words import words

_LEADING = frozenset("到至在为")
"""Endings of Chinese verbs that introduce a value, as in 升到."""


def has_form(read: Sequence[Token], facts: Facts) -> bool:
    """Whether the whole sentence has one of the forms of its predicate."""
    row = "".join(f"{_label(read, place, facts)} " for place in range(len(read)))
    return any(pattern.fullmatch(row) for pattern in _patterns(facts.claim.predicate))


def _label(read: Sequence[Token], place: int, facts: Facts) -> str:
    token = read[place]
    match token.kind:
        case TokenKind.NAME:
            return _name(token.text, facts)
        case TokenKind.NUMBER:
            return role_of(read, place).value
        case TokenKind.FACTOR | TokenKind.INSTANT:
            return token.kind.value
        case TokenKind.WORD | TokenKind.PHRASE:
            kind = class_of(token)
            if token.text in facts.parts:
                return "PART"
            if kind is None or kind is WordClass.PLAIN or token.text in _LITERAL:
                return token.text
            leads = kind in _MOVES and token.text[-1] in _LEADING
            return f"{kind.value}_TO" if leads else kind.value
        case TokenKind.IDENTIFIER | TokenKind.QUOTE | TokenKind.OTHER:
            return "PART" if token.text.lower() in facts.parts else "OTHER"


def _name(name: str, facts: Facts) -> str:
    if name in facts.subjects:
        return "WHO"
    if name == facts.claim.affected:
        return "SECOND"
    if name == facts.signal:
        return "SIGNAL"
    return "NAME"


_MOVES = frozenset({WordClass.UP, WordClass.DOWN, WordClass.FLAT, WordClass.CHANGE})
_LITERAL = frozenset({"root", "since", "share", "calls", "call", "调用", "自", "起", "according"}) | words(
    "caused causes 导致 引起 造成 引发"
)
"""Words that forms name individually, whatever else they mean."""

_PIECES = {
    "about": r"(?:(?:about|around|nearly|roughly|approximately|约|大约|约为|将近) )?",
    "who": r"(?:(?:the )?(?:service |component |instance |服务 |组件 |实例 )?WHO )",
    "usual": (
        r"(?:USUAL (?:(?:the |a |its |of |at |is |was |with |level |value |的 |为 |是 |值 |水平 )*)"
        r"{about}BASELINE (?:USUAL )?|BASELINE USUAL )"
    ),
    "now": r"(?:(?:NOW (?:at |is |为 )?)?{about}VALUE (?:NOW )?)",
    "to": r"(?:(?:to |at |reached |reaching |达到 |到 |至 |为 |UP_TO |DOWN_TO |FLAT_TO ){now})",
    "from": r"(?:(?:from |从 |由 ){about}BASELINE )",
    "when": (
        r"(?:(?:between |from |从 )?INSTANT (?:to |and |至 |到 |和 )INSTANT |(?:at |on |于 |在 )?INSTANT |"
        r"(?:from |从 )INSTANT on |(?:for |over |within |in |在 )DURATION (?:内 )?)"
    ),
    "much": (
        r"(?:{from}{to}|{to}{from}|{to}|{from}|(?:by |了 )DIFFERENCE {to}?|"
        r"(?:FACTOR ){to}?)"
    ),
    "signal": (
        r"(?:{who}(?:的 )?SIGNAL |(?:the )?SIGNAL (?:of |for |in |at |on )(?:calls from SECOND to )?{who}|"
        r"SECOND 调用 {who}(?:的 )?SIGNAL |(?:the )?SIGNAL (?:of |in )calls from SECOND to {who})"
    ),
    "failing": (
        r"(?:{signal}|(?:calls |call )from SECOND to (?:SIGNAL (?:of |in ))?{who}|"
        r"SECOND 调用 {who}(?:的 )?(?:SIGNAL )?(?:的 )?|{signal}的 )"
    ),
    "way": (
        r"(?:(?:the )?(?:way |calls )from SECOND to (?:SIGNAL (?:of |in ))?{who}|"
        r"SECOND (?:到 |至 ){who}(?:的 )?(?:SIGNAL )?(?:的 )?(?:调用途中 |途中 |调用 途中 )?)"
    ),
    "level": r"(?:{now}{usual}?|{usual}{now})",
    "its": r"(?:(?:its |其 )?(?:SECOND 调用 的 )?SIGNAL (?:of calls from SECOND )?)",
    "move": r"(?:(?:was |is |has |had |have |has been )?(?:UP |DOWN |SLOW |FAST ))",
    "moved": (
        r"(?:{move}{much}?(?:FACTOR )?{usual}?|{from}{to}(?:FACTOR )?|went {from}{to}(?:FACTOR )?|"
        r"{to}{from}?(?:FACTOR )?{usual}?|(?:was |is |stood at |为 ){level}|{level}|"
        r"{from}(?:to |到 |至 |UP_TO |DOWN_TO ){now}(?:FACTOR )?|FACTOR {to}?|"
        r"(?:在 )?DURATION 内 (?:UP |DOWN ))"
    ),
}


@cache
def _patterns(predicate: Predicate) -> tuple[re.Pattern[str], ...]:
    """Compile the patterns on first use: compiling all of them takes a tenth of a second."""
    when = _fill("{when}")
    return tuple(re.compile(rf"{when}?(?:{_fill(form)}){when}?") for form in FORMS.get(predicate, ()))


def _fill(form: str) -> str:
    """A form with its named pieces filled in; pieces may contain other pieces."""
    piece = re.compile(r"\{([a-z]+)\}")
    while piece.search(form):
        form = piece.sub(lambda found: _PIECES[found[1]], form)
    return form


FORMS: Mapping[Predicate, tuple[str, ...]] = MappingProxyType(
    {
        Predicate.CHANGED: (
            r"{signal}{moved}",
            r"{signal}(?:CHANGE |CHANGE_TO )(?:{to}|VALUE )?",
        ),
        Predicate.NORMAL: (
            r"{signal}(?:moved |的 )?(?:波动 )?NO_MOVE {when}?(?:(?:at |为 )?{level})?",
            r"{signal}(?:FLAT |FLAT_TO )(?:FLAT )?(?:(?:at |为 )?{level})?",
        ),
        Predicate.BEGAN: (
            r"(?:{signal}|{who})BEGIN (?:to )?(?:UP |DOWN |TROUBLE )",
            r"自 INSTANT 起 {signal}(?:UP |DOWN )",
        ),
        Predicate.FAILED: (
            r"(?:the )?share of {failing}(?:that )?FAIL (?:UP ){much}?(?:FACTOR )?{usual}?",
            # "Calls fail" would mean all of them: a sentence must state the share, or that it rose.
            r"{failing}(?:的 )?FAIL (?:NOUN )?(?:UP |UP_TO )(?:{much}|VALUE )?(?:FACTOR )?{usual}?",
            r"{failing}(?:的 )?FAIL (?:NOUN )?(?:{from}{to}|{to}{from}?|VALUE )(?:FACTOR )?{usual}?",
            r"{now}of {failing}FAIL {usual}?",
        ),
        Predicate.DROPPED: (
            r"(?:the )?share of {signal}that LACK SECOND UP {much}?(?:FACTOR )?{usual}?",
            r"(?:the )?share of {signal}(?:that )?LACK SECOND UP {much}?(?:FACTOR )?{usual}?",
            r"{signal}结束 时 LACK SECOND 的 NOUN UP {much}?(?:FACTOR )?{usual}?",
        ),
        Predicate.CAUSED: (
            r"(?:what SECOND shows |it )(?:since INSTANT )?BEGIN at {who}(?:PART )?",
            r"(?:INSTANT 起 )?(?:SECOND 的 )?TROUBLE BEGIN {who}(?:PART )?",
            (
                r"{who}(?:PART )?(?:is |was |是 )(?:the |a )?(?:root )?CAUSE "
                r"(?:(?:of |for )what SECOND shows )?"
                r"(?:since INSTANT )?"
            ),
            r"(?:INSTANT 起 )?{who}(?:是 )(?:SECOND TROUBLE 的 )?CAUSE ",
            r"(?:the )?(?:root )?CAUSE (?:is |was |是 ){who}",
            r"{who}(?:caused |causes )what SECOND shows ",
            r"{who}(?:导致 |引起 |造成 |引发 )SECOND TROUBLE ",
        ),
        Predicate.AFFECTED: (
            r"{who}(?:is |was )?AFFECT (?:{when})?(?:NO_CAUSE )?",
            r"{who}(?:is |was )?AFFECT (?:{when})?(?:NO_CAUSE )?{its}{moved}",
        ),
        Predicate.SATURATED: (
            (
                r"{signal}(?:(?:ran |was |is )?(?:at )?(?:its )?|reached its |达到 )LIMIT "
                r"{when}?(?:(?:at |为 )?{level})?"
            ),
        ),
        Predicate.SLOWED: (
            r"{way}(?:SLOW |UP ){much}?(?:FACTOR )?{usual}?",
            r"{signal}(?:SLOW |UP ){much}?(?:FACTOR )?{usual}?",
            r"time in {who}or on the way to it UP {much}?(?:FACTOR )?",
        ),
        Predicate.CALLS: (r"{who}(?:calls |调用 |CALL )SECOND ",),
        Predicate.DEPLOYED: (
            r"{who}(?:NAME )?(?:was |is )?(?:CHANGE |DEPLOY |FLAG |CONFIG )(?:SIGNAL |PART )?(?:NAME )?",
            r"{who}有 一次 (?:CHANGE |DEPLOY |FLAG |CONFIG )(?:SIGNAL |PART )?",
            r"{who}(?:于 )?INSTANT (?:CHANGE |DEPLOY |FLAG |CONFIG )(?:NAME )?",
        ),
    }
)
"""Predicates that allow an own wording."""
