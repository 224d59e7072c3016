"""Quotations, and the check that each is verbatim, whichever player chose it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from diagnosis_harness.kernel.errors import AnswerRefused, FailureKind
from diagnosis_harness.knowledge.passage import Passage
from diagnosis_harness.knowledge.units import Unit, units_of

QUOTATIONS_MAX = 24
EXCERPT_MAX = 6_000
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


def check_quotations(
    quotations: Sequence[Quotation], passages: Sequence[Passage]
) -> tuple[tuple[Quotation, Unit], ...]:
    """The quotations with the units that they are, in the order of the passages.

    Raises:
        AnswerRefused: there are none or too many, or one is not verbatim a whole unit of its passage or
            lacks the line that announces it.
    """
    if not quotations:
        raise _refusal("it quotes nothing")
    if len(quotations) > QUOTATIONS_MAX or sum(len(quoted.text) for quoted in quotations) > EXCERPT_MAX:
        raise _refusal("it is too long")
    units: dict[int, tuple[Unit, ...]] = {}
    quoted_texts = {(quoted.passage, quoted.text) for quoted in quotations}
    places: set[tuple[int, int]] = set()
    for number, text in quoted_texts:
        if not 1 <= number <= len(passages):
            raise _refusal("it cites a passage that does not exist")
        passage_units = units.setdefault(number, units_of(passages[number - 1]))
        same = [at for at, unit in enumerate(passage_units) if unit.text == text]
        if not same:
            raise _refusal("it quotes text that is not in the passage")
        announced = [
            at
            for at in same
            if (lead := passage_units[at].lead) is None or (number, passage_units[lead].text) in quoted_texts
        ]
        if not announced:
            raise _refusal("it quotes an item without the line that announces it")
        places.add((number, announced[0]))
    order = list(dict.fromkeys(quoted.passage for quoted in quotations))
    return tuple(
        (Quotation(units[number][place].text, number), units[number][place])
        for number, place in sorted(places, key=lambda one: (order.index(one[0]), one[1]))
    )


def _refusal(problem: str) -> AnswerRefused:
    return AnswerRefused(f"the answer was refused: {problem}", kind=FailureKind.INVALID_OUTPUT)
