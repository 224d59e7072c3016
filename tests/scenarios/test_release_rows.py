"""Every row of the release table, end to end: a scenario tells it, this says all that the row says.

The scenarios themselves can be written anew; this table cannot.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.support.scene import Scene
from tests.support.script import read

from diagnosis_harness.adapters.evidence_stores.memory import MemoryEvidenceStore
from diagnosis_harness.application.diagnose import DiagnosisEnd
from diagnosis_harness.diagnosis.collection import DiagnosisStopReason as Stop
from diagnosis_harness.harness.termination import RunState as State
from diagnosis_harness.release.decision import TABLE
from diagnosis_harness.release.outcome import FallbackType as Type
from diagnosis_harness.release.outcome import ReleaseOutcome as Outcome
from diagnosis_harness.trace.event import TraceEventStatus, TraceName

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Row:
    """What a rule of the specification says about a scenario's run."""

    rule: str
    scenario: str
    state: State
    outcome: Outcome
    fallback: Type | None = None
    stop_reason: Stop | None = None


S, F, T, B, C = State.SUCCESS, State.FAILED, State.TIMED_OUT, State.BUDGET_EXHAUSTED, State.CANCELLED
BACK, FAIL = Outcome.FALLBACK, Outcome.FAILED
THIN, LACK = Type.INSUFFICIENT_EVIDENCE, Type.MISSING_REQUIRED_CONTEXT
FULL, VIOLATED = Stop.INFORMATION_SATURATED, Stop.PROGRESS_PROTOCOL_VIOLATED
SPENT = Stop.BUDGET_LIMIT_REACHED

ROWS = [
    Row("RL-10", "a-truthful-draft-is-released", S, Outcome.SUCCESS),
    Row("RL-10", "a-repair-drops-what-is-false", S, Outcome.SUCCESS),
    Row("RL-10", "a-draft-after-saturation-is-released", S, Outcome.SUCCESS, None, FULL),
    Row("RL-11", "context-is-missing", S, BACK, LACK),
    Row("RL-26", "context-is-missing-in-words-of-its-own", F, FAIL),
    Row("RL-12", "evidence-is-thin", S, BACK, THIN),
    Row("RL-12", "an-unsound-reference-is-dropped", S, BACK, THIN),
    Row("RL-12", "nothing-seen-is-said-with-its-scope", S, BACK, THIN),
    Row("RL-13", "saturated-with-facts", S, BACK, THIN, FULL),
    Row("RL-14", "the-protocol-is-broken-with-facts", S, BACK, THIN, VIOLATED),
    Row("RL-15", "a-false-number-is-not-released", S, BACK, Type.EVIDENCE_VALIDATION_FAILED),
    Row("RL-15", "a-repair-that-fails-mends-nothing", S, BACK, Type.EVIDENCE_VALIDATION_FAILED),
    Row("RL-16", "the-judge-says-no", S, BACK, Type.SEMANTIC_UNSUPPORTED),
    Row("RL-17", "the-judge-is-away", S, BACK, Type.SEMANTIC_UNAVAILABLE),
    Row("RL-18", "a-limit-of-calls-with-facts", B, BACK, THIN, SPENT),
    Row("RL-18", "a-limit-of-steps-with-facts", B, BACK, THIN, SPENT),
    Row("RL-18", "a-limit-of-bytes", B, BACK, THIN, SPENT),
    Row("RL-19", "the-deadline-comes-in-a-tool-without-facts", T, FAIL),
    Row("RL-20", "a-limit-of-calls-without-facts", B, FAIL, None, SPENT),
    Row("RL-22", "the-client-goes-away-during-a-tool", C, Outcome.CANCELLED),
    Row("RL-22", "the-user-cancels-between-steps", C, Outcome.CANCELLED),
    Row("RL-23", "saturated-without-facts", F, FAIL, None, FULL),
    Row("RL-23", "the-protocol-is-broken-without-facts", F, FAIL, None, VIOLATED),
    Row("RL-24", "a-draft-that-says-nothing", F, FAIL),
    Row("RL-25", "context-is-missing-after-errors", S, BACK, LACK),
    Row("RL-26", "an-unreadable-answer-with-facts", S, BACK, THIN),
    Row("RL-26", "an-empty-draft", S, BACK, THIN),
    Row("RL-26", "an-unreadable-answer-without-facts", F, FAIL),
    Row("RL-27", "the-language-model-fails", F, FAIL),
    Row("RL-29", "a-limit-reached-in-repair", B, BACK, THIN, SPENT),
    Row("RL-29", "a-limit-reached-at-the-judge", B, FAIL, None, SPENT),
    Row("RL-29", "the-deadline-comes-in-repair", T, BACK, THIN),
    Row("RL-29", "the-deadline-comes-in-the-judge", T, BACK, THIN),
    Row("RL-30", "the-user-cancels-after-the-guards", C, Outcome.CANCELLED),
    Row("RL-30", "the-deadline-comes-after-the-guards", T, BACK, THIN),
    Row("RL-31", "the-deadline-comes-in-a-tool-with-facts", T, BACK, THIN),
]


def play_scenario(scenario: str) -> tuple[Scene, DiagnosisEnd]:
    """The scenario's upper half, played."""
    script, _, _ = (FOLDER / f"{scenario}.txt").read_text(encoding="utf-8").partition("\n----\n")
    scene = read(script).scene(MemoryEvidenceStore())
    return scene, scene.run()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.rule}-{row.scenario}")
