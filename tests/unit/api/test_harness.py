"""The harness as a host program opens, asks, watches, cancels and closes it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.support.small_incident import CPU_FAULT, ONSET_S, small_incident

import diagnosis_harness as dh
from diagnosis_harness.kernel.errors import ContractViolation
from diagnosis_harness.testing import CountingIds, ManualClock, ScriptedPolicy, ScriptedTool

LIMITS = dh.RunBudgetLimits(
    llm_calls=5,
    tool_calls=3,
    tool_calls_per_tool=2,
    input_tokens=1_000,
    output_tokens=1_000,
    total_tokens=1_000,
    run_bytes=50_000,
)


class QueueDepth:
    """A tool of a host: no folder, no adapter."""

    spec = dh.ToolSpec(name="queue_depth", description="Depth of the work queue.")

    def run(self, ctx: dh.RunContext, arguments: Mapping[str, object]) -> dh.ToolFindings:
        """One signal that has risen."""
        depth = dh.EvidenceItem(
            item_id="depth",
            kind=dh.ItemKind.SIGNAL_CHANGE,
            line="worker queue_depth rose from 12 to 4800",
            entity="worker",
            signal="queue_depth",
            value=4800.0,
            baseline=12.0,
            direction=dh.Direction.UP,
            window=dh.TimeWindow(ONSET_S, ONSET_S + 600.0),
        )
        return dh.ToolFindings(items=(depth,), looked_at=1)


ASK = dh.AskTools((dh.WantedCall("call-1", "queue_depth", {}),))
ROSE = dh.Claim(
    claim_id="rose",
    predicate=dh.Predicate.CHANGED,
    entity="worker",
    refs=(dh.EvidenceRef("call-1", "depth"),),
    signal="queue_depth",
    value=4800.0,
    baseline=12.0,
    direction=dh.Direction.UP,
)
GIVE = dh.GiveDraft(
    dh.DiagnosisDraft((), (ROSE,)), (dh.Assessment("call-1", dh.InformationGain.GAINED, (ROSE,)),)
)


def small_harness(**changed: object) -> dh.Harness:
    """A harness over the queue's tool, whose policy asks once and claims what it saw."""
    fields = {"tools": [QueueDepth()], "policy": ScriptedPolicy(ASK, GIVE), "limits": LIMITS, **changed}
    return dh.Harness(**fields)  # type: ignore[arg-type]  # checked where a test names a field


def with_harness(harness: dh.Harness, work: Callable[[dh.Harness], Awaitable[None]]) -> None:
    """Open the harness in a loop of its own and do the work there."""

    async def act() -> None:
        async with harness:
            await work(harness)

    asyncio.run(act())


def run_of(answer: dh.Answer) -> dict[str, object]:
    """What the answer's document says of the run itself."""
    run = answer.document["run"]
    assert isinstance(run, dict)
    return dict(run)


def test_own_tools_and_an_own_policy_need_no_folder() -> None:
    """The tool's observation is a verified fact, in both languages, and the document verifies."""

    async def work(harness: dh.Harness) -> None:
        answer = await harness.ask("Why is the worker behind?")

        assert answer.outcome is dh.ReleaseOutcome.FALLBACK
        assert answer.fallback is dh.FallbackType.INSUFFICIENT_EVIDENCE
        assert answer.state is dh.RunState.SUCCESS
        assert answer.causes == ()
        assert "queue_depth of worker rose from 12 to 4,800 (400 times)" in answer.text()
        assert "worker 的 queue_depth 从 12 升到 4,800" in answer.text("zh")
        assert answer.markdown("en").startswith("# Why is the worker behind?\n")
        assert answer.verify().verified
        assert run_of(answer)["run_id"] == answer.run_id

    with_harness(small_harness(), work)


def test_telemetry_in_memory_is_diagnosed_by_the_embedded_analyst() -> None:
    """The cause is named, and the onset that the host states is in the document."""

    async def work(harness: dh.Harness) -> None:
        answer = await harness.ask("why is shop slow?", onset=datetime.fromtimestamp(ONSET_S, UTC))

        assert (answer.outcome, answer.causes) == (dh.ReleaseOutcome.SUCCESS, ("payment",))
        assert answer.text().startswith("payment is the cause")
        assert run_of(answer)["onset_at"] == "2024-01-01T14:05:00Z"

    with_harness(dh.Harness(sources=small_incident(CPU_FAULT).sources()), work)


def test_own_tools_stand_beside_those_over_the_sources() -> None:
    """A policy sees both."""
    policy = ScriptedPolicy(ASK, GIVE)
    harness = small_harness(policy=policy, sources=small_incident(None).sources())

    async def work(harness: dh.Harness) -> None:
        await harness.ask("Why is the worker behind?")

    with_harness(harness, work)
    names = {spec.name for spec in policy.views[0].tools}
    assert {"queue_depth", "rank_causes"} <= names


