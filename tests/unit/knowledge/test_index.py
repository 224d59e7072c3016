"""Search: what is over the floor, in which order, and what comes nearest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.support.knowledge import index_of

from diagnosis_harness.knowledge.index import KnowledgeIndex, terms_of_passage


@pytest.mark.parametrize(
    ("question", "file"),
    [
        ("how do I undo a bad release of checkout?", "checkout.md"),
        ("which archived logs may I delete?", "disk.md"),
        ("归档日志可以删除吗", "磁盘.md"),
        ("argocd", "checkout.md"),
    ],
)
def test_the_passage_that_answers_comes_first(question: str, file: str) -> None:
    """By stems, identifiers and characters."""
    assert index_of().search(question).hits[0].passage.file == file


def test_what_to_do_comes_with_what_was_seen() -> None:
    """The best file's other sections stand right behind its best passage."""
    hits = index_of().search("the error ratio of checkout is above 2%").hits

    assert [hit.passage.headings[-1] for hit in hits[:2]] == ["Symptoms", "Rollback"]


def test_below_the_floor_nothing_is_found() -> None:
    """What came nearest is distinguished from what was found."""
    found = index_of().search("which checkout counter sells coffee beans on the third floor?")

    assert not found.hits
    assert found.nearest


@pytest.mark.parametrize("question", ["", "   ", "的了吗", "how do I", "\ud800"])
def test_a_question_without_meaning_finds_nothing(question: str) -> None:
    """And comes near to nothing."""
    found = index_of().search(question)

    assert not found.hits
    assert not found.nearest


def test_an_empty_index_finds_nothing() -> None:
    """Before a file was read."""
    found = KnowledgeIndex((), terms=()).search("why?")

    assert (found.hits, found.searched.passages) == ((), 0)


@given(st.text(max_size=80))
def test_any_question_can_be_searched(question: str) -> None:
    """The best first, each passage once."""
    hits = index_of().search(question).hits

    assert len({hit.passage.passage_id for hit in hits}) == len(hits)


class Meanings:
    """An embedder that knows two meanings."""

    name = "meanings"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """By one word for each."""
        rows = [[float("certificate" in one.lower() or "padlock" in one), 0.1] for one in texts]
        return np.array([np.array(row) / np.linalg.norm(row) for row in rows], dtype=np.float32)


def test_vectors_find_what_shares_no_word() -> None:
    """Where the vectors are near, a passage is over the floor."""
    plain, embedder = index_of(), Meanings()
    texts = ["\n".join((*one.headings, one.text)) for one in plain.passages]
    index = KnowledgeIndex(
        plain.passages,
        terms=[terms_of_passage(one) for one in plain.passages],
        vectors=embedder.embed(texts),
        embedder=embedder,
    )

    assert not plain.search("padlock is broken").hits
    assert index.search("padlock is broken").hits[0].passage.file == "tls.md"
