"""Removes secrets and personal data from text before it is stored, shown to a language model, or logged.

One function, one rule table (`kernel.masking_rules`). The replacement names the kind of secret and nothing
else. Any failure raises `MaskingFailed`, so that the raw text is never returned by accident.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from diagnosis_harness.kernel.errors import MaskingFailed
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.masking_checks import PLACEHOLDER
from diagnosis_harness.kernel.masking_hints import Hints
from diagnosis_harness.kernel.masking_names import Key, keys_of
from diagnosis_harness.kernel.masking_rule import MaskingRule

WITHHELD = "[masked:withheld]"
"""Replaces a text that could not be masked."""

_ROUNDS_MAX = 8
_DEPTH_MAX = 64
_PLACEHOLDER_MAX = 40
"""Longer than any placeholder: they name kinds of one or two words."""
_QUOTES = ("q1", "q2", "q3")
_CLOSERS = ")]}"
_HARMLESS = re.compile(r".{0,5}|[A-Za-z_]{0,15}")
"""Texts that no rule matches: shorter than every secret, or a short word without digit and sign.

The shortest token that may be letters alone is a key of 16 (`LTAI` and twelve)."""


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets, and how many of each kind were replaced."""

    text: str
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    kind: str


class RuleTable:
    """Rules in order, with an index of what a text must contain for each to be tried."""

    __slots__ = ("_after_key", "_always", "_gates", "_hinted", "rules")

    def __init__(self, rules: Sequence[MaskingRule]) -> None:
        self.rules = tuple(rules)
        self._hinted = Hints((hint, place) for place, rule in enumerate(rules) for hint in rule.hints)
        self._after_key = [place for place, rule in enumerate(rules) if rule.after]
        self._always = [
            place for place, rule in enumerate(rules) if not (rule.hints or rule.gate or rule.after)
        ]
        self._gates = {
            gate: [place for place, rule in enumerate(rules) if rule.gate is gate and not rule.hints]
            for gate in {rule.gate for rule in rules}
            if gate is not None
        }

    def possible(self, text: str, lowered: str, *, has_key: bool) -> list[MaskingRule]:
        """The rules that can match a text at all, in order."""
        places = set(self._hinted.find(lowered))
        places.update(self._always)
        if has_key:
            places.update(self._after_key)
        for gate, rule_places in self._gates.items():
            if gate.search(text):
                places.update(rule_places)
        return [self.rules[place] for place in sorted(places)]


@cache
def _table() -> RuleTable:
    # Lazy: compiling the patterns takes longer than everything else that the core imports.
    from diagnosis_harness.kernel.masking_rules import MASKING_RULES

    return RuleTable(MASKING_RULES)


def mask(text: str, table: RuleTable | None = None) -> Masked:
    """The text with every secret replaced by `[masked:kind]`; masking it again changes nothing.

    A pass is linear in the length of the text. Passes are repeated until one finds nothing, eight at most.

    Raises:
        MaskingFailed: it is not a text, a rule failed, or every pass finds something.
    """
    if not isinstance(text, str):
        raise MaskingFailed(f"{type(text).__name__} is not a text")
    if _HARMLESS.fullmatch(text):
        return Masked(text)
    table = _table() if table is None else table
    counts: Counter[str] = Counter()
    for _ in range(_ROUNDS_MAX):
        try:
            spans = _spans(text, table)
        except (ArithmeticError, LookupError, MemoryError, RecursionError, TypeError, ValueError) as error:
            raise MaskingFailed(f"a masking rule failed: {type(error).__name__}") from None
        if not spans:
            return Masked(text, dict(counts))
        counts.update(span.kind for span in spans)
        text = _replace(text, spans)
    raise MaskingFailed("masking does not reach a stable text")


def mask_or_withhold(text: str) -> str:
    """The masked text, or `[masked:withheld]` if it could not be masked; for text that is only shown."""
    try:
        return mask(text).text
    except MaskingFailed:
        return WITHHELD


def mask_value(value: JsonValue, key: str = "") -> JsonValue:
    """A JSON value with every text in it masked; a value under the name of a secret is masked entirely.

    Raises:
        MaskingFailed: a text could not be masked, or values are nested deeper than 64 levels.
    """
    return _mask_value(value, key, 0)


