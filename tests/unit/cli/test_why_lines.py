"""The answers to "why" on a terminal: numbered, wrapped, and their places in one column."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from rich.cells import cell_len
from tests.support import documents

from diagnosis_harness.audit.why.answer import Fact, Sentence, WhyAnswer, WhyQuestion
from diagnosis_harness.audit.why.answers import why
from diagnosis_harness.audit.why.phrases import Phrase
from diagnosis_harness.cli.render.why import AnswerText, read_answer, why_lines
from diagnosis_harness.cli.words import run_file as words
from diagnosis_harness.kernel.language import Language

ANSWERS = why(documents.fallback())


def answer_texts(answers: Sequence[WhyAnswer], language: Language) -> list[AnswerText]:
    """The answers in words."""
    return [read_answer(answer.as_json(language)) for answer in answers]


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_is_wider_than_the_terminal(language: Language, width: int) -> None:
    """In cells: a Chinese character takes two."""
    lines = why_lines(answer_texts(ANSWERS, language), language, width=width)

    assert max(cell_len(line.plain) for line in lines) <= width
    assert [line.plain[0] for line in lines if re.match(r"\d\. ", line.plain)] == list("1234567")


@pytest.mark.parametrize("language", Language)
def test_questions_that_do_not_apply_are_marked(language: Language) -> None:
    """Beside the question, once for each of them."""
    page = "\n".join(line.plain for line in why_lines(answer_texts(ANSWERS, language), language, width=200))

    quiet = [answer for answer in ANSWERS if not answer.arises]
    assert page.count(words.NOT_ARISING.in_(language)) == len(quiet) > 0


def test_an_answer_is_followed_by_its_facts() -> None:
    """The question, its sentences, then place and value in two columns."""
    answer = WhyAnswer(
        WhyQuestion.NO_EVIDENCE,
        (Sentence.of(Phrase.CALL_EMPTY, call="t1", tool="look\x1b[2J", code="-"),),
        (Fact("records[0]", "t1 look READY NO_EVIDENCE"), Fact("release.outcome", "FALLBACK")),
        arises=True,
    )

    assert [
        line.plain for line in why_lines(answer_texts([answer], Language.EN), Language.EN, width=140)
    ] == [
        "1. Why did a tool return no evidence?",
        (
            "   t1 (look\\u001b[2J) found nothing in its scope and time window; this says nothing about"
            " anything outside that scope."
        ),
        "     records[0]       t1 look READY NO_EVIDENCE",
        "     release.outcome  FALLBACK",
    ]
