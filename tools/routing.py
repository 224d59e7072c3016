"""How often the embedded router takes the labelled path: prints the table of docs/benchmarks.md.

Without an argument the questions that the rules were developed on; with `held-out` those that came before the
rules. The latter are for the published score: no rule is changed in view of what they show.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.routing import RoutingTurn
from diagnosis_harness.bench.scoring import wilson
from diagnosis_harness.players.embedded.router import Lexicon, path_of

QUESTIONS = Path(__file__).parents[1] / "tests" / "routing"


@dataclass(frozen=True, slots=True)
class Labelled:
    """One question, what came before it, and the path it should take."""

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


def missed(questions: Iterable[Labelled]) -> tuple[Labelled, ...]:
    """The questions that the embedded router sends another way."""
    lexicon = Lexicon()
    return tuple(one for one in questions if path_of(one.question, one.history, lexicon).intent != one.intent)


def table(questions: Sequence[Labelled]) -> str:
    """Right answers by language and by path, with Wilson's intervals."""
    wrong = set(missed(questions))
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


if __name__ == "__main__":
    file = "held_out.tsv" if sys.argv[1:] == ["held-out"] else "labelled.tsv"
    print(table(read(QUESTIONS / file)))
