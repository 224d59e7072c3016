"""Search over passages: BM25 over passages and over their files, optionally with vectors, fused by rank."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from diagnosis_harness.knowledge.embedder import Embedder
from diagnosis_harness.knowledge.passage import Passage
from diagnosis_harness.knowledge.remedy import asks_what_to_do, says_what_to_do, without_asking
from diagnosis_harness.knowledge.retrieval import Hit, Holdings, Retrieval
from diagnosis_harness.knowledge.terms import terms_of, terms_of_question

Scores = NDArray[np.float32]

NEAREST_MAX = 3


class Bm25(Protocol):
    """A BM25 index of texts; the library has no types of its own."""

    vocab_dict: dict[str, int]

    def index(self, corpus: list[list[str]], *, show_progress: bool) -> None:
        """Index the texts, once."""
        ...

    def get_scores(self, query_tokens_single: list[str]) -> Scores:
        """The score of every text; the terms are known ones, and there is at least one."""
        ...


@dataclass(frozen=True, slots=True)
class Tuning:
    """Parameters that were measured on the development half of the evaluation set (docs/benchmarks.md).

    Attributes:
        file_weight: how much the BM25 of the whole file counts beside that of the passage.
        vector_weight: how much the rank by vectors counts beside the rank by BM25.
        rank_offset: of reciprocal rank fusion.
        covered_floor: by words alone a passage may answer where its file holds this share of what is asked,
            rare terms counting more.
        cosine_weight, joint_floor: with vectors, where that share and so many times the cosine reach this.
        hits_max, same_file_max: the most passages that a search gives, and of those from the best file.
    """

    file_weight: float = 0.5
    vector_weight: float = 1.0
    rank_offset: float = 5.0
    covered_floor: float = 0.38
    cosine_weight: float = 2.0
    joint_floor: float = 0.82
    hits_max: int = 5
    same_file_max: int = 4


class KnowledgeIndex:
    """Passages, ready to be searched. It does not change, and is safe from any thread.

    Args:
        terms: of each passage with its headings, in the order of the passages.
        vectors: a row for each passage; None searches by words alone.
        embedder: what made the vectors.
    """

    def __init__(
        self,
        passages: Sequence[Passage],
        *,
        terms: Sequence[Sequence[str]],
        vectors: Scores | None = None,
        embedder: Embedder | None = None,
        tuning: Tuning | None = None,
    ) -> None:
        self.passages = tuple(passages)
        self._tuning = Tuning() if tuning is None else tuning
        self._vectors, self._embedder = vectors, embedder
        places: dict[str, list[int]] = {}
        for place, passage in enumerate(self.passages):
            places.setdefault(passage.file, []).append(place)
        self._file_of = np.array(
            [number for number, own_places in enumerate(places.values()) for _ in own_places], dtype=np.int64
        )
        ordered = [place for own_places in places.values() for place in own_places]
        self.passages = tuple(self.passages[place] for place in ordered)
        by_passage = [list(terms[place]) for place in ordered]
        if vectors is not None:
            self._vectors = vectors[ordered]
        self._files: list[frozenset[str]] = []
        by_file = []
        for own_places in places.values():
            whole = [term for place in own_places for term in terms[place]]
            by_file.append(whole)
            self._files.append(frozenset(whole))
        self._of_passages, self._of_files = _bm25(by_passage), _bm25(by_file)
        self._rarity = _rarity(self._files)

    @property
    def holdings(self) -> Holdings:
        """How much it holds."""
        return Holdings(len(self._files), len(self.passages))

    def search(self, question: str) -> Retrieval:
        """The passages that may answer a question, best first."""
        asked = terms_of_question(question)
        if not self.passages or not (asked or self._embedder):
            return Retrieval((), (), self.holdings)
        words = self._words(asked)
        covered = self._coverage(terms_of_question(without_asking(question)) or asked)
        cosine = self._cosine(question)
        score = self._fuse(words, cosine)
        order = np.lexsort((np.arange(len(score)), -score))
        if cosine is None:
            over = covered >= self._tuning.covered_floor
        else:
            over = covered + self._tuning.cosine_weight * cosine >= self._tuning.joint_floor
        over &= score > 0
        found = self._together([int(at) for at in order if over[at]], to_act=asks_what_to_do(question))
        hits = tuple(Hit(self.passages[at], float(score[at])) for at in found)
        nearest = tuple(self.passages[at] for at in order[:NEAREST_MAX] if score[at] > 0)
        if hits:
            return Retrieval(hits, (), self.holdings)
        return Retrieval((), nearest, self.holdings)

    def _together(self, found: list[int], *, to_act: bool) -> list[int]:
        """The best passage, more of its file (remedies are rarely beside the symptoms), then others.

        Args:
            to_act: what to do is asked, so the sections of that file that say it come first.
        """
        if not found:
            return []
        file = self._file_of[found[0]]
        same = [at for at in found if self._file_of[at] == file]
        if to_act:
            same.sort(key=lambda at: not says_what_to_do(self.passages[at].headings))
        same = same[: self._tuning.same_file_max]
        others = [at for at in found if self._file_of[at] != file]
        return (same + others)[: self._tuning.hits_max]

    def rank_all(self, question: str) -> tuple[Passage, ...]:
        """All passages, best first, without the floor; for measurements."""
        score = self._fuse(self._words(terms_of_question(question)), self._cosine(question))
        return tuple(self.passages[at] for at in np.lexsort((np.arange(len(score)), -score)))

    def _words(self, asked: Sequence[str]) -> Scores:
        of_files = _scores(self._of_files, asked, len(self._files))[self._file_of]
        return _scores(self._of_passages, asked, len(self.passages)) + self._tuning.file_weight * of_files

    def _coverage(self, asked: Sequence[str]) -> Scores:
        """For each passage the share of what is asked that its file holds, rare terms counting more."""
        weights = {term: self._rarity.get(term, self._rarity[""]) for term in asked}
        total = sum(weights.values()) or 1.0
        shares = [
            sum(weights[term] for term in asked if term in file_terms) / total for file_terms in self._files
        ]
        return np.array(shares, dtype=np.float32)[self._file_of]

    def _cosine(self, question: str) -> Scores | None:
        if self._vectors is None or self._embedder is None:
            return None
        cosine: Scores = self._vectors @ self._embedder.embed([question])[0]
        return cosine

    def _fuse(self, words: Scores, cosine: Scores | None) -> Scores:
        """The scores by words alone; with vectors, both ranks, reciprocal and added up."""
        if cosine is None:
            return words
        offset = self._tuning.rank_offset
        by_words = np.where(words > 0, 1.0 / (offset + _ranks(words)), 0.0)
        fused: Scores = by_words + self._tuning.vector_weight / (offset + _ranks(cosine))
        return fused


def text_to_index(passage: Passage) -> str:
    """The text that a passage is indexed by: its headings and its text."""
    return "\n".join((*passage.headings, passage.text))


def terms_of_passage(passage: Passage) -> list[str]:
    """The terms that a passage is found by, with those of its file's name."""
    return terms_of(f"{passage.file.rpartition('.')[0]}\n{text_to_index(passage)}")


