"""Changes that an answer names and concludes, by their ids and by the records that it cites."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.bench.test_scoring import NOTHING, A, blaming, run_of, saying

from diagnosis_harness.bench.case import NamedChange, Ranked, RunResult, Truth
from diagnosis_harness.bench.changes import ChangeOutcome, judge_changes
from diagnosis_harness.bench.scoring import judge

GUILTY, DECOY = "41f4a783a75e53ab9bd5169adaeb2b0413d0d339", "7b8e1c4a9d2f3e6b0c5a8f1d7e4b2c9a6f3d0e1b"
CHANGED = replace(A, trigger=(GUILTY,), decoys=(DECOY,))


@pytest.mark.parametrize(
    ("concluded", "message", "first", "right", "named", "decoy"),
    [
        (f"commit {GUILTY} did it", "", True, True, False, False),
        ("commit 41F4A78 did it", f"so did {DECOY[:9]} not", True, True, True, False),
        (f"commit {DECOY} did it", f"or {GUILTY}", False, False, True, True),
        (f"{GUILTY} or {DECOY}", "", True, False, True, True),
        ("nothing known", "", False, False, False, False),
    ],
)
def test_changes_are_found_by_their_ids(
    concluded: str, message: str, first: bool, right: bool, named: bool, decoy: bool
) -> None:
    """Also by the first seven characters; a conclusion that names a decoy as well is not right."""
    outcome = judge(saying(concluded=concluded, text=message), CHANGED)
    assert (
        outcome.changes.first,
        outcome.changes.trigger_right,
        outcome.changes.decoy_named,
        outcome.changes.decoy_concluded,
    ) == (first, right, named, decoy)


def test_where_no_change_is_guilty_naming_none_is_right() -> None:
    """Of a release; a fallback concludes nothing."""
    innocent = replace(A, without_trigger=True, decoys=("v2.14",))
    assert judge(saying(concluded="a is slow"), innocent).changes.none_right is True
    assert judge(saying(concluded="since v2.14"), innocent).changes.none_right is False
    assert judge(run_of(candidates=(("a", 1.0),)), innocent).changes.none_right is False
    assert judge(saying(concluded="a is slow"), A).changes.none_right is None


@pytest.mark.parametrize(
    ("change", "text", "mentioned"),
    [
        ("v2", "v2.1 did it", False),
        ("v2", "the deploy of v2.", True),
        ("2", "rose 20 times", False),
        ("2", "rose to 1.2", False),
        ("v1.4", "deploy v1.4 and nothing else", True),
        ("9f2c1ab77d01", "commit 9f2c1ab", True),
        ("9f2c1ab77d01", "commit 9f2c1ab77d01 is it", True),
        ("9f2c1ab77d01", "commit 9f2c1abz", False),
    ],
)
def test_a_change_is_mentioned_as_a_whole(change: str, text: str, mentioned: bool) -> None:
    """An id that only begins like it is another one; a long one may be cut."""
    assert judge(saying(concluded=text), replace(A, trigger=(change,))).changes.trigger_right is mentioned


def test_any_change_is_too_much_where_none_is_at_fault() -> None:
    """Also one that the truth does not list: the level says that a change was concluded."""
    truth = replace(A, without_trigger=True)
    assert judge(blaming(Ranked("a", "CPU", level="TRIGGER")), truth).changes.none_right is False
    assert judge(blaming(Ranked("a", "CPU", level="EXPLAINED")), truth).changes.none_right is True


WHOLE = "checkout: worker threads 32 to 4, request log off"
OTHER = "catalog v7.0.2 rolled out"
IN_WORDS = Truth(("checkout",), "config", trigger=(WHOLE,), decoys=(OTHER,))


def citing(*changes: NamedChange, level: str = "TRIGGER") -> ChangeOutcome:
    """What a success is worth that cites these changes and whose sentences name none."""
    cause = Ranked("checkout", "LATENCY", level=level)
    sentence = "checkout was changed (config) at 2024-01-01 10:00 UTC."
    return judge_changes(
        RunResult("SUCCESS", (cause,), (), concluded=sentence, said=sentence, changes=changes), IN_WORDS
    )


def test_a_change_is_known_by_the_summary_of_its_record() -> None:
    """No sentence holds it; to be named is not to be concluded, and to be concluded not to be the trigger."""
    for concluded, as_trigger, right in ((False, False, False), (True, False, False), (True, True, True)):
        outcome = citing(NamedChange(WHOLE, concluded, as_trigger), NamedChange(OTHER))
        assert (outcome.first, outcome.named, outcome.trigger_right) == (True, True, right)
        assert (outcome.decoy_named, outcome.decoy_concluded) == (True, False)


def test_a_conclusion_that_rests_on_an_innocent_change_is_not_right() -> None:
    """Alone or beside the guilty one."""
    alone = citing(NamedChange(OTHER, concluded=True))
    assert (alone.first, alone.named, alone.trigger_right, alone.decoy_concluded) == (
        False,
        False,
        False,
        True,
    )
    both = citing(NamedChange(WHOLE, concluded=True, as_trigger=True), NamedChange(OTHER, concluded=True))
    assert (both.trigger_right, both.decoy_concluded) == (False, True)


def test_where_nothing_was_wrong_a_fallback_is_not_scored_on_changes() -> None:
    """A release is: it must conclude none."""
    sound = replace(NOTHING, without_trigger=True, decoys=(OTHER,))
    assert judge(run_of(), sound).changes.none_right is None
    calm = RunResult("SUCCESS", (), (), nothing_unusual=True, changes=(NamedChange(OTHER),))
    outcome = judge_changes(calm, sound)
    assert (outcome.none_right, outcome.decoy_named, outcome.decoy_concluded) == (True, True, False)


def test_triggers_and_worlds_without_one_are_figures_of_their_own() -> None:
    """Each has a value where the other has none."""
    innocent = Truth(("a",), "cpu", without_trigger=True)
    with_trigger, without = judge(run_of(), IN_WORDS).changes, judge(run_of(), innocent).changes
    assert (with_trigger.trigger_right, with_trigger.none_right) == (False, None)
    assert (without.trigger_right, without.none_right) == (None, False)
    assert citing(NamedChange(WHOLE)).none_right is None
