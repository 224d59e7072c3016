"""KNOWLEDGE_QUERY: one search, one answer; finding nothing is an answer, a failure is not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.knowledge import MemoryKnowledge
from tests.support.scripted_responder import ScriptedWriter

from diagnosis_harness.application.knowledge_query import KnowledgeQuery
from diagnosis_harness.harness.cancellation import CancellationReason
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.errors import KnowledgeUnavailable, RunAborted
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.knowledge.retrieval import Retrieval
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.players.embedded.answer_writer import EmbeddedWriter
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.trace.event import TraceEventStatus, TraceName

if TYPE_CHECKING:
    from diagnosis_harness.harness.context import RunContext

ASKED = "how do I undo a bad release of checkout?"
OTHER = "which checkout counter sells coffee beans on the third floor?"


@dataclass
class KnowledgePath:
    """A rig with runbooks and a writer."""

    rig: Rig = field(default_factory=Rig)
    base: MemoryKnowledge | None = field(default_factory=MemoryKnowledge)
    workers: WorkerPool = field(default_factory=lambda: WorkerPool(threads_max=1))

    def query(self, writer: ScriptedWriter | EmbeddedWriter | None = None) -> KnowledgeQuery:
        """The path."""
        roles = RoleBoundary(self.rig.core)
        return KnowledgeQuery(self.rig.core, roles, writer or EmbeddedWriter(), self.base, self.workers)

    def ask(self, question: str = ASKED, language: Language = Language.EN) -> dict[str, Any]:
        """The body of the answer."""
        answer = asyncio.run(self.query().answer(self.rig.run(), question, language))
        assert isinstance(answer.body, dict)
        assert answer.conclusion is None
        return answer.body

    def events_named(self, name: TraceName) -> list[tuple[TraceEventStatus, dict[str, Any]]]:
        """The events of a name."""
        return [(one.status, dict(one.payload)) for one in self.rig.sink.events() if one.name is name]

    def stages(self) -> list[object]:
        """The stages that were reported."""
        return [payload["stage"] for _, payload in self.events_named(TraceName.STATUS)]


@pytest.fixture
def path() -> Iterator[KnowledgePath]:
    """Closed at the end."""
    made = KnowledgePath()
    yield made
    made.workers.close()


def test_one_search_and_one_answer(path: KnowledgePath) -> None:
    """Not more of either, and both in the trace."""
    writer = ScriptedWriter()
    asyncio.run(path.query(writer).answer(path.rig.run(), ASKED, Language.EN))

    assert path.base is not None
    assert (path.base.searches, writer.asked) == (1, 1)
    assert [status for status, _ in path.events_named(TraceName.KNOWLEDGE_RETRIEVAL)] == [
        TraceEventStatus.SUCCEEDED
    ]
    assert [status for status, _ in path.events_named(TraceName.KNOWLEDGE_ANSWER)] == [
        TraceEventStatus.SUCCEEDED
    ]


def test_the_stages_are_searching_then_answering(path: KnowledgePath) -> None:
    """As a person sees them."""
    path.ask()

    assert path.stages() == ["KNOWLEDGE_SEARCHING", "KNOWLEDGE_ANSWERING"]


def test_every_quotation_has_its_place(path: KnowledgePath) -> None:
    """File, headings, lines and digests; the text carries the same numbers."""
    body = path.ask()

    first = body["citations"][0]
    assert (first["file"], first["headings"]) == ("checkout.md", ["Checkout", "Rollback"])
    assert (first["first_line"], first["last_line"]) == (4, 7)
    assert first["passage_digest"].startswith("sha256:")
    assert first["file_digest"].startswith("sha256:")
    assert body["quotations"][1]["text"] == "1. Run `argocd app rollback checkout`."
    assert "1. Run `argocd app rollback checkout`. [1]" in body["text"]
    assert "[1] checkout.md, Checkout > Rollback, lines 4 to 7" in body["text"]


def test_the_answer_follows_the_language_of_the_question(path: KnowledgePath) -> None:
    """What is quoted stays as it is written."""
    body = path.ask("归档日志可以删除吗", Language.ZH)

    assert "删除超过七天的归档日志。 [1]" in body["text"]
    assert "第 3 行" in body["text"]


def test_that_nothing_answers_is_said(path: KnowledgePath) -> None:
    """With what came nearest, which is called no answer; no writer is asked."""
    writer = ScriptedWriter()
    answer = asyncio.run(path.query(writer).answer(path.rig.run(), OTHER, Language.EN))

    assert isinstance(answer.body, dict)
    assert (answer.body["found"], answer.body["retrievals"], writer.asked) == (False, 1, 0)
    assert answer.body["nearest"]
    assert "quotations" not in answer.body
    assert "which do not answer the question" in str(answer.body["text"])
    assert path.events_named(TraceName.KNOWLEDGE_ANSWER) == [
        (TraceEventStatus.SUCCEEDED, {"found": False, "configured": True})
    ]


@pytest.mark.parametrize(
    ("language", "words"), [(Language.EN, "No runbooks"), (Language.ZH, "没有配置运维手册")]
)
def test_without_runbooks_no_search_is_claimed(language: Language, words: str) -> None:
    """It says how to configure them."""
    path = KnowledgePath(base=None)
    body = path.ask(language=language)

    assert (body["configured"], body["retrievals"]) == (False, 0)
    assert str(body["text"]).startswith(words)
    assert "DIAGNOSE_KNOWLEDGE__FOLDER" in str(body["text"])
    assert path.events_named(TraceName.KNOWLEDGE_RETRIEVAL) == []
    assert path.stages() == ["KNOWLEDGE_ANSWERING"]


def test_an_empty_folder_is_said() -> None:
    """There is nothing to search, which is not the same as nothing found."""
    assert "no runbook to search" in KnowledgePath(base=MemoryKnowledge({})).ask()["text"]


def test_an_old_copy_is_said_to_be_one() -> None:
    """Before anything is quoted of it."""
    body = KnowledgePath(base=MemoryKnowledge(is_stale=True)).ask()

    assert body["stale"] is True
    assert str(body["text"]).startswith("The runbook folder cannot be read right now")


def test_a_search_that_fails_is_not_an_answer(path: KnowledgePath) -> None:
    """It is passed on unchanged and traced once."""
    assert path.base is not None
    path.base.is_broken = True

    with pytest.raises(KnowledgeUnavailable):
        path.ask()

    assert [status for status, _ in path.events_named(TraceName.KNOWLEDGE_RETRIEVAL)] == [
        TraceEventStatus.FAILED
    ]
    assert path.events_named(TraceName.KNOWLEDGE_ANSWER) == []


class StuckKnowledge(MemoryKnowledge):
    """Searches until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go_on = threading.Event(), threading.Event()

    def search(self, ctx: RunContext, question: str) -> Retrieval:
        """Late."""
        self.begun.set()
        assert self.go_on.wait(10)
        return super().search(ctx, question)


