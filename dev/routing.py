"""Measures how often the embedded router takes the labelled path, and prints the table of docs/benchmarks.md.

Without an argument it uses the questions that the rules were developed on; with `held_out` those written
before the rules, with `after` those written after them. The last two are for the published scores: no rule
may be changed because of them. `--only-developed` leaves out phrases that no development question shows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingReason, RoutingTurn
from diagnosis_harness.bench.interval import wilson
from diagnosis_harness.players.embedded.router import Lexicon, join_words, path_of, question_words, spell_out

QUESTIONS = Path(__file__).parents[1] / "tests" / "routing"


@dataclass(frozen=True, slots=True)
class Labelled:
    """One question, the one before it, and the path it should take."""

    language: str
    intent: IntentType
    history: tuple[RoutingTurn, ...]
    question: str


def read(file: Path) -> tuple[Labelled, ...]:
    """The questions of a file: language, path, path and text of the question before, question."""
    rows = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()[1:]]
    return tuple(
        Labelled(
            language,
            IntentType(intent),
            (RoutingTurn(before, IntentType(before_intent)),) if before else (),
            question,
        )
        for language, intent, before_intent, before, question in rows
    )


class DevelopedLexicon(Lexicon):
    """A lexicon that knows only the phrases in given questions."""

    def __init__(self, questions: Iterable[Labelled]) -> None:
        whole = Lexicon()
        found = (
            whole.find([whole.spell(word) for word in question_words(one.question)]) for one in questions
        )
        self._shown = {phrase for reasons in found for phrases in reasons.values() for phrase in phrases}
        super().__init__()

    def _add(self, phrases: str, reason: RoutingReason | None) -> None:
        kept = [
            " ".join(phrase)
            for phrase in spell_out(phrases)
            if reason is None or join_words(phrase) in self._shown
        ]
        super()._add("\n".join(kept), reason)


def find_misses(questions: Iterable[Labelled], lexicon: Lexicon | None = None) -> tuple[Labelled, ...]:
    """The questions for which the embedded router chooses another path."""
    lexicon = lexicon or Lexicon()
    return tuple(one for one in questions if path_of(one.question, one.history, lexicon).intent != one.intent)


def table(questions: Sequence[Labelled], lexicon: Lexicon) -> str:
    """Right answers by language and by path, with Wilson's intervals."""
    wrong = set(find_misses(questions, lexicon))
    lines = ["| questions | right | share (95%) |", "|---|--:|---|"]
    groups = {
        "all": questions,
        "English": [one for one in questions if one.language == "en"],
        "Chinese": [one for one in questions if one.language == "zh"],
        **{path.value: [one for one in questions if one.intent is path] for path in IntentType},
    }
    for name, group in groups.items():
        right = sum(one not in wrong for one in group)
        of = wilson(right, len(group))
        lines.append(f"| {name} | {right} of {len(group)} | {of.share:.2f} ({of.low:.2f}–{of.high:.2f}) |")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Print the table of the named questions."""
    names = [name for name in arguments if not name.startswith("--")] or ["labelled"]
    developed = "--only-developed" in arguments
    lexicon = DevelopedLexicon(read(QUESTIONS / "labelled.tsv")) if developed else Lexicon()
    for name in names:
        print(table(read(QUESTIONS / f"{name}.tsv"), lexicon))


if __name__ == "__main__":
    main(sys.argv[1:])