def _mask_value(value: JsonValue, key: str, depth: int) -> JsonValue:
    if depth > _DEPTH_MAX:
        raise MaskingFailed(f"nested deeper than {_DEPTH_MAX} levels")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Mapping):
        return {mask(name).text: _mask_value(member, name, depth + 1) for name, member in value.items()}
    if isinstance(value, int | float):
        return value
    if isinstance(value, str):
        return _mask_text(value, key)
    return [_mask_value(member, key, depth + 1) for member in value]


def _mask_text(text: str, key: str) -> str:
    """Mask a text under a name, read as `name: "text"` if secrets have such names."""
    if key and keys_of(key, _lower(key)):
        counts = mask(f'{key}="{text}"').counts
        return "[masked:secret]" if "secret" in counts else mask(text).text
    return mask(text).text


def _spans(text: str, table: RuleTable) -> list[_Span]:
    """The spans to replace, in order; overlapping ones are merged under the kind of the first."""
    lowered = _lower(text)
    keys = keys_of(text, lowered)
    return _merge(
        span
        for rule in table.possible(text, lowered, has_key=bool(keys))
        for match in _matches(rule, text, keys)
        if (rule.check is None or rule.check(match)) and (span := _span(rule.kind, match))
    )


def _lower(text: str) -> str:
    return text.replace(
        "İ", "I"
    ).lower()  # the only letter that becomes longer in lower case, which would shift all offsets


def _matches(rule: MaskingRule, text: str, keys: Sequence[Key]) -> Iterable[re.Match[str]]:
    if rule.after:
        return _behind(rule, text, keys)
    return rule.pattern.finditer(text)


def _behind(rule: MaskingRule, text: str, keys: Sequence[Key]) -> Iterator[re.Match[str]]:
    """Matches directly after a name; a name inside the previous match is part of that value."""
    end_of_last = 0
    for key in keys:
        if (
            key.group in rule.after
            and key.end >= end_of_last
            and (match := rule.pattern.match(text, key.end))
        ):
            end_of_last = match.end()
            yield match


def _merge(found: Iterable[_Span]) -> list[_Span]:
    merged: list[_Span] = []
    for span in sorted(
        found, key=lambda span: span.start
    ):  # stable sort: the first rule that finds a span names it
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = _Span(last.start, max(last.end, span.end), last.kind)
        else:
            merged.append(span)
    return merged


def _span(kind: str, match: re.Match[str]) -> _Span | None:
    """The span of the secret itself, without its quotes and enclosing brackets."""
    groups = match.re.groupindex
    quoted = next((name for name in _QUOTES if name in groups and match[name] is not None), None)
    start, end = match.span(quoted or "secret")
    if quoted is None:
        while end > start and match.string[end - 1] in _CLOSERS and not _opens(match.string, start, end):
            end -= 1
    start = _behind_placeholder(match.string, start, end)
    if start == end or PLACEHOLDER.fullmatch(match.string, start, end):
        return None
    return _Span(start, end, kind)


def _behind_placeholder(text: str, start: int, end: int) -> int:
    """The start of a match, moved past a placeholder that it begins in; its end if nothing else is in it.

    The colon of a placeholder looks like that of `user:password`. Masking a part of one would split it
    in two, then join it again, for ever.
    """
    opened = text.rfind("[masked:", max(0, start - _PLACEHOLDER_MAX), start)
    placeholder = PLACEHOLDER.match(text, opened) if opened >= 0 else None
    if placeholder is None or placeholder.end() <= start:
        return start
    behind = min(placeholder.end(), end)
    return behind if any(character.isalnum() for character in text[behind:end]) else end


def _opens(text: str, start: int, end: int) -> bool:
    """Whether the bracket that closes at the end was opened inside, as in a placeholder."""
    return {")": "(", "]": "[", "}": "{"}[text[end - 1]] in text[start:end]


def _replace(text: str, spans: Sequence[_Span]) -> str:
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += (text[at : span.start], f"[masked:{span.kind}]")
        at = span.end
    return "".join((*parts, text[at:]))