def test_a_search_ends_with_its_run() -> None:
    """A cancel does not wait for the thread, and its later result is discarded."""
    stuck = StuckKnowledge()
    path = KnowledgePath(base=stuck)

    async def cancel_during_search() -> None:
        ctx = path.rig.run()
        asked = asyncio.ensure_future(path.query().answer(ctx, ASKED, Language.EN))
        await asyncio.to_thread(stuck.begun.wait, 10)
        path.rig.core.cancel(ctx, CancellationReason.USER_REQUESTED)
        with pytest.raises(RunAborted):
            await asked

    asyncio.run(cancel_during_search())
    stuck.go_on.set()

    assert path.events_named(TraceName.KNOWLEDGE_RETRIEVAL) == []
    assert path.stages() == ["KNOWLEDGE_SEARCHING"]


def test_a_search_ends_at_the_deadline() -> None:
    """By the clock of the run."""
    stuck = StuckKnowledge()
    path = KnowledgePath(base=stuck)

    async def late() -> None:
        asked = asyncio.ensure_future(path.query().answer(path.rig.run(timeout_s=5.0), ASKED, Language.EN))
        await asyncio.to_thread(stuck.begun.wait, 10)
        path.rig.clock.advance(5.0)
        with pytest.raises(RunAborted):
            await asked

    asyncio.run(late())
    stuck.go_on.set()


def test_what_a_document_hides_is_shown_in_the_text() -> None:
    """Invisible signs stand as their code points, so that a line says what it shows."""
    body = KnowledgePath(base=MemoryKnowledge({"a.md": "# Rollback\n\nUndo \u202eeht\u202c release.\n"})).ask(
        "undo the release"
    )

    assert "\u202e" not in body["text"]
    assert "\\u202e" in body["text"]
