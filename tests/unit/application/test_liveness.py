"""A process is dead when its heartbeat stops changing, by the observer's clock and no other."""

from __future__ import annotations

from diagnosis_harness.application.runs.liveness import (
    NOTHING_OBSERVED,
    Observed,
    dead,
    forgettable,
    is_served,
    observe,
)
from diagnosis_harness.application.runs.store import Heartbeat

AFTER_S = 10.0


def dead_after(*observations: tuple[float, float | None], has_work: bool = True) -> tuple[str, ...]:
    """Who is dead after these observations of one process: when, and its last heartbeat."""
    state: Observed = NOTHING_OBSERVED
    heartbeats: dict[str, Heartbeat] = {}
    for now_s, value in observations:
        heartbeats = {"other": Heartbeat(value, has_work)}
        state = observe(state, heartbeats, now_s=now_s, gap_s=AFTER_S)
    return dead(state, heartbeats, after_s=AFTER_S)


def test_a_process_whose_heartbeat_does_not_change_for_the_limit_is_dead() -> None:
    """Exactly at the limit, counted from the first observation of that value."""
    assert dead_after((100.0, 7.0), (105.0, 7.0), (109.9, 7.0)) == ()
    assert dead_after((100.0, 7.0), (105.0, 7.0), (110.0, 7.0)) == ("other",)


def test_a_process_whose_heartbeat_changes_is_alive_whatever_its_value() -> None:
    """Its clock may be a year off or run backwards: it is never compared with another."""
    assert dead_after((100.0, 9e9), (105.0, 3.0), (110.0, 2.0), (115.0, 1.0), (120.0, 0.0)) == ()


def test_a_new_process_declares_no_process_dead_at_its_first_observation() -> None:
    """However old the heartbeat is: the process has not observed it for long enough."""
    assert dead_after((1e9, 0.0)) == ()


def test_a_process_with_runs_and_no_heartbeat_is_dead_at_once() -> None:
    """It never sent one, or it signed off."""
    assert dead_after((100.0, None)) == ("other",)
    assert dead_after((100.0, None), has_work=False) == ()


def test_observations_before_a_long_gap_do_not_count() -> None:
    """The observer was suspended; the others may have been, too, and get their full time again."""
    assert dead_after((100.0, 7.0), (160.0, 7.0)) == ()
    assert dead_after((100.0, 7.0), (160.0, 7.0), (165.0, 7.0), (170.0, 7.0)) == ("other",)


def test_a_silent_process_without_runs_can_be_forgotten() -> None:
    """Its last heartbeat is returned with it, so that a newer one is not deleted."""
    heartbeats = {"idle": Heartbeat(7.0, has_work=False), "busy": Heartbeat(7.0, has_work=True)}
    state = observe(NOTHING_OBSERVED, heartbeats, now_s=0.0, gap_s=AFTER_S)
    state = observe(state, heartbeats, now_s=9.0, gap_s=AFTER_S)
    assert forgettable(state, heartbeats, after_s=9.0) == (("idle", 7.0),)
    assert forgettable(state, heartbeats, after_s=9.1) == ()


def is_served_after(*observations: tuple[float, float | None], lanes: frozenset[str] | None) -> bool | None:
    """Whether the runs of a lane are served after these observations of one process."""
    state: Observed = NOTHING_OBSERVED
    heartbeats: dict[str, Heartbeat] = {}
    for now_s, value in observations:
        heartbeats = {"other": Heartbeat(value, has_work=False, lanes=lanes)}
        state = observe(state, heartbeats, now_s=now_s, gap_s=AFTER_S)
    return is_served(state, heartbeats, "source-a", after_s=AFTER_S)


def test_a_lane_is_served_by_a_live_process_that_lists_it() -> None:
    """The lanes of a silent process do not count."""
    lanes = frozenset({"source-a", "source-b"})
    assert is_served_after((100.0, 1.0), (105.0, 2.0), (110.0, 3.0), lanes=lanes) is True
    assert is_served_after((100.0, 1.0), (105.0, 1.0), (110.0, 1.0), lanes=lanes) is False
    assert is_served_after((100.0, None), (105.0, None), (110.0, None), lanes=lanes) is False


def test_whether_a_process_is_alive_is_unknown_until_it_was_observed_for_long_enough() -> None:
    """The same after a gap; it does not matter for a process that takes none of these runs."""
    lanes = frozenset({"source-a"})
    assert is_served_after((100.0, 1.0), (109.0, 1.0), lanes=lanes) is None
    assert is_served_after((100.0, 1.0), (109.0, 1.0), (130.0, 1.0), lanes=lanes) is None
    assert is_served_after((100.0, 1.0), lanes=frozenset({"source-b"})) is False


def test_a_process_that_lists_no_lanes_may_take_any_run() -> None:
    """It is an older program, which takes whatever is delivered."""
    assert is_served_after((100.0, 1.0), (105.0, 2.0), (110.0, 3.0), lanes=None) is True
