"""What every answer writer must do, and how code handles one that does not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.knowledge import MemoryKnowledge, index_of
from tests.support.scripted_responder import ScriptedWriter

from diagnosis_harness.application.knowledge_query import AnswerWriter, KnowledgeQuery
from diagnosis_harness.application.path_answer import PathAnswer
from diagnosis_harness.harness.budget import TokenUsage
from diagnosis_harness.harness.context import RunContext
from diagnosis_harness.harness.workers import WorkerPool
from diagnosis_harness.kernel.errors import (
    AnswerRefused,
    FailureKind,
    LlmFailure,
    MalformedAnswer,
    TechnicalFailure,
)
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.knowledge.document import read_runbook
from diagnosis_harness.knowledge.quotation import Quotation, check_quotations
from diagnosis_harness.llm.role import RoleBoundary
from diagnosis_harness.players.embedded.answer_writer import EmbeddedWriter, quotations
from diagnosis_harness.testing.runs import Rig
from diagnosis_harness.trace.event import TraceEventStatus, TraceName

Player = Callable[[], AnswerWriter]
ASKED = "how do I undo a bad release of checkout?"
QUESTIONS = [ASKED, "归档日志可以删除吗", "", "\x00", "\ud800", "a " * 5_000]

each_player = pytest.mark.parametrize(
    "player", [EmbeddedWriter, ScriptedWriter], ids=lambda player: player.__name__
)


def write_answer(rig: Rig, writer: AnswerWriter, ctx: RunContext | None = None) -> PathAnswer:
    """One answer of the runbooks."""
    workers = WorkerPool(threads_max=1)
    query = KnowledgeQuery(rig.core, RoleBoundary(rig.core), writer, MemoryKnowledge(), workers)
    try:
        return asyncio.run(query.answer(ctx or rig.run(), ASKED, Language.EN))
    finally:
        workers.close()


@each_player
@pytest.mark.parametrize("question", QUESTIONS, ids=range(len(QUESTIONS)))
def test_a_writer_quotes_from_the_passages(player: Player, question: str) -> None:
    """Whole units, whatever it is asked; with the tokens that it took."""
    passages = index_of().passages
    given, usage = asyncio.run(player().write(Rig().run(), question, passages))

    assert check_quotations(given, passages)
    assert type(usage) is TokenUsage


@given(st.lists(st.text(min_size=1, max_size=200), min_size=1, max_size=4), st.text(max_size=60))
def test_the_embedded_writer_quotes_any_passages(texts: list[str], question: str) -> None:
    """What it chooses holds against the check, or there is nothing to quote at all."""
    passages = [
        passage
        for number, text in enumerate(texts)
        for passage in read_runbook(f"{number}.md", text.encode("utf-8", "ignore"), size=300).passages
    ]
    if passages:
        chosen = quotations(question, passages)
        assert check_quotations(chosen, passages)


@each_player
def test_an_answer_costs_one_llm_call(player: Player) -> None:
    """Whoever plays, the budget means the same."""
    rig = Rig()
    ctx = rig.run()

    write_answer(rig, player(), ctx)

    assert ctx.budget.usage().llm_calls == 1


HOSTILE: list[tuple[Sequence[Quotation] | Exception, FailureKind]] = [
    ([], FailureKind.INVALID_OUTPUT),
    ([Quotation("Drop the database.", 1)], FailureKind.INVALID_OUTPUT),
    ([Quotation("Undo a bad release", 1)], FailureKind.INVALID_OUTPUT),
    ([Quotation("Undo a bad release of checkout:", 99)], FailureKind.INVALID_OUTPUT),
    (
        [Quotation("1. Run `argocd app rollback checkout`.", 1)],
        FailureKind.INVALID_OUTPUT,
    ),  # without its lead
    (MalformedAnswer("no JSON"), FailureKind.INVALID_OUTPUT),
    (LlmFailure("away", kind=FailureKind.UNAVAILABLE), FailureKind.UNAVAILABLE),
]


@pytest.mark.parametrize(("answer", "kind"), HOSTILE, ids=range(len(HOSTILE)))
def test_a_writer_that_does_not_keep_to_it_is_refused(
    answer: Sequence[Quotation] | Exception, kind: FailureKind
) -> None:
    """A typed failure in the trace; no other answer replaces it, and the writer is not called again."""
    rig = Rig()
    writer = ScriptedWriter(answer)

    with pytest.raises(TechnicalFailure) as refused:
        write_answer(rig, writer)

    assert refused.value.kind is kind
    assert isinstance(refused.value, LlmFailure if kind is FailureKind.UNAVAILABLE else AnswerRefused)
    assert writer.asked == 1
    events = [event for event in rig.sink.events() if event.name is TraceName.KNOWLEDGE_ANSWER]
    assert [event.status for event in events] == [TraceEventStatus.FAILED]