def test_the_steps_of_a_run_are_seen_while_it_works() -> None:
    """Stages and tool calls, in order, and then the answer."""

    async def work(harness: dh.Harness) -> None:
        run = harness.stream("Why is the worker behind?")

        steps = [(step.kind, step.name, step.found) async for step in run]

        assert steps == [
            (dh.RunStepKind.STAGE, "DIAGNOSIS_RUNNING", None),
            (dh.RunStepKind.TOOL_STARTED, "queue_depth", None),
            (dh.RunStepKind.TOOL_FINISHED, "queue_depth", 1),
            (dh.RunStepKind.STAGE, "SAFETY_VALIDATING", None),
        ]
        assert [step async for step in run] == []
        assert (await run.answer()).run_id == run.run_id

    with_harness(small_harness(), work)


def test_a_refused_and_a_failed_call_are_steps_with_their_code() -> None:
    """A host can show why a call returned nothing."""

    def fail() -> dh.ToolFindings:
        raise dh.ToolFailure("the backend does not answer", kind=dh.FailureKind.UNAVAILABLE)

    policy = ScriptedPolicy(
        dh.AskTools((dh.WantedCall("c1", "unheard", {}), dh.WantedCall("c2", "look", {}))), dh.GiveDraft(None)
    )

    async def work(harness: dh.Harness) -> None:
        steps = [step async for step in harness.stream("what happened?")]

        codes = {step.kind: step.error_code for step in steps if step.error_code}
        assert codes[dh.RunStepKind.TOOL_REFUSED] == "UNKNOWN_TOOL"
        assert codes[dh.RunStepKind.TOOL_FINISHED] == "EXECUTION_FAILED"

    with_harness(small_harness(tools=[ScriptedTool(fail)], policy=policy), work)


def test_a_cancelled_run_has_an_answer() -> None:
    """Cancelled at its first finished call; what was verified until then may be shown, and no cause."""

    async def work(harness: dh.Harness) -> None:
        run = harness.stream("Why is the worker behind?")
        async for step in run:
            if step.kind is dh.RunStepKind.TOOL_FINISHED:
                run.cancel()

        answer = await run.answer()

        assert (answer.state, answer.outcome) == (dh.RunState.CANCELLED, dh.ReleaseOutcome.CANCELLED)
        assert answer.causes == ()

    with_harness(small_harness(), work)


def test_cancelling_the_harness_cancels_every_run() -> None:
    """A host that shuts down says it once."""

    async def work(harness: dh.Harness) -> None:
        runs = [harness.stream("Why is the worker behind?") for _ in range(3)]
        harness.cancel()
        answers = [await run.answer() for run in runs]

        assert {answer.state for answer in answers} == {dh.RunState.CANCELLED}

    with_harness(small_harness(), work)


def test_cancelling_the_task_that_asks_cancels_the_run() -> None:
    """As a web framework does when its client has gone."""
    begun, go_on = threading.Event(), threading.Event()

    def wait_long() -> dh.ToolFindings:
        begun.set()
        go_on.wait(30)
        return dh.ToolFindings(items=())

    async def work(harness: dh.Harness) -> None:
        asking = asyncio.create_task(harness.ask("what happened?"))
        await asyncio.to_thread(begun.wait, 30)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    policy = ScriptedPolicy(dh.AskTools((dh.WantedCall("c1", "look", {}),)), dh.GiveDraft(None))
    with_harness(small_harness(tools=[ScriptedTool(wait_long)], policy=policy), work)
    go_on.set()


def test_questions_are_answered_side_by_side() -> None:
    """Each has its own run, and its own events."""

    async def work(harness: dh.Harness) -> None:
        answers = await asyncio.gather(*(harness.ask("why is shop slow?") for _ in range(3)))

        assert len({answer.run_id for answer in answers}) == 3
        assert all(answer.causes == ("payment",) and answer.verify().verified for answer in answers)

    with_harness(dh.Harness(sources=small_incident(CPU_FAULT).sources()), work)


def test_time_and_ids_may_belong_to_a_test() -> None:
    """With a manual clock and counting ids two runs of a test read the same."""
    harness = small_harness(clock=ManualClock(), ids=CountingIds(), timeout_s=5.0)

    async def work(harness: dh.Harness) -> None:
        answer = await harness.ask("Why is the worker behind?")

        assert answer.run_id == "run-1"
        assert run_of(answer)["limit_s"] == 5.0
        assert run_of(answer)["started_at"] == "2023-11-14T22:13:20Z"

    with_harness(harness, work)


def test_a_run_that_takes_too_long_ends_at_its_limit() -> None:
    """By the clock, with an answer that says so."""
    clock, go_on = ManualClock(), threading.Event()

    def wait_long() -> dh.ToolFindings:
        clock.advance(10)
        go_on.wait(30)
        return dh.ToolFindings(items=())

    policy = ScriptedPolicy(dh.AskTools((dh.WantedCall("c1", "look", {}),)), dh.GiveDraft(None))

    async def work(harness: dh.Harness) -> None:
        answer = await harness.ask("what happened?", timeout_s=5.0)

        assert answer.state is dh.RunState.TIMED_OUT

    with_harness(small_harness(tools=[ScriptedTool(wait_long)], policy=policy, clock=clock), work)
    go_on.set()


def test_a_folder_is_read_and_no_thread_stays(tmp_path: Path) -> None:
    """Also where runs still worked when the block ended; the loop is the host's own."""
    rows = ["time,entity,signal,value"]
    rows += [f"{1_714_568_400 + 60 * minute},web,latency_s,{0.2 + minute // 60}" for minute in range(90)]
    (tmp_path / "metrics.csv").write_text("\n".join(rows) + "\n")
    before = set(threading.enumerate())
    live_runs: list[dh.LiveRun] = []

    async def work(harness: dh.Harness) -> None:
        answer = await harness.ask("what happened?")
        live_runs.append(harness.stream("what happened?"))

        assert "web" in answer.markdown()

    with_harness(dh.Harness(sources=dh.IncidentFolder(tmp_path)), work)

    assert live_runs[0].task.result().state is dh.RunState.CANCELLED
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert set(threading.enumerate()) <= before


def test_a_harness_may_be_opened_again() -> None:
    """Each block has threads of its own."""
    harness = dh.Harness(sources=small_incident(CPU_FAULT).sources())

    async def work(harness: dh.Harness) -> None:
        assert (await harness.ask("why is shop slow?")).causes == ("payment",)

    with_harness(harness, work)
    with_harness(harness, work)


def test_a_policy_that_gives_nothing_fails_and_says_so() -> None:
    """A failure never looks like an answer."""
    harness = small_harness(policy=ScriptedPolicy(dh.GiveDraft(None)))

    async def work(harness: dh.Harness) -> None:
        answer = await harness.ask("what happened?")

        assert (answer.outcome, answer.state) == (dh.ReleaseOutcome.FAILED, dh.RunState.FAILED)
        assert answer.text()

    with_harness(harness, work)


@pytest.mark.parametrize("folder", ["nowhere", "empty"])
def test_a_folder_that_cannot_be_read_is_said_when_the_harness_opens(tmp_path: Path, folder: str) -> None:
    """And no thread stays."""
    (tmp_path / "empty").mkdir()
    before = set(threading.enumerate())

    async def work(harness: dh.Harness) -> None:
        raise AssertionError

    with pytest.raises(dh.InvalidInput, match=folder):
        with_harness(dh.Harness(sources=tmp_path / folder), work)
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert set(threading.enumerate()) <= before


def test_the_embedded_analyst_needs_sources() -> None:
    """It calls the tools over telemetry, and would call none of the host's."""
    with pytest.raises(dh.InvalidInput, match="give sources, or a policy"):
        with_harness(small_harness(policy=None), lambda harness: harness.ask("why?"))  # type: ignore[arg-type, return-value]  # it opens nothing


def test_a_harness_is_asked_inside_its_block() -> None:
    """Before and after it has no threads to work with; a second block inside the first is a mistake."""
    harness = small_harness()
    with pytest.raises(ContractViolation, match="inside its `async with` block"):
        asyncio.run(harness.ask("why?"))

    async def work(harness: dh.Harness) -> None:
        with pytest.raises(ContractViolation, match="opened once at a time"):
            await harness.__aenter__()

    with_harness(harness, work)


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"question": "  "}, "question"),
        ({"question": "why?", "timeout_s": 0.0}, "timeout_s"),
        ({"question": "why?", "timeout_s": float("nan")}, "timeout_s"),
        ({"question": "why?", "language": "fr"}, "language"),
        ({"question": "why?", "onset": datetime(2024, 1, 1)}, "onset"),  # noqa: DTZ001 - no zone is the mistake
    ],
)
def test_an_argument_that_cannot_be_used_is_named(arguments: dict[str, object], place: str) -> None:
    """No run begins."""

    async def work(harness: dh.Harness) -> None:
        with pytest.raises(dh.InvalidInput) as refused:
            harness.stream(**arguments)  # type: ignore[arg-type]  # what is wrong is the test
        assert refused.value.place == place

    with_harness(small_harness(), work)


def test_an_onset_outside_the_telemetry_is_refused() -> None:
    """It would be looked for where nothing was recorded."""

    async def work(harness: dh.Harness) -> None:
        with pytest.raises(dh.InvalidInput, match="lies outside the data"):
            await harness.ask("why is shop slow?", onset=datetime(2020, 1, 1, tzinfo=UTC))

    with_harness(dh.Harness(sources=small_incident(CPU_FAULT).sources()), work)
