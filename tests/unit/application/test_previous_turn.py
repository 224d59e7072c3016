"""What the next question of a session is shown: its latest diagnosis if that succeeded, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_harness.application.callers.caller import LOCAL
from diagnosis_harness.application.diagnosis_path import take_over_from
from diagnosis_harness.application.inquiry import Carried
from diagnosis_harness.application.intent import IntentType
from diagnosis_harness.application.previous_turn import (
    EarlierRun,
    NoPreviousTurn,
    PreviousTurn,
    PublishedResultPolicy,
)
from diagnosis_harness.application.runs.request import RunKind, RunRequest
from diagnosis_harness.kernel.language import Language
from diagnosis_harness.release.outcome import ReleaseOutcome

POLICY = PublishedResultPolicy()


def diagnosis(
    run_id: str, outcome: ReleaseOutcome | None = ReleaseOutcome.SUCCESS, *, result: str | None = "orders"
) -> EarlierRun:
    """A diagnosis in session s1."""
    return EarlierRun("s1", run_id, IntentType.DIAGNOSIS, outcome, result)


CHAT = EarlierRun("s1", "chat", IntentType.SYSTEM_CHAT, ReleaseOutcome.SUCCESS, "an answer")
RUNS = st.lists(
    st.builds(
        EarlierRun,
        st.sampled_from(["s1", "s2"]),
        st.uuids().map(str),
        st.none() | st.sampled_from(IntentType),
        st.none() | st.sampled_from(ReleaseOutcome),
        st.none() | st.just("orders"),
    ),
    max_size=6,
)


def test_the_latest_diagnosis_that_succeeded_is_shown() -> None:
    """Chat in between changes nothing: it is no diagnosis."""
    runs = [diagnosis("r1"), diagnosis("r2", result="cart"), CHAT]

    assert POLICY.previous_turn("s1", runs) == PreviousTurn("r2", "cart")


@pytest.mark.parametrize(
    "outcome", [None, ReleaseOutcome.FALLBACK, ReleaseOutcome.FAILED, ReleaseOutcome.CANCELLED]
)
def test_an_older_success_does_not_stand_in_for_the_latest(outcome: ReleaseOutcome | None) -> None:
    """A fallback never enters the next turn, and neither does what came before it."""
    runs = [diagnosis("r1"), diagnosis("r2", outcome)]

    assert POLICY.previous_turn("s1", runs) is NoPreviousTurn.NOT_SUCCESS


def test_a_success_without_a_published_result_shows_nothing() -> None:
    """There is nothing to show."""
    assert POLICY.previous_turn("s1", [diagnosis("r1", result=None)]) is NoPreviousTurn.NO_PUBLISHED_RESULT


def test_other_sessions_and_other_intents_show_nothing() -> None:
    """One person's session is not another's; an answer from a runbook is no diagnosis."""
    assert POLICY.previous_turn("s2", [diagnosis("r1")]) is NoPreviousTurn.NO_DIAGNOSIS
    assert POLICY.previous_turn("s1", [CHAT]) is NoPreviousTurn.NO_DIAGNOSIS


@given(RUNS)
def test_what_is_shown_is_a_successful_diagnosis_of_the_session(runs: list[EarlierRun]) -> None:
    """Whatever the session holds."""
    shown = POLICY.previous_turn("s1", runs)
    if isinstance(shown, PreviousTurn):
        (run,) = [run for run in runs if run.run_id == shown.run_id]
        assert (run.session_id, run.intent, run.outcome) == (
            "s1",
            IntentType.DIAGNOSIS,
            ReleaseOutcome.SUCCESS,
        )
        assert shown.published_result == run.published_result is not None


@pytest.mark.parametrize("intent", IntentType)
@pytest.mark.parametrize("outcome", ReleaseOutcome)
def test_a_result_is_published_by_a_successful_diagnosis_alone(
    intent: IntentType, outcome: ReleaseOutcome
) -> None:
    """What is never kept can never be shown."""
    expected = (intent, outcome) == (IntentType.DIAGNOSIS, ReleaseOutcome.SUCCESS)
    assert POLICY.publishes(intent, outcome) == expected


def test_a_question_takes_over_what_the_turn_before_published() -> None:
    """Onset and affected entity, for the same source; nothing if nothing was published."""
    request = RunRequest(
        run_id="r2",
        session_id="s1",
        question="and the database?",
        language=Language.EN,
        kind=RunKind.CHAT,
        asked_by=LOCAL,
        limit_s=60.0,
        submitted_s=0.0,
        source="shop",
    )
    published = {"source": "shop", "onset_at": "2024-01-01T12:00:00Z", "affected": ["checkout"]}

    assert take_over_from(request, PreviousTurn("r1", published)) == Carried(1_704_110_400.0, ("checkout",))
    assert take_over_from(request, PreviousTurn("r1", {**published, "source": "other"})) == Carried()
    assert take_over_from(request, PreviousTurn("r1", {"source": "shop"})) == Carried()
    assert take_over_from(request, None) == Carried()