def _bm25(texts: Sequence[list[str]]) -> Bm25 | None:
    if not any(texts):
        return None
    from bm25s import BM25  # type: ignore[import-untyped]  # it has none; see Bm25

    logging.getLogger("bm25s").setLevel(logging.WARNING)  # importing it sets DEBUG, past any root's level
    index: Bm25 = BM25(method="lucene", k1=1.2, b=0.75)
    index.index(list(texts), show_progress=False)
    return index


def _scores(index: Bm25 | None, asked: Sequence[str], count: int) -> Scores:
    known = [] if index is None else [term for term in asked if term in index.vocab_dict]
    if index is None or not known:
        return np.zeros(count, dtype=np.float32)
    return np.asarray(index.get_scores(known), dtype=np.float32)


def _rarity(files: Sequence[frozenset[str]]) -> dict[str, float]:
    """Weight of each term by how few files hold it; under the empty term that of a term in none."""
    counts: dict[str, int] = {}
    for file_terms in files:
        for term in file_terms:
            counts[term] = counts.get(term, 0) + 1
    return {"": log(1 + len(files) + 0.5)} | {
        term: log(1 + (len(files) - count + 0.5) / (count + 0.5)) for term, count in counts.items()
    }


def _ranks(scores: Scores) -> Scores:
    """The rank of each score, the highest first, counted from 1."""
    ranks = np.empty(len(scores), dtype=np.float32)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks
