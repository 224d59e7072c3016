"""A process is dead when its beat stands still, by the clock of the one who looks and of nobody else."""

from __future__ import annotations

from diagnosis_harness.application.runs.silence import NOTHING_SEEN, Seen, dead, forgettable, is_served, seen
from diagnosis_harness.application.runs.store import Beat

AFTER_S = 10.0


def looked(*looks: tuple[float, float | None], has_work: bool = True) -> tuple[str, ...]:
    """Who is dead after looks at one process: when, and what it had said."""
    state: Seen = NOTHING_SEEN
    beats: dict[str, Beat] = {}
    for now_s, value in looks:
        beats = {"other": Beat(value, has_work)}
        state = seen(state, beats, now_s=now_s, gap_s=AFTER_S)
    return dead(state, beats, after_s=AFTER_S)


def test_a_beat_that_stands_still_for_so_long_is_a_death() -> None:
    """Exactly then, counted from the look that saw it first."""
    assert looked((100.0, 7.0), (105.0, 7.0), (109.9, 7.0)) == ()
    assert looked((100.0, 7.0), (105.0, 7.0), (110.0, 7.0)) == ("other",)


def test_a_beat_that_changes_is_a_life_whatever_it_says() -> None:
    """Its clock may be a year off, and may run backwards: it is compared with no other."""
    assert looked((100.0, 9e9), (105.0, 3.0), (110.0, 2.0), (115.0, 1.0), (120.0, 0.0)) == ()


def test_a_process_that_has_just_come_up_gives_nobody_up_at_the_first_look() -> None:
    """However old the beat may be: it has not seen it stand still."""
    assert looked((1e9, 0.0)) == ()


def test_who_has_no_beat_and_has_work_is_dead_at_once() -> None:
    """It never beat, or it has left."""
    assert looked((100.0, None)) == ("other",)
    assert looked((100.0, None), has_work=False) == ()


def test_what_was_seen_before_a_long_pause_counts_for_nothing() -> None:
    """Whoever looks stood still itself; so may the others have, and they get their time anew."""
    assert looked((100.0, 7.0), (160.0, 7.0)) == ()
    assert looked((100.0, 7.0), (160.0, 7.0), (165.0, 7.0), (170.0, 7.0)) == ("other",)


def test_who_stands_still_without_work_is_forgotten_and_not_mourned() -> None:
    """What it said last goes with the name, so that a beat that came meanwhile is kept."""
    beats = {"idle": Beat(7.0, has_work=False), "busy": Beat(7.0, has_work=True)}
    state = seen(NOTHING_SEEN, beats, now_s=0.0, gap_s=AFTER_S)
    state = seen(state, beats, now_s=9.0, gap_s=AFTER_S)
    assert forgettable(state, beats, after_s=9.0) == (("idle", 7.0),)
    assert forgettable(state, beats, after_s=9.1) == ()


def taken(*looks: tuple[float, float | None], lanes: frozenset[str] | None) -> bool | None:
    """Whether the runs of a lane are taken, after looks at one process that says what it takes."""
    state: Seen = NOTHING_SEEN
    beats: dict[str, Beat] = {}
    for now_s, value in looks:
        beats = {"other": Beat(value, has_work=False, lanes=lanes)}
        state = seen(state, beats, now_s=now_s, gap_s=AFTER_S)
    return is_served(state, beats, "source-a", after_s=AFTER_S)


def test_runs_are_taken_by_a_process_that_says_so_and_lives() -> None:
    """Of one that stands still what it said counts for nothing."""
    lanes = frozenset({"source-a", "source-b"})
    assert taken((100.0, 1.0), (105.0, 2.0), (110.0, 3.0), lanes=lanes) is True
    assert taken((100.0, 1.0), (105.0, 1.0), (110.0, 1.0), lanes=lanes) is False
    assert taken((100.0, None), (105.0, None), (110.0, None), lanes=lanes) is False


def test_whether_a_process_lives_is_not_known_before_it_was_looked_at_for_long_enough() -> None:
    """Nor after a pause; of a process that takes none of these runs that need not be known."""
    lanes = frozenset({"source-a"})
    assert taken((100.0, 1.0), (109.0, 1.0), lanes=lanes) is None
    assert taken((100.0, 1.0), (109.0, 1.0), (130.0, 1.0), lanes=lanes) is None
    assert taken((100.0, 1.0), lanes=frozenset({"source-b"})) is False


def test_a_process_that_does_not_say_what_it_takes_may_take_anything() -> None:
    """It is of an older program, which takes whatever is delivered."""
    assert taken((100.0, 1.0), (105.0, 2.0), (110.0, 3.0), lanes=None) is True
