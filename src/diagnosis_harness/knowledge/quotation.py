"""Quotations, and whether they stand where they say: code looks, whoever chose them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diagnosis_harness.kernel.errors import AnswerRefused, FailureKind
from diagnosis_harness.knowledge.passage import Passage
from diagnosis_harness.knowledge.units import Unit, units_of

QUOTATIONS_MAX = 24
QUOTED_MAX = 6_000
"""Characters of an answer."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words of a passage.

    Attributes:
        text: a whole unit of the passage: a sentence, an item, a block of code, a table.
        passage: its place among the passages that the writer was given, counted from 1.
    """

    text: str
    passage: int


def checked(
    quotations: Sequence[Quotation], passages: Sequence[Passage]
) -> tuple[tuple[Quotation, Unit], ...]:
    """The quotations with the units that they are, in the order of the passages.

    Raises:
        AnswerRefused: there is none, they are too many, or one is not verbatim a whole unit of its passage or
            lacks the line that announces it.
    """
    if not quotations:
        raise _refused("it quotes nothing")
    if len(quotations) > QUOTATIONS_MAX or sum(len(quoted.text) for quoted in quotations) > QUOTED_MAX:
        raise _refused("it is too long")
    units: dict[int, tuple[Unit, ...]] = {}
    places: set[tuple[int, int]] = set()
    for quoted in quotations:
        if not 1 <= quoted.passage <= len(passages):
            raise _refused("it cites a passage that there is not")
        held = units.setdefault(quoted.passage, units_of(passages[quoted.passage - 1]))
        place = next((at for at, unit in enumerate(held) if unit.text == quoted.text), None)
        if place is None:
            raise _refused("it quotes what does not stand in the passage")
        places.add((quoted.passage, place))
    for number, place in places:
        lead = units[number][place].lead
        if lead is not None and (number, lead) not in places:
            raise _refused("it quotes an item without the line that announces it")
    order = list(dict.fromkeys(quoted.passage for quoted in quotations))
    return tuple(
        (Quotation(units[number][place].text, number), units[number][place])
        for number, place in sorted(places, key=lambda one: (order.index(one[0]), one[1]))
    )


def _refused(problem: str) -> AnswerRefused:
    return AnswerRefused(f"the answer was refused: {problem}", kind=FailureKind.INVALID_OUTPUT)
