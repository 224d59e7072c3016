"""The answers to "why" on a terminal: the question, the answer, and the facts that support it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from diagnosis_harness.cli.render.wrap import hang
from diagnosis_harness.cli.words import run_file as words
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.report.timestamps import escape_line


@dataclass(frozen=True, slots=True)
class AnswerText:
    """One answer in words; `rests_on` are paths in the document with their values."""

    asks: str
    says: tuple[str, ...]
    rests_on: tuple[tuple[str, str], ...]
    arises: bool


def read_answer(value: JsonValue) -> AnswerText:
    """The answer that `WhyAnswer.as_json` wrote.

    Raises:
        ValueError: it is malformed.
    """
    match value:
        case {"asks": str(asks), "says": list(says), "rests_on": list(facts), "arises": bool(arises)}:
            rests_on = tuple((str(f["place"]), str(f["value"])) for f in facts if isinstance(f, dict))
            return AnswerText(asks, tuple(map(str, says)), rests_on, arises)
        case _:
            raise ValueError("not an answer to why")


def why_lines(answers: Sequence[AnswerText], language: Language, *, width: int) -> tuple[Text, ...]:
    """All answers, each with its facts in two columns; questions that do not apply are dimmed."""
    places = max(
        (cell_len(escape_line(place)) for answer in answers for place, _ in answer.rests_on), default=0
    )
    return tuple(_lines(answers, language, places=places, width=max(width, 40)))


def _lines(answers: Sequence[AnswerText], language: Language, *, places: int, width: int) -> Iterator[Text]:
    for number, answer in enumerate(answers, start=1):
        if number > 1:
            yield Text()
        asked = Text(escape_line(answer.asks), "bold" if answer.arises else "dim")
        if not answer.arises:
            asked.append(words.NOT_ARISING.in_(language), "dim")
        yield from hang(Text(f"{number}. "), asked, width)
        style = "" if answer.arises else "dim"
        for sentence in answer.says:
            yield from hang(Text("   "), Text(escape_line(sentence), style), width)
        for place, value in answer.rests_on:
            gap = " " * (places - cell_len(escape_line(place)) + 2)
            yield from hang(
                Text(f"     {escape_line(place)}{gap}", "dim"), Text(escape_line(value), "dim"), width
            )
