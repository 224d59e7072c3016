"""The answers to "why" on a terminal: the question, what is said, and the places that it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from diagnosis_harness.application.why_answer import WhyAnswer
from diagnosis_harness.application.why_words import question_words, sentences
from diagnosis_harness.cli.render.wrap import hang
from diagnosis_harness.cli.saved_words import saved_words
from diagnosis_harness.release.language import Language
from diagnosis_harness.release.moment import shown


def why_lines(answers: Sequence[WhyAnswer], language: Language, *, width: int) -> tuple[Text, ...]:
    """All answers, each with its facts in two columns; what does not arise is dimmed and says so."""
    places = max((cell_len(fact.place) for answer in answers for fact in answer.facts), default=0)
    return tuple(_lines(answers, language, places=places, width=max(width, 40)))


def _lines(answers: Sequence[WhyAnswer], language: Language, *, places: int, width: int) -> Iterator[Text]:
    words = saved_words(language)
    for number, answer in enumerate(answers, start=1):
        if number > 1:
            yield Text()
        asked = Text(question_words(answer.question, language), "bold" if answer.arises else "dim")
        if not answer.arises:
            asked.append(words.not_arising, "dim")
        yield from hang(Text(f"{number}. "), asked, width)
        style = "" if answer.arises else "dim"
        for sentence in sentences(answer, language):
            yield from hang(Text("   "), Text(shown(sentence), style), width)
        for fact in answer.facts:
            gap = " " * (places - cell_len(fact.place) + 2)
            yield from hang(Text(f"     {fact.place}{gap}", "dim"), Text(shown(fact.value), "dim"), width)
