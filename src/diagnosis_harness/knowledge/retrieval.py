"""The port of the runbooks, and the result of one search. Plain numbers, no arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.knowledge.passage import Passage


@dataclass(frozen=True, slots=True)
class Holdings:
    """What is indexed."""

    documents: int
    passages: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that may answer.

    Attributes:
        score: what it was ranked by; comparable within one search only.
    """

    passage: Passage
    score: float


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What one search found.

    Attributes:
        hits: passages over the floor, best first.
        nearest: if nothing reaches the floor, the closest headings, which are not an answer.
        searched: how much was searched.
        is_stale: the folder could not be read again; this is what it held before.
    """

    hits: tuple[Hit, ...]
    nearest: tuple[Passage, ...]
    searched: Holdings
    is_stale: bool = False


class KnowledgeBase(Protocol):
    """Searches the runbooks. Synchronous and safe from any thread: the caller brings it to a worker."""

    def search(self, ctx: RunContext, question: str) -> Retrieval:
        """The passages that may answer a question.

        Raises:
            KnowledgeUnavailable: it cannot be searched.
        """
        ...

    def holdings(self, ctx: RunContext) -> Holdings:
        """What is indexed now."""
        ...
