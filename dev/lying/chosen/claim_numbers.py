"""Checks that the numbers of a published claim are the measured ones, rounded once."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose
from typing import TYPE_CHECKING

from dev.lying.chosen.evidence import Item, Json
from dev.lying.chosen.sentences import Number, in_base, numbers

if TYPE_CHECKING:
    from dev.lying.chosen.worlds import World

Said = Iterator[tuple[str, str]]
ROUNDED = 0.00501
"""Three significant digits are at most half a percent off."""
_ROUNDED_TIMES = 0.0501
_DIMENSIONS = ("s", "ms", "bytes", "percent")
_COUNTS = ("as_far", "normal_windows", "rank", "spans_before", "spans_after")


def number_objections(claim: Json, item: Item, world: World) -> Said:
    """What is untrue about the numbers in the fields and in the sentence."""
    yield from _fields(claim, item)
    sentence = claim["sentence"]
    found = list(numbers(sentence, _names(claim, item, world)))
    for number in found:
        yield from _number(sentence, number, item)
    plain = [number.value for number in found if not number.factor and not number.bare]
    still = len(plain) >= 2 and plain[0] == plain[1]
    if still and item.direction in ("UP", "DOWN") and claim["predicate"] != "NORMAL":
        yield "moved from a number to the same", sentence


def near(said: float, exact: float, share: float = ROUNDED) -> bool:
    """Whether a number is the other one, rounded."""
    return isclose(said, exact, rel_tol=share, abs_tol=1e-12)


def _fields(claim: Json, item: Item) -> Said:
    sentence, unit = claim["sentence"], claim["unit"]
    for name in ("value", "baseline"):
        stated, exact = claim[name], getattr(item, name)
        if stated is None:
            continue
        if stated == 0 and str(stated).startswith("-"):
            yield "negative zero", sentence
        if exact is None or not near(in_base(stated, unit), in_base(exact, item.unit)):
            yield "number not as measured", f"{sentence} {name} {stated} {unit} [{exact} {item.unit}]"


def _number(sentence: str, number: Number, item: Item) -> Said:
    if number.text.startswith("-0") and number.value == 0:
        yield "negative zero", sentence
    held = [each for each in (item.value, item.baseline) if each is not None]
    if number.factor:
        if not item.baseline or not near(number.value, (item.value or 0.0) / item.baseline, _ROUNDED_TIMES):
            yield "factor not as measured", f"{sentence} [{item.line}]"
        return
    exacts = [*held, *(in_base(each, item.unit) for each in held)]
    if number.bare and item.unit in _DIMENSIONS and any(near(number.value, each) for each in held):
        yield "unit left out", f"{sentence} [{item.line}]"
    counted = number.bare and any(item.more.get(name) == number.value for name in _COUNTS)
    if not counted and not any(near(number.value, each) for each in exacts):
        yield "number not as measured", f"{sentence} [{number.text}; {item.line}]"


def _names(claim: Json, item: Item, world: World) -> list[str]:
    """Names whose digits are not numbers."""
    own = (item.entity, item.peer, item.signal, item.owner, claim["entity"], claim["affected"])
    more = (each for each in item.more.values() if isinstance(each, str))
    return [each for each in (*own, *more, *world.services, *world.owner_of) if each]
