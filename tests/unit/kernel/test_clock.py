"""The clocks, on which every comparison and every wait depends."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest

from diagnosis_harness.kernel.clock import Clock, SystemClock, Timers
from diagnosis_harness.testing.clock import ManualClock


@pytest.fixture(params=[SystemClock, ManualClock])
def clock(request: pytest.FixtureRequest) -> Clock:
    """Both clocks keep the one contract."""
    made: Clock = request.param()
    return made


def test_time_never_runs_backwards(clock: Clock) -> None:
    """A later reading is never earlier."""
    readings = [clock.now_s() for _ in range(1000)]
    assert readings == sorted(readings)


def test_a_time_that_is_past_is_due_at_once(clock: Clock) -> None:
    """Nobody waits for yesterday."""
    called = threading.Event()
    clock.call_at(clock.now_s() - 1, called.set)
    assert called.wait(5)


def test_a_disarmed_callback_is_not_called(clock: Clock) -> None:
    """Disarming works from anywhere and any number of times; other callbacks do not suffer."""
    called, other = threading.Event(), threading.Event()
    disarm = clock.call_at(clock.now_s() + 0.05, called.set)
    clock.call_at(clock.now_s() + 0.06, other.set)
    disarm()
    disarm()
    if isinstance(clock, ManualClock):
        clock.advance(1)
    assert other.wait(5)
    assert not called.is_set()


def test_the_system_clock_returns_the_time_of_the_epoch() -> None:
    """It agrees with the calendar."""
    assert abs(SystemClock().now_s() - datetime.now(UTC).timestamp()) < 1  # noqa: TID251 - the clock it is compared with


def test_the_system_clock_does_not_jump_when_wall_time_is_adjusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wall time is read once; a correction of the machine's clock ends no run and prolongs none."""
    clock = SystemClock()
    before_s = clock.now_s()
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert 0 <= clock.now_s() - before_s < 1


def test_the_system_clock_calls_back_when_the_time_has_come() -> None:
    """Not before it, and in the order of the instants, whatever the order of arming."""
    clock = SystemClock()
    seen: list[tuple[str, bool]] = []
    done = threading.Event()
    start_s = clock.now_s()

    def early() -> None:
        seen.append(("early", clock.now_s() >= start_s + 0.02))

    def late() -> None:
        seen.append(("late", clock.now_s() >= start_s + 0.04))
        done.set()

    clock.call_at(start_s + 0.04, late)
    clock.call_at(start_s + 0.02, early)
    assert done.wait(5)
    assert seen == [("early", True), ("late", True)]


def test_a_callback_that_raises_does_not_stop_the_system_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault is reported, and the timers of everybody else go on."""
    reported: list[BaseException | None] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: reported.append(args.exc_value))
    clock, done = SystemClock(), threading.Event()

    def fail() -> None:
        raise RuntimeError("broken")

    clock.call_at(clock.now_s(), fail)
    clock.call_at(clock.now_s() + 0.01, done.set)
    assert done.wait(5)
    assert [str(error) for error in reported] == ["broken"]


@pytest.fixture
def before() -> set[threading.Thread]:
    """The threads of other tests."""
    return set(threading.enumerate())


def _are_gone(before: set[threading.Thread]) -> bool:
    """Whether all threads of this test have ended, once each had time to."""
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    return set(threading.enumerate()) <= before


def test_a_call_that_is_handed_off_keeps_no_timer_waiting(before: set[threading.Thread]) -> None:
    """It blocks for as long as it likes, and the clock rings for everybody else."""
    clock, inside, go_on, rung = SystemClock(), threading.Event(), threading.Event(), threading.Event()

    def block() -> None:
        inside.set()
        assert go_on.wait(10)

    clock.call_at(0.0, lambda: clock.hand_off(block))
    assert inside.wait(10)
    clock.call_at(clock.now_s() + 0.01, rung.set)

    assert rung.wait(10)
    assert not go_on.is_set()
    go_on.set()
    clock.close()
    assert _are_gone(before)


def test_a_handed_off_call_is_made_once(clock: Clock) -> None:
    """By either clock; by the manual one at once, so that a test needs no thread."""
    called: list[str] = []
    done = threading.Event()

    clock.hand_off(lambda: called.append("once"))
    clock.hand_off(done.set)

    assert done.wait(10)
    assert called == ["once"]


def test_a_closed_clock_lets_its_thread_end(before: set[threading.Thread]) -> None:
    """At once when nothing is armed, else with the last timer, be it called or disarmed."""
    idle, armed, disarmed = SystemClock(), SystemClock(), SystemClock()
    rung = threading.Event()
    idle.call_at(0.0, lambda: None)
    armed.call_at(armed.now_s() + 0.05, rung.set)
    disarm = disarmed.call_at(disarmed.now_s() + 3600, lambda: None)

    for clock in (idle, armed, disarmed):
        clock.close()
        clock.close()
    disarm()

    assert rung.wait(10)
    assert _are_gone(before)


def test_a_closed_clock_still_bounds_what_comes_after(before: set[threading.Thread]) -> None:
    """Bookkeeping of a run that the close has ended gets its limit, and the thread ends with it."""
    clock, rung = SystemClock(), threading.Event()
    clock.call_at(0.0, lambda: None)
    clock.close()
    assert _are_gone(before)

    clock.call_at(clock.now_s() + 0.01, rung.set)

    assert rung.wait(10)
    assert _are_gone(before)


def test_the_manual_clock_calls_back_each_at_its_own_time() -> None:
    """One long step passes through every instant on the way, also those armed on the way."""
    clock = ManualClock(100.0)
    seen: list[float] = []

    def note() -> None:
        seen.append(clock.now_s())

    def note_and_arm_another() -> None:
        note()
        clock.call_at(102.0, note)

    clock.call_at(103.0, note)
    clock.call_at(101.0, note_and_arm_another)
    clock.advance(2.5)
    assert seen == [101.0, 102.0]
    assert clock.now_s() == 102.5
    clock.advance(0.5)
    assert seen == [101.0, 102.0, 103.0]


def test_the_manual_clock_does_not_run_backwards() -> None:
    """A test that turns it back is wrong."""
    with pytest.raises(ValueError, match="backwards"):
        ManualClock().advance(-1)


def test_disarmed_timers_do_not_pile_up() -> None:
    """A thousand limits that were never reached leave next to nothing behind."""
    timers = Timers()
    timers.add(1.0, lambda: None)
    for number in range(1000):
        timers.remove(timers.add(10.0 + number, lambda: None))
    assert len(timers._heap) < 100
    assert timers.next_at_s() == 1.0
