"""The embedded AnswerWriter: quotes the best passage, whole if it is short, and parts of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.knowledge.passage import BlockKind, Passage
from diagnosis_harness.knowledge.quotation import EXCERPT_MAX, QUOTATIONS_MAX, Quotation
from diagnosis_harness.knowledge.terms import terms_of, terms_of_question
from diagnosis_harness.knowledge.units import Unit, units_of

WHOLE_MAX = 900
"""The longest passage, in characters, that is quoted whole: part of a procedure can mislead."""
PARTS_OF_MAIN, PARTS_OF_OTHERS = 8, 2
"""Parts that are quoted of a passage: the steps of a procedure from the main one, a hint from another."""
OTHERS_MAX = 2
"""The most passages quoted in part, besides the main ones."""
LEAST_OVERLAP = 0.34
"""The least share of the question's terms that a unit of another passage must contain."""


class EmbeddedWriter:
    """Plays `AnswerWriter`; never waits, never fails, spends no tokens."""

    async def write(
        self, ctx: RunContext, question: str, passages: Sequence[Passage]
    ) -> tuple[Sequence[Quotation], TokenUsage]:
        """The units that overlap the question most, verbatim."""
        del ctx  # the question and the passages decide alone
        return quotations(question, passages), TokenUsage(0, 0)


def quotations(question: str, passages: Sequence[Passage]) -> tuple[Quotation, ...]:
    """The quotations for a question; at least one if any passage has text. Pure."""
    asked = frozenset(terms_of_question(question))
    chosen: list[Quotation] = []
    left = EXCERPT_MAX
    for number, is_main in _order(passages):
        units = units_of(passages[number - 1])
        places = _of_main(units, asked) if is_main else _of_other(units, asked)
        texts = [units[place].text for place in _with_leads(units, places)]
        size = sum(map(len, texts))
        if texts and size <= left and len(chosen) + len(texts) <= QUOTATIONS_MAX:
            chosen += [Quotation(text, number) for text in texts]
            left -= size
    return tuple(chosen)


def _order(passages: Sequence[Passage]) -> Iterator[tuple[int, bool]]:
    """The indices of the passages to quote from, each with whether it is a main one.

    The best passage is a main one and, if it gives no step to take, the next of its file that does.
    """
    main = [1]
    if not _instructs(passages[0]):
        main += [
            number
            for number, passage in enumerate(passages, start=1)
            if passage.file == passages[0].file and _instructs(passage)
        ][:1]
    yield from ((number, True) for number in main)
    others = [number for number in range(1, len(passages) + 1) if number not in main]
    yield from ((number, False) for number in others[:OTHERS_MAX])


def _instructs(passage: Passage) -> bool:
    return any(block.kind in {BlockKind.ITEM, BlockKind.CODE} for block in passage.blocks)


def _of_main(units: Sequence[Unit], asked: frozenset[str]) -> Iterable[int]:
    if sum(len(unit.text) for unit in units) <= WHOLE_MAX and len(units) <= QUOTATIONS_MAX // 2:
        return range(len(units))
    return _best(units, asked, PARTS_OF_MAIN) or range(min(len(units), PARTS_OF_MAIN))


def _of_other(units: Sequence[Unit], asked: frozenset[str]) -> Iterable[int]:
    near = [at for at in _best(units, asked, PARTS_OF_OTHERS) if _overlap(units[at], asked) >= LEAST_OVERLAP]
    return [at for at in near if units[at].kind is not BlockKind.HEADING]


def _best(units: Sequence[Unit], asked: frozenset[str], count: int) -> list[int]:
    """The indices of the units that overlap most; of equals, the earlier one."""
    overlaps = [(-_overlap(unit, asked), at) for at, unit in enumerate(units)]
    return [at for overlap, at in sorted(overlaps)[:count] if overlap < 0]


def _overlap(unit: Unit, asked: frozenset[str]) -> float:
    return len(asked & frozenset(terms_of(unit.text))) / len(asked) if asked else 0.0


def _with_leads(units: Sequence[Unit], places: Iterable[int]) -> list[int]:
    """The indices in order, with the lines that introduce them."""
    chosen = set(places)
    chosen |= {lead for place in chosen if (lead := units[place].lead) is not None}
    return sorted(chosen)
