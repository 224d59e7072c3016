"""Measures how well runbooks are found, and how often unanswerable questions are answered.

Without an argument it uses the questions that search was tuned on; with `held_out` those for the published
score, which nothing may be tuned on. `--words` leaves the vectors out.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from diagnosis_harness.adapters.knowledge.sentence_encoder import SentenceEncoder
from diagnosis_harness.knowledge.document import read_runbook
from diagnosis_harness.knowledge.embedder import Embedder
from diagnosis_harness.knowledge.index import KnowledgeIndex, terms_of_passage, text_to_index

ROOT = Path(__file__).parents[1] / "tests" / "knowledge"
SIZE = 1_200
UNANSWERABLE = "-"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the runbook that answers it (`-` for none)."""

    language: str
    answer: str
    text: str


@dataclass(frozen=True, slots=True)
class Score:
    """Shares of the questions in one language.

    Attributes:
        first, third: of the answerable: the right runbook is the first, or among the first three.
        kept: of the answerable: something over the floor was found.
        false: of the unanswerable: something over the floor was found.
    """

    first: float
    third: float
    kept: float
    false: float


def questions(name: str) -> tuple[Question, ...]:
    """The questions of `developed` or `held_out`."""
    rows = (ROOT / f"{name}.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return tuple(Question(*row.split("\t")) for row in rows)


def index_of(folders: Sequence[str], embedder: Embedder | None) -> KnowledgeIndex:
    """The runbooks of the given languages."""
    passages = [
        passage
        for folder in folders
        for file in sorted((ROOT / "runbooks" / folder).iterdir())
        for passage in read_runbook(f"{folder}/{file.name}", file.read_bytes(), size=SIZE).passages
    ]
    return KnowledgeIndex(
        passages,
        terms=[terms_of_passage(passage) for passage in passages],
        vectors=None if embedder is None else embedder.embed([text_to_index(one) for one in passages]),
        embedder=embedder,
    )


def score(index: KnowledgeIndex, asked: Sequence[Question]) -> Score:
    """The score of the questions of one language."""
    places, kept, false = [], [], []
    for one in asked:
        found = bool(index.search(one.text).hits)
        if one.answer == UNANSWERABLE:
            false.append(found)
            continue
        kept.append(found)
        files = dict.fromkeys(PurePosixPath(passage.file).stem for passage in index.rank_all(one.text))
        places.append(list(files).index(one.answer))
    return Score(
        first=_share([place < 1 for place in places]),
        third=_share([place < 3 for place in places]),
        kept=_share(kept),
        false=_share(false),
    )


def _share(outcomes: Sequence[bool]) -> float:
    return sum(outcomes) / len(outcomes)


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    name = "held_out" if "held_out" in arguments else "developed"
    ways: list[tuple[str, Embedder | None]] = [("BM25", None)]
    if "--words" not in arguments:
        ways.append(("BM25 + vectors", SentenceEncoder()))
    print("| questions | runbooks | search | Recall@1 | Recall@3 | answered | false answers |")
    print("|---|---|---|---|---|---|---|")
    for way, embedder in ways:
        for languages in (("en",), ("zh",), ("en", "zh")):
            index = index_of(languages, embedder)
            for language in languages:
                got = score(index, [one for one in questions(name) if one.language == language])
                print(
                    f"| {language} | {' + '.join(languages)} | {way} | {got.first:.2f} | {got.third:.2f} "
                    f"| {got.kept:.2f} | {got.false:.2f} |"
                )


if __name__ == "__main__":
    main(sys.argv[1:])