def test_a_row_end_to_end(row: Row) -> None:
    """Run state, outcome, fallback type and stop reason; causes with a success, facts with thin evidence."""
    scene, end = play_scenario(row.scenario)
    assert scene.ctx.lifecycle.state is row.state
    assert (end.outcome, end.fallback, end.stop_reason) == (row.outcome, row.fallback, row.stop_reason)
    assert bool(end.content.causes) == (row.outcome is Outcome.SUCCESS)
    assert (end.failure is not None) == (row.outcome is FAIL)
    if row.fallback is THIN:
        assert end.content.claims
    (finished,) = scene.sink.events_named(TraceName.RUN_FINISHED)
    assert finished.payload["state"] == row.state


def test_every_rule_of_the_table_is_reported() -> None:
    """A rule that no run was ever seen to follow is a guess.

    RL-21 is a bug's, RL-28 the router's, which stands before the diagnosis, SV-08 a player's that ends its
    own run, GU-146 of questions that ask for no cause: all have tests of their own.
    """
    assert {row.rule for row in TABLE} - {row.rule for row in ROWS} == {"GU-146", "RL-21", "RL-28", "SV-08"}


@pytest.mark.parametrize(
    "scenario", ["a-truthful-draft-is-released", "evidence-is-thin", "saturated-with-facts"]
)
def test_loop_then_release(scenario: str) -> None:
    """For a draft as well as for a controlled stop: nothing of the loop after release began (LC-05)."""
    scene, _ = play_scenario(scenario)
    names = scene.names()
    released = names.index(TraceName.EVIDENCE_GUARD_INITIAL)
    loop = {TraceName.AGENT_MODEL_STEP, TraceName.TOOL_INVOCATION, TraceName.COLLECTION_STOP}
    assert loop.isdisjoint(names[released:])
    assert names.count(TraceName.RELEASE_DECISION) == 1
    assert released < names.index(TraceName.RELEASE_DECISION)


CHAIN = [
    TraceName.EVIDENCE_GUARD_INITIAL,
    TraceName.EVIDENCE_REPAIR,
    TraceName.EVIDENCE_GUARD_RECHECK,
    TraceName.SEMANTIC_GUARD_DECISION,
]


@pytest.mark.parametrize(
    ("scenario", "chain"),
    [
        ("a-truthful-draft-is-released", [CHAIN[0], CHAIN[3]]),
        ("a-repair-drops-what-is-false", CHAIN),
        ("a-false-number-is-not-released", CHAIN[:3]),
        ("evidence-is-thin", CHAIN[:1]),
        ("nothing-seen-is-said-with-its-scope", CHAIN[:1]),
        ("an-unsound-reference-is-dropped", CHAIN[:1]),
        ("saturated-with-facts", CHAIN[:1]),
    ],
)
def test_the_guards_come_in_order(scenario: str, chain: list[TraceName]) -> None:
    """Guard, one repair, recheck, judge for a conclusion; without one only the references are checked."""
    scene, _ = play_scenario(scenario)
    seen = [
        event.name
        for event in scene.events()
        if event.name in CHAIN and event.status is not TraceEventStatus.STARTED
    ]
    assert seen == chain


def test_a_conclusion_that_fails_after_repair_never_reaches_the_judge() -> None:
    """EVIDENCE_VALIDATION_FAILED; what was false is in nothing that is shown."""
    scene, end = play_scenario("a-false-number-is-not-released")
    assert end.fallback is Type.EVIDENCE_VALIDATION_FAILED
    assert TraceName.SEMANTIC_GUARD_ATTEMPT not in scene.names()
    assert [claim.value for claim in end.content.claims if claim.value == 9.9] == []


@pytest.mark.parametrize(
    ("scenario", "claims"),
    [
        ("an-unreadable-answer-with-facts", 1),
        ("an-unreadable-answer-without-facts", 0),
        ("an-empty-draft", 1),
    ],
)
def test_an_illegal_draft_leaves_only_facts_that_can_be_verified(scenario: str, claims: int) -> None:
    """A fallback exactly when the snapshot holds some; nothing of the draft itself."""
    _, end = play_scenario(scenario)
    assert (len(end.content.claims), end.outcome is BACK) == (claims, bool(claims))
    assert (end.content.causes, end.content.hypotheses, end.content.missing_info) == ((), (), ())


def test_the_facts_of_a_run_whose_language_model_failed_stay_readable() -> None:
    """As records; nothing is released."""
    _, end = play_scenario("the-language-model-fails")
    assert (end.outcome, len(end.snapshot.records), len(end.snapshot.facts)) == (FAIL, 2, 1)


def test_without_a_conclusion_only_sound_references_are_kept() -> None:
    """The claim that the rest supports is shown with the rest; the other one is not."""
    _, end = play_scenario("an-unsound-reference-is-dropped")
    assert [(claim.entity, [ref.tool_call_id for ref in claim.refs]) for claim in end.content.claims] == [
        ("payment", ["t1"])
    ]


def test_words_of_its_own_for_what_is_missing_are_not_repeated() -> None:
    """They decide nothing and say nothing to anybody: any word at all would make an answer of no answer."""
    _, end = play_scenario("context-is-missing-in-words-of-its-own")
    assert end.content.missing_info == ()
