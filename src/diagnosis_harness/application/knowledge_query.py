"""KNOWLEDGE_QUERY: one search of the runbooks, and an answer of quotations checked by code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.knowledge_words import (
    Quoted,
    answer_text,
    not_configured_text,
    nothing_found_text,
)
from diagnosis_harness.application.path_answer import PathAnswer
from diagnosis_harness.application.status import ChatApplicationStatus, emit_status
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.core import DiagnosisHarnessCore
from diagnosis_harness.harness.retry import RetryRole
from diagnosis_harness.harness.waiting import run_in_worker
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.errors import AnswerRefused, FailureKind, MalformedAnswer, TechnicalFailure
from diagnosis_harness.kernel.json_value import JsonValue
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.knowledge.passage import Passage
from diagnosis_harness.knowledge.quotation import Quotation, check_quotations
from diagnosis_harness.knowledge.retrieval import KnowledgeBase, Retrieval
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.trace.event import TraceEventStatus, TraceName, TracePhase


class AnswerWriter(Protocol):
    """The port of the writer, which answers from passages. One call is one attempt and costs one llm call."""

    async def write(
        self, ctx: RunContext, question: str, passages: Sequence[Passage]
    ) -> tuple[Sequence[Quotation], TokenUsage]:
        """The quotations that answer the question, and the tokens used.

        A writer only chooses quotations. `passages` holds at least one, best first; a quotation names its
        passage by its number, counted from 1. The result is checked.

        Raises:
            LlmFailure: the language model behind it failed.
            MalformedAnswer: its answer does not have the agreed form.
        """
        ...


@dataclass(frozen=True, slots=True)
class KnowledgeQuery:
    """Answers from runbooks. Holds no state between runs.

    Attributes:
        base: None if no runbooks are configured; the answer then says so.
        workers: threads for the search, which blocks.
    """

    core: DiagnosisHarnessCore
    roles: RoleBoundary
    writer: AnswerWriter
    base: KnowledgeBase | None
    workers: WorkerPool

    async def answer(self, ctx: RunContext, question: str, language: Language) -> PathAnswer:
        """The answer; that the runbooks have none is also an answer.

        Raises:
            RunAborted: the run had ended or ended meanwhile.
            KnowledgeUnavailable: the runbooks cannot be searched.
            AnswerRefused: the writer quoted something that is not in the passages.
            TechnicalFailure: the writer failed.
        """
        if self.base is None:
            emit_status(self.core, ctx, ChatApplicationStatus.KNOWLEDGE_ANSWERING)
            self._emit_answer(ctx, TraceEventStatus.SUCCEEDED, {"found": False, "configured": False})
            return _content(not_configured_text(language), {"configured": False, "retrievals": 0})
        emit_status(self.core, ctx, ChatApplicationStatus.KNOWLEDGE_SEARCHING)
        found = await self._search(ctx, self.base, question)
        emit_status(self.core, ctx, ChatApplicationStatus.KNOWLEDGE_ANSWERING)
        searched: dict[str, JsonValue] = {
            "configured": True,
            "retrievals": 1,
            "documents": found.searched.documents,
            "passages": found.searched.passages,
            "stale": found.is_stale,
        }
        if not found.hits:
            self._emit_answer(ctx, TraceEventStatus.SUCCEEDED, {"found": False, "configured": True})
            nearest: list[JsonValue] = [_place(passage) for passage in found.nearest]
            return _content(nothing_found_text(found, language), {**searched, "nearest": nearest})
        quoted = await self._write(ctx, question, [hit.passage for hit in found.hits])
        return _content(
            answer_text(quoted, language, is_stale=found.is_stale), {**searched, **_cite(quoted)}, found=True
        )

    async def _search(self, ctx: RunContext, base: KnowledgeBase, question: str) -> Retrieval:
        """Run one search on a thread, which is abandoned if the run ends."""

        def search() -> Retrieval:
            self.core.check_active(ctx)
            return base.search(ctx, question)

        try:
            found = await self.core.wait(ctx, lambda _: run_in_worker(self.workers, search))
        except TechnicalFailure as failure:
            self._emit_retrieval(ctx, TraceEventStatus.FAILED, {"failure": failure.kind.value})
            raise
        self._emit_retrieval(
            ctx,
            TraceEventStatus.SUCCEEDED,
            {
                "documents": found.searched.documents,
                "passages": found.searched.passages,
                "hits": [hit.passage.passage_id for hit in found.hits],
                "stale": found.is_stale,
            },
        )
        return found

    async def _write(self, ctx: RunContext, question: str, passages: Sequence[Passage]) -> Quoted:
        """One answer of the writer, each quotation with its unit and passage."""
        try:
            quotations = await self.roles.play(
                ctx, RetryRole.ANSWER_WRITER, lambda ctx: self.writer.write(ctx, question, tuple(passages))
            )
            units = check_quotations(quotations, passages)
        except TechnicalFailure as failure:
            self._emit_answer(ctx, TraceEventStatus.FAILED, {"failure": failure.kind.value})
            raise
        except MalformedAnswer as answer:
            self._emit_answer(ctx, TraceEventStatus.FAILED, {"failure": FailureKind.INVALID_OUTPUT.value})
            raise AnswerRefused(str(answer), kind=FailureKind.INVALID_OUTPUT) from answer
        quoted = tuple((unit, passages[quotation.passage - 1]) for quotation, unit in units)
        self._emit_answer(
            ctx,
            TraceEventStatus.SUCCEEDED,
            {
                "found": True,
                "quotations": len(quoted),
                "passages": list(dict.fromkeys(passage.passage_id for _, passage in quoted)),
            },
        )
        return quoted

    def _emit_retrieval(
        self, ctx: RunContext, status: TraceEventStatus, payload: dict[str, JsonValue]
    ) -> None:
        self.core.emit(ctx, TraceName.KNOWLEDGE_RETRIEVAL, TracePhase.KNOWLEDGE, status, payload)

    def _emit_answer(self, ctx: RunContext, status: TraceEventStatus, payload: dict[str, JsonValue]) -> None:
        self.core.emit(ctx, TraceName.KNOWLEDGE_ANSWER, TracePhase.KNOWLEDGE, status, payload)


def _content(text: str, parts: dict[str, JsonValue], *, found: bool = False) -> PathAnswer:
    return PathAnswer(
        {"kind": IntentType.KNOWLEDGE_QUERY.value, "text": text, "found": found, **parts}, conclusion=None
    )


def _cite(quoted: Quoted) -> dict[str, JsonValue]:
    """The quotations, and the passages that they cite, numbered as in the text."""
    passages = list(dict.fromkeys(passage for _, passage in quoted))
    return {
        "quotations": [
            {
                "kind": unit.kind.value,
                "text": unit.text,
                "citation": passages.index(passage) + 1,
                "first_line": unit.first_line,
                "last_line": unit.last_line,
            }
            for unit, passage in quoted
        ],
        "citations": [_citation(number, passage) for number, passage in enumerate(passages, start=1)],
    }


def _citation(number: int, passage: Passage) -> dict[str, JsonValue]:
    digests = {"passage_digest": passage.digest, "file_digest": passage.file_digest}
    return {"number": number, **_place(passage), **digests}


def _place(passage: Passage) -> dict[str, JsonValue]:
    return {
        "passage_id": passage.passage_id,
        "file": passage.file,
        "headings": list(passage.headings),
        "first_line": passage.first_line,
        "last_line": passage.last_line,
    }
