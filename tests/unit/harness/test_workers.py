"""The threads for blocking calls: few, in order, and replaced when one is stuck."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from diagnosis_harness.harness.workers import WorkerPool


@contextmanager
def pool_of(threads_max: int, *, stuck_max: int = 32) -> Iterator[WorkerPool]:
    """A pool that is closed afterwards; its threads have ended then."""
    before = set(threading.enumerate())
    pool = WorkerPool(threads_max=threads_max, stuck_max=stuck_max)
    yield pool
    pool.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(5)


class Gate:
    """A call that says it is inside and stays until it is let go."""

    def __init__(self) -> None:
        self.inside = threading.Event()
        self.go_on = threading.Event()
        self.left = threading.Event()

    def __call__(self) -> None:
        """Block."""
        self.inside.set()
        self.go_on.wait(5)
        self.left.set()


def test_calls_run_in_the_order_of_submission() -> None:
    """On one thread, one after the other."""
    seen: list[int] = []
    done = threading.Event()
    with pool_of(1) as pool:
        for number in range(50):
            pool.submit(partial(seen.append, number))
        pool.submit(done.set)
        assert done.wait(5)
    assert seen == list(range(50))


def test_no_more_threads_work_than_the_pool_may_have() -> None:
    """A third call waits until one of two is over."""
    gates = [Gate(), Gate(), Gate()]
    with pool_of(2) as pool:
        for gate in gates:
            pool.submit(gate)
        assert gates[0].inside.wait(5)
        assert gates[1].inside.wait(5)
        assert not gates[2].inside.is_set()
        gates[0].go_on.set()
        assert gates[2].inside.wait(5)
        for gate in gates:
            gate.go_on.set()


def test_a_call_that_is_left_in_the_queue_never_starts() -> None:
    """And leaving it says that nothing outlives its caller."""
    blocking, queued, after = Gate(), Gate(), Gate()
    with pool_of(1) as pool:
        pool.submit(blocking)
        job = pool.submit(queued)
        assert blocking.inside.wait(5)
        assert not pool.leave(job)
        pool.submit(after)
        blocking.go_on.set()
        assert after.inside.wait(5)
        after.go_on.set()
    assert not queued.inside.is_set()


def test_a_stuck_thread_is_replaced_and_counts_again_when_it_returns() -> None:
    """Others go on at once; the pool has its size again when the stuck call is over."""
    stuck, other, last = Gate(), Gate(), Gate()
    with pool_of(1) as pool:
        job = pool.submit(stuck)
        assert stuck.inside.wait(5)
        pool.submit(other)
        assert not other.inside.is_set()
        assert pool.leave(job)
        assert pool.stuck == 1
        assert other.inside.wait(5)
        stuck.go_on.set()
        other.go_on.set()
        pool.submit(last)
        assert last.inside.wait(5)
        last.go_on.set()
        assert last.left.wait(5)
    assert pool.stuck == 0


def test_stuck_threads_are_replaced_only_up_to_their_bound() -> None:
    """Beyond it new calls wait in the queue: a process cannot fill up with stuck threads."""
    first, second, third = Gate(), Gate(), Gate()
    with pool_of(1, stuck_max=1) as pool:
        for gate in (first, second):
            job = pool.submit(gate)
            assert gate.inside.wait(5)
            assert pool.leave(job)
        job = pool.submit(third)
        assert pool.stuck == 2
        assert not third.inside.is_set()
        first.go_on.set()
        assert third.inside.wait(5)
        second.go_on.set()
        third.go_on.set()


def test_leaving_a_call_that_is_over_changes_nothing() -> None:
    """It did not outlive anybody."""
    gate = Gate()
    with pool_of(1) as pool:
        gate.go_on.set()
        job = pool.submit(gate)
        assert gate.left.wait(5)
        done = threading.Event()
        pool.submit(done.set)
        assert done.wait(5)
        assert not pool.leave(job)
        assert pool.stuck == 0


def test_an_idle_thread_keeps_nothing_of_the_call_it_made() -> None:
    """A finished run, its tools and the tables behind them go when their owner lets go of them."""

    class Held:
        """What a call holds."""

    argument, gone = Held(), threading.Event()
    weakref.finalize(argument, gone.set)
    with pool_of(1) as pool:
        pool.submit(partial(_use, argument))
        del argument
        assert gone.wait(5)


def _use(value: object) -> None:
    del value


def test_a_closed_pool_takes_no_calls_and_bad_sizes_are_refused() -> None:
    """It says so."""
    pool = WorkerPool()
    pool.close()
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit(lambda: None)
    for threads_max, stuck_max in ((0, 1), (1, -1)):
        with pytest.raises(ValueError, match="at least"):
            WorkerPool(threads_max=threads_max, stuck_max=stuck_max)
